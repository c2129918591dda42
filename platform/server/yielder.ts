import { setImmediate as yieldToOthers } from 'node:timers/promises'

/** For work in many small steps: yields to the event loop after this many milliseconds without a pause. */
export const createYielder = (milliseconds: number): (() => Promise<void>) => {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < milliseconds) return
    await yieldToOthers()
    since = performance.now()
  }
}
