import type { Clock } from './clock.ts'

export interface ReleaseDeps {
  clock: Clock
  pause: (milliseconds: number) => Promise<void>
  /** Reloads the page. */
  reload: () => void
  /** Time of the last reload, kept across reloads, ms since 1970. */
  lastReload: { get: () => number; set: (at: number) => void }
  /** Returns whether a reload would lose text that a person typed. */
  hasTyped: () => boolean
  /** Reads the page that the server serves now; null if it does not respond. */
  readPage: () => Promise<string | null>
  /** Address of the main script of this page; null in development. */
  script: string | null
}

/** Minimum time between reloads. If a reload did not help, another one will not. */
const reloadPause = 30_000
const lookAgain = 1_000

/** Notices that the server has a newer console than this page, and reloads at a moment that loses no typed text. */
export const createRelease = ({ clock, pause, reload, lastReload, hasTyped, readPage, script }: ReleaseDeps) => {
  let isOutdated = false
  const watchers = new Set<() => void>()
  const outdate = () => {
    if (isOutdated) return
    isOutdated = true
    for (const watcher of watchers) watcher()
  }
  const mayReload = () => clock.now() - lastReload.get() >= reloadPause
  const reloadNow = () => {
    lastReload.set(clock.now())
    reload()
  }

  return {
    isOutdated: () => isOutdated,
    watch: (watcher: () => void): (() => void) => {
      watchers.add(watcher)
      return () => watchers.delete(watcher)
    },
    /** Compares this page with the server's. Call it after an outage, because upgrades cause outages. */
    check: async (): Promise<void> => {
      if (script === null) return
      const page = await readPage()
      if (page !== null && !page.includes(script)) outdate()
    },
    /** Returns whether the next navigation should load the newer console. */
    isDue: (): boolean => isOutdated && mayReload() && !hasTyped(),
    /** A navigation loads the newer console. */
    noteReload: () => lastReload.set(clock.now()),
    reloadNow,
    /** Reloads as soon as no typed text is lost. Returns false if a reload was just done and did not help. */
    reloadWhenSafe: async (): Promise<boolean> => {
      if (!mayReload()) return false
      while (hasTyped()) {
        outdate()
        await pause(lookAgain)
      }
      reloadNow()
      return true
    },
  }
}

export type Release = ReturnType<typeof createRelease>
