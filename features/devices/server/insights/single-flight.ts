import type { Clock } from '@portcullis/platform/server/clock.ts'

/** Requests within this time share a response, so a hundred open consoles cost as much as one. */
const freshMs = 1_000

/** Runs one computation at a time. Requests during a run wait for its response. */
export const createSingleFlight = <T>(clock: Clock, compute: () => Promise<T>) => {
  let last: { at: number; value: T } | null = null
  let running: Promise<T> | null = null

  function reload(): Promise<T> {
    running ??= (async () => {
      try {
        const at = clock.now()
        const value = await compute()
        last = { at, value }
        return value
      } finally {
        running = null
      }
    })()
    return running
  }

  return {
    /** Returns a response that is at most a second old. */
    get: async (): Promise<T> => (last !== null && clock.now() - last.at < freshMs ? last.value : reload()),
    /** Recomputes the response, or waits for the current run. */
    reload,
  }
}
