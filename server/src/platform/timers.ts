import type { Log } from './log.ts'

/** A periodic task: milliseconds between two runs, a label, and the work. */
export type Timer = readonly [everyMs: number, what: string, work: () => Promise<unknown>]

/** Time over which the starts of the tasks are spread. */
const spreadMs = 1_000

/**
 * Starts periodic tasks and returns a function that stops them. Starts tasks of the same interval one after the other.
 * 40 tasks at once would need every connection of the pool, even on an idle server.
 */
export const startTimers = (timers: readonly Timer[], log: Pick<Log, 'warn'>): (() => void) => {
  const running = timers.map(([everyMs, what, work], index) => {
    const run = (): void => {
      work().catch((error: unknown) => log.warn({ err: error }, `${what} failed`))
    }
    let timer = setTimeout(
      () => {
        run()
        timer = setInterval(run, everyMs).unref()
      },
      everyMs + Math.round((index * spreadMs) / timers.length),
    ).unref()
    return () => clearTimeout(timer)
  })
  return () => {
    for (const stop of running) stop()
  }
}
