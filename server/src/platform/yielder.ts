import { setImmediate as yieldToOthers } from 'node:timers/promises'

/** For work of many small steps: lets others have their turn when its steps have kept them waiting so long. */
export const createYielder = (milliseconds: number): (() => Promise<void>) => {
  let since = performance.now()
  return async () => {
    if (performance.now() - since < milliseconds) return
    await yieldToOthers()
    since = performance.now()
  }
}
