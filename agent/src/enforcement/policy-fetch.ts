import { createBackoff } from '../backoff.ts'
import { type Clock, sleep } from '../clock.ts'
import { messageOf } from '../exit.ts'
import type { HostTime } from '../host-time.ts'
import type { Log } from '../log.ts'
import type { Protocol } from '../protocol.ts'
import type { Reports } from '../reports.ts'
import { MAX_ASKED_WAIT_MS, type ServerCalls } from '../server-calls.ts'
import { askedWaitOf } from '../transport/refusal.ts'
import type { Enforcer } from './enforcer.ts'
import { freshNonce, type HeldPolicy, type PolicyFile } from './policy-file.ts'

export interface PolicyFetchDeps {
  calls: ServerCalls
  protocol: Pick<Protocol, 'policy' | 'knowledge'>
  policyFile: PolicyFile
  enforcer: Pick<Enforcer, 'isArmed' | 'usePolicy'>
  reports: Pick<Reports, 'add'>
  clock: Clock
  time: Pick<HostTime, 'confirm' | 'elapsed'>
  log: Log
  backoff: { minMs: number; maxMs: number }
  random?: () => number
}

/**
 * Fetches the policy with a fresh nonce, for commands and in the background. The agent retries until it holds the policy,
 * because the server announces a policy only until it has sent a response.
 */
export const createPolicyFetch = (deps: PolicyFetchDeps) => {
  const { calls, protocol, policyFile, enforcer, reports, clock, time, log, random = Math.random } = deps
  const wait = createBackoff({ ...deps.backoff, random })
  const stop = new AbortController()
  let last: Promise<unknown> = Promise.resolve()
  /** Number of the newest request. A fetch that began before it may return the previous policy. */
  let requested = 0
  /** Number of the newest request that the stored policy fulfils. */
  let fulfilled = 0
  let isFetching = false
  /** Ends the wait after a start. */
  let early = new AbortController()
  /** Monotonic time until which the server asked the agent to wait. */
  let busyUntil = Number.NEGATIVE_INFINITY
  let lastFailure = ''

  async function fetchOnce(signal: AbortSignal): Promise<HeldPolicy> {
    const left = busyUntil - clock.monotonic()
    if (left > MAX_ASKED_WAIT_MS)
      throw new Error(`the policy: the server asked the agent to wait another ${Math.ceil(left / 1000)} s`)
    if (left > 0) await sleep(left, signal)
    const number = requested
    try {
      const nonce = freshNonce()
      let asked = 0
      const request = (token: string) => {
        asked = time.elapsed()
        return protocol.policy(nonce, token, signal)
      }
      const signed = await calls.call('the policy', request, signal)
      const policy = await policyFile.accept(signed, nonce, (hash) =>
        calls.call('the knowledge', (token) => protocol.knowledge(hash, token, signal), signal),
      )
      // The nonce is fresh, so the server signed this time after the request.
      time.confirm(Date.parse(policy.policy.issuedAt), asked)
      fulfilled = Math.max(fulfilled, number)
      lastFailure = ''
      wait.reset()
      return policy
    } catch (error) {
      const asked = askedWaitOf(error)
      if (asked > 0) busyUntil = clock.monotonic() + asked
      throw error
    }
  }

  /** Runs one fetch at a time, so that an older answer cannot arrive last. */
  function fetchInTurn(signal: AbortSignal): Promise<HeldPolicy> {
    const next = last.then(() => fetchOnce(signal))
    last = next.catch(() => undefined)
    return next
  }

  /** Returns the next wait. Adds jitter to a `Retry-After`, because the server sends it to all hosts at once. */
  const pause = (): number => Math.max(wait.next(), (busyUntil - clock.monotonic()) * (1 + random()))

  async function fetchUntilFulfilled(first: Promise<void>): Promise<void> {
    isFetching = true
    try {
      await first
      while (fulfilled < requested && !stop.signal.aborted) {
        try {
          enforcer.usePolicy(await fetchInTurn(stop.signal))
        } catch (error) {
          if (stop.signal.aborted) return
          const ms = pause()
          const message = messageOf(error)
          // Reported once but logged each time: an outage is one error.
          if (message !== lastFailure) reports.add('policy_fetch_failed', message)
          lastFailure = message
          log.warn('policy_fetch_retry', { reason: message, retryInMs: Math.round(ms) })
          await sleep(ms, stop.signal)
        }
      }
    } finally {
      isFetching = false
    }
  }

  function request(first: () => Promise<void>): void {
    requested++
    if (!isFetching) void fetchUntilFulfilled(first())
  }

  return {
    /** Fetches the policy for a command, which applies it. On an armed host, a failed fetch is retried in the background. */
    async fetch(signal: AbortSignal): Promise<HeldPolicy> {
      try {
        return await fetchInTurn(signal)
      } catch (error) {
        if (enforcer.isArmed() && !signal.aborted) request(() => sleep(pause(), stop.signal))
        throw error
      }
    },
    /** Fetches and applies the policy in the background and retries until it succeeds. */
    need(): void {
      request(() => Promise.resolve())
      early.abort()
    },
    /** Does the same at a random time within `ms`, because the hosts of a site may start together. */
    needWithin(ms: number): void {
      early = new AbortController()
      request(() => sleep(random() * ms, AbortSignal.any([stop.signal, early.signal])))
    },
    stop: (): void => stop.abort(),
  }
}
