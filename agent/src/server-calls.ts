import { sleep } from './clock.ts'
import { messageOf } from './exit.ts'
import { askedWaitOf, Refusal } from './transport/refusal.ts'

/** What came is wrong: asking again would bring the same. */
export class Unusable extends Error {}

/** Waits between tries: a short gap is bridged, a long one is the caller's to report. */
const TRIES_AFTER_MS: readonly number[] = [500, 2000]
/** A `Retry-After` up to this is waited for; a longer one is the caller's: the commands behind would wait as well. */
export const MAX_ASKED_WAIT_MS = 10_000
/** The loop opens a session at its own pace; a command that waits longer has failed. */
const SESSION_WAIT_MS = 30_000

/**
 * Requests beside the check-ins (policy, knowledge, logs, packages): they use the loop's session and have it renewed when
 * its token is refused.
 */
export const createServerCalls = ({ renewSession }: { renewSession: () => void }) => {
  let token: string | undefined
  let waiting: (() => void)[] = []

  async function held(signal: AbortSignal): Promise<string> {
    if (token === undefined) {
      const come = new Promise<void>((resolve) => waiting.push(resolve))
      const over = new AbortController()
      await Promise.race([come, sleep(SESSION_WAIT_MS, AbortSignal.any([signal, over.signal]))])
      over.abort()
    }
    signal.throwIfAborted()
    if (token === undefined) throw new Error('there is no session with the server')
    return token
  }

  async function once<T>(request: (token: string) => Promise<T>, signal: AbortSignal): Promise<T> {
    const used = await held(signal)
    try {
      return await request(used)
    } catch (error) {
      const isOver = error instanceof Refusal && (error.status === 401 || error.code === 'agent_session_superseded')
      if (!isOver) throw error
      if (token === used) {
        token = undefined
        renewSession()
      }
      return request(await held(signal))
    }
  }

  return {
    useToken(fresh: string): void {
      token = fresh
      for (const go of waiting.splice(0)) go()
      waiting = []
    },
    /**
     * Sends a request with the token of the session, again after a network error or when the server asks for a little time.
     *
     * @throws when the server says no, or could not be reached three times
     */
    async call<T>(what: string, request: (token: string) => Promise<T>, signal: AbortSignal): Promise<T> {
      for (let attempt = 0; ; attempt++) {
        try {
          return await once(request, signal)
        } catch (error) {
          signal.throwIfAborted()
          if (error instanceof Unusable) throw error
          const isFinal = error instanceof Refusal && error.status < 500 && error.status !== 429
          const pause = TRIES_AFTER_MS[attempt]
          const asked = askedWaitOf(error)
          if (isFinal || pause === undefined || asked > MAX_ASKED_WAIT_MS)
            throw new Error(`${what}: ${messageOf(error)}`, { cause: error })
          // Spread over as long again: a server that is asked too much says so to many at once.
          await sleep(asked === 0 ? pause : Math.max(pause, asked) * (1 + Math.random()), signal)
        }
      }
    },
  }
}
export type ServerCalls = ReturnType<typeof createServerCalls>
