import { systemClock } from '../lib/clock.ts'
import { createCode } from '../lib/code.ts'

const reloadKey = 'portcullis-reloaded-at'

/** Loads parts of the console that are not in the first load. */
export const code = createCode({
  clock: systemClock,
  isReachable: async () => {
    try {
      return (await window.fetch('/healthz', { cache: 'no-store', signal: AbortSignal.timeout(5_000) })).ok
    } catch {
      return false
    }
  },
  pause: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  reload: () => window.location.reload(),
  lastReload: {
    get: () => Number(window.sessionStorage.getItem(reloadKey) ?? 0),
    set: (at) => window.sessionStorage.setItem(reloadKey, String(at)),
  },
})
