import { sleep } from './clock.ts'
import { messageOf } from './exit.ts'
import { askedWaitOf, Refusal } from './transport/refusal.ts'

/** The response is invalid. A retry would get the same response. */
export class Unusable extends Error {}

/** Waits before the retries. They bridge a short outage; the caller reports a longer one. */
const RETRY_AFTER_MS: readonly number[] = [500, 2000]
/** The longest `Retry-After` that a call waits for. A longer wait would delay the commands behind it. */
export const MAX_ASKED_WAIT_MS = 10_000
/** Time limit for opening a session. */
const SESSION_WAIT_MS = 30_000

/**
 * Sends requests other than check-ins (policy, knowledge, logs, packages). They use the session of the loop and renew it
 * if its token is refused.
 */
export const createServerCalls = ({ renewSession }: { renewSession: () => void }) => {
  let token: string | undefined
  let waiting: (() => void)[] = []

  async function currentToken(signal: AbortSignal): Promise<string> {
    if (token === undefined) {
      const session = new Promise<void>((resolve) => waiting.push(resolve))
      const done = new AbortController()
      await Promise.race([session, sleep(SESSION_WAIT_MS, AbortSignal.any([signal, done.signal]))])
      done.abort()
    }
    signal.throwIfAborted()
    if (token === undefined) throw new Error('no session with the server')
    return token
  }

  async function once<T>(request: (token: string) => Promise<T>, signal: AbortSignal): Promise<T> {
    const used = await currentToken(signal)
    try {
      return await request(used)
    } catch (error) {
      const isExpired = error instanceof Refusal && (error.status === 401 || error.code === 'agent_session_superseded')
      if (!isExpired) throw error
      if (token === used) {
        token = undefined
        renewSession()
      }
      return request(await currentToken(signal))
    }
  }

  return {
    useToken(fresh: string): void {
      token = fresh
      for (const resume of waiting.splice(0)) resume()
      waiting = []
    },
    /**
     * Sends a request with the token of the session. Retries after a network error or a short `Retry-After`.
     *
     * @throws if the server refuses the request or three attempts fail
     */
    async call<T>(what: string, request: (token: string) => Promise<T>, signal: AbortSignal): Promise<T> {
      for (let attempt = 0; ; attempt++) {
        try {
          return await once(request, signal)
        } catch (error) {
          signal.throwIfAborted()
          if (error instanceof Unusable) throw error
          const isFinal = error instanceof Refusal && error.status < 500 && error.status !== 429
          const pause = RETRY_AFTER_MS[attempt]
          const asked = askedWaitOf(error)
          if (isFinal || pause === undefined || asked > MAX_ASKED_WAIT_MS)
            throw new Error(`${what}: ${messageOf(error)}`, { cause: error })
          // Random up to twice as long: an overloaded server sends many hosts the same `Retry-After`.
          await sleep(asked === 0 ? pause : Math.max(pause, asked) * (1 + Math.random()), signal)
        }
      }
    },
  }
}
export type ServerCalls = ReturnType<typeof createServerCalls>
