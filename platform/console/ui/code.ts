import { systemClock } from '../lib/clock.ts'
import { createCode } from '../lib/code.ts'
import { createReach } from '../lib/reach.ts'
import { createRelease } from '../lib/release.ts'
import { followTyping } from './typed.ts'

const reloadKey = 'portcullis-reloaded-at'

const pause = (milliseconds: number) => new Promise<void>((resolve) => setTimeout(resolve, milliseconds))

/** Returns a response, or null if the server does not respond. */
const ask = async (address: string): Promise<Response | null> => {
  try {
    const response = await window.fetch(address, { cache: 'no-store', signal: AbortSignal.timeout(5_000) })
    return response.ok ? response : null
  } catch {
    return null
  }
}

/** The connection to the server. */
export const reach = createReach({ isReachable: async () => (await ask('/healthz')) !== null, pause })

/** What the person has entered and not saved. */
export const typing = followTyping(document)

/** The release of the console that this page runs. */
export const release = createRelease({
  clock: systemClock,
  pause,
  reload: () => window.location.reload(),
  lastReload: {
    get: () => Number(window.sessionStorage.getItem(reloadKey) ?? 0),
    set: (at) => window.sessionStorage.setItem(reloadKey, String(at)),
  },
  hasTyped: typing.hasTyped,
  readPage: async () => (await ask('/'))?.text().catch(() => null) ?? null,
  script: document.querySelector('script[type="module"][src^="/assets/"]')?.getAttribute('src') ?? null,
})

/** Loads parts of the console that are not in the first load. */
export const code = createCode({ reach, release })
