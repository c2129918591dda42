import type { Clock } from '#platform/clock.ts'

/** Whoever asks within this time gets the answer that is there: a hundred open consoles cost as much as one. */
const freshMs = 1_000

/** An answer that is computed by one at a time; who asks meanwhile waits for that run. */
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
    /** The answer, at most a second old. */
    get: async (): Promise<T> => (last !== null && clock.now() - last.at < freshMs ? last.value : reload()),
    /** Computes it anew, or waits for the run under way. */
    reload,
  }
}
