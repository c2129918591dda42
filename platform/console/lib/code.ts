import type { Reach } from './reach.ts'
import type { Release } from './release.ts'

export interface CodeDeps {
  reach: Pick<Reach, 'untilReachable'>
  release: Pick<Release, 'reloadWhenSafe'>
}

/** Messages of browsers and bundlers for an application file that failed to load. */
export const isLoadFailure = (failure: unknown): boolean =>
  failure instanceof Error &&
  /dynamically imported module|importing a module script failed|unable to preload css|loading (?:css )?chunk|failed to load module script/i.test(
    failure.message,
  )

/**
 * Loads parts of the application. While the server is unreachable, a load waits and retries, so that pages do not fail.
 * If the server responds but the file still fails to load, reloads the page, because browsers cache the failure and a
 * newer release has different files.
 */
export const createCode = ({ reach, release }: CodeDeps) => {
  let waiting = 0
  const watchers = new Set<() => void>()
  const tell = (change: 1 | -1) => {
    waiting += change
    for (const watcher of watchers) watcher()
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
        await reach.untilReachable()
        return await load()
      } catch (failure) {
        if (!isLoadFailure(failure) || !(await release.reloadWhenSafe())) throw failure
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
