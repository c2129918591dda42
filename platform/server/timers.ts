import type { Log } from './log.ts'

/** A periodic task: milliseconds between two runs, a label, and the work. */
export type Timer = readonly [everyMs: number, what: string, work: () => Promise<unknown>]

/** Time over which the starts of the tasks are spread. */
const spreadMs = 1_000

/** Runs work periodically; its failures are logged. Returns a function that ends this. */
export const every = (everyMs: number, what: string, work: () => unknown, log: Pick<Log, 'warn'>): (() => void) => {
  // Not called directly: an error that a timer throws would end the process.
  const run = async (): Promise<unknown> => work()
  const timer = setInterval(() => {
    run().catch((error: unknown) => log.warn({ err: error }, `${what} failed`))
  }, everyMs).unref()
  return () => clearInterval(timer)
}

/**
 * Starts periodic tasks and returns a function that stops them. Starts tasks of the same interval one after the other.
 * 40 tasks at once would need every connection of the pool, even on an idle server.
 */
export const startTimers = (timers: readonly Timer[], log: Pick<Log, 'warn'>): (() => void) => {
  const running = timers.map(([everyMs, what, work], index) => {
    let stop = (): void => clearTimeout(timer)
    const timer = setTimeout(
      () => {
        stop = every(everyMs, what, work, log)
      },
      Math.round((index * spreadMs) / timers.length),
    ).unref()
    return () => stop()
  })
  return () => {
    for (const stop of running) stop()
  }
}
