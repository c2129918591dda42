import type { Clock } from './clock.ts'

export interface Timers {
  set: (run: () => void, milliseconds: number) => unknown
  clear: (handle: never) => void
}

const browserTimers: Timers = {
  set: (run, milliseconds) => setTimeout(run, milliseconds),
  clear: (handle) => clearTimeout(handle),
}

/** Runs at the first call and then at most once per gap; a call within the gap is carried out at its end. */
export const throttle = (run: () => void, gap: number, clock: Clock, timers: Timers = browserTimers) => {
  let last = Number.NEGATIVE_INFINITY
  let handle: unknown
  return {
    call: () => {
      if (handle !== undefined) return
      const wait = Math.max(0, last + gap - clock.now())
      const now = () => {
        handle = undefined
        last = clock.now()
        run()
      }
      if (wait === 0) now()
      else handle = timers.set(now, wait)
    },
    stop: () => {
      timers.clear(handle as never)
      handle = undefined
    },
  }
}
