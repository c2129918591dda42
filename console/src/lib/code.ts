import type { Clock } from './clock.ts'

export interface CodeDeps {
  clock: Clock
  /** Whether the server answers at all. */
  isReachable: () => Promise<boolean>
  pause: (milliseconds: number) => Promise<void>
  /** Loads the whole page again. */
  reload: () => void
  /** Remembers over a reload when the last one was, ms since 1970. */
  lastReload: { get: () => number; set: (at: number) => void }
}

/** Seconds between two questions whether the server is back, by attempt. */
const gaps = [1, 2, 3, 5]
/** A page that was reloaded so lately is not reloaded again: that did not help. */
const reloadPause = 30_000

/** What browsers say when a file of the application did not arrive. */
export const isLoadFailure = (failure: unknown): boolean =>
  failure instanceof Error &&
  /dynamically imported module|importing a module script failed|unable to preload css/i.test(failure.message)

/**
 * Loads parts of the application. While the server is away a load waits and is tried again, so that no page fails for
 * it. When the server answers and the file still does not arrive, the page is reloaded: a browser may remember the
 * failure, and a newer release has other files.
 */
export const createCode = ({ clock, isReachable, pause, reload, lastReload }: CodeDeps) => {
  let waiting = 0
  const watchers = new Set<() => void>()
  const tell = (change: 1 | -1) => {
    waiting += change
    for (const watcher of watchers) watcher()
  }

  const untilReachable = async () => {
    for (let attempt = 0; !(await isReachable()); attempt++)
      await pause((gaps[Math.min(attempt, gaps.length - 1)] as number) * 1_000)
  }

  return {
    load: async <T>(load: () => Promise<T>): Promise<T> => {
      try {
        return await load()
      } catch (failure) {
        if (!isLoadFailure(failure)) throw failure
      }
      tell(1)
      try {
        await untilReachable()
        return await load()
      } catch (failure) {
        if (!isLoadFailure(failure) || clock.now() - lastReload.get() < reloadPause) throw failure
        lastReload.set(clock.now())
        reload()
        // The page goes away.
        return await new Promise<never>(() => undefined)
      } finally {
        tell(-1)
      }
    },
    /** Whether a part waits for the server. */
    isWaiting: () => waiting > 0,
    watch: (watcher: () => void): (() => void) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
  }
}
