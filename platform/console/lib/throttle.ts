import type { Clock } from './clock.ts'

/** Schedules a function. Returns a function that cancels it. */
export type Later = (run: () => void, milliseconds: number) => () => void

const browserLater: Later = (run, milliseconds) => {
  const handle = setTimeout(run, milliseconds)
  return () => clearTimeout(handle)
}

/** Runs a function at the first call and then at most once per gap. A call within the gap runs at its end. */
export const throttle = (run: () => void, gap: number, clock: Clock, later: Later = browserLater) => {
  let last = Number.NEGATIVE_INFINITY
  let cancel: (() => void) | undefined
  return {
    call: () => {
      if (cancel !== undefined) return
      const wait = Math.max(0, last + gap - clock.now())
      const now = () => {
        cancel = undefined
        last = clock.now()
        run()
      }
      if (wait === 0) now()
      else cancel = later(now, wait)
    },
    stop: () => {
      cancel?.()
      cancel = undefined
    },
  }
}
