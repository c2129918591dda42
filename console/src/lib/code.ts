import type { Clock } from './clock.ts'

export interface CodeDeps {
  clock: Clock
  /** Returns true if the server responds. */
  isReachable: () => Promise<boolean>
  pause: (milliseconds: number) => Promise<void>
  /** Reloads the page. */
  reload: () => void
  /** Time of the last reload, kept across reloads, ms since 1970. */
  lastReload: { get: () => number; set: (at: number) => void }
}

const longestGap = 5
/** Seconds between connection attempts, by attempt. */
const gaps = [1, 2, 3, longestGap]
/** Minimum time between reloads. If a reload did not help, another one will not. */
const reloadPause = 30_000

/** Browser error messages for an application file that failed to load. */
export const isLoadFailure = (failure: unknown): boolean =>
  failure instanceof Error &&
  /dynamically imported module|importing a module script failed|unable to preload css/i.test(failure.message)

/**
 * Loads parts of the application. While the server is unreachable, a load waits and retries, so that pages do not fail.
 * If the server responds but the file still fails to load, reloads the page, because browsers cache the failure and a
 * newer release has different files.
 */
export const createCode = ({ clock, isReachable, pause, reload, lastReload }: CodeDeps) => {
  let waiting = 0
  const watchers = new Set<() => void>()
  const tell = (change: 1 | -1) => {
    waiting += change
    for (const watcher of watchers) watcher()
  }

  const untilReachable = async () => {
    for (let attempt = 0; !(await isReachable()); attempt++) await pause((gaps[attempt] ?? longestGap) * 1_000)
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
        // The page is about to reload, so never settle.
        return await new Promise<never>(() => undefined)
      } finally {
        tell(-1)
      }
    },
    /** Returns true if a part is waiting for the server. */
    isWaiting: () => waiting > 0,
    watch: (watcher: () => void): (() => void) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
  }
}
