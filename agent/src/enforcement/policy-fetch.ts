import { createBackoff } from '../backoff.ts'
import { type Clock, sleep } from '../clock.ts'
import { messageOf } from '../exit.ts'
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
  log: Log
  backoff: { minMs: number; maxMs: number }
  random?: () => number
}

/**
 * Fetches the policy by a fresh nonce, for commands and in the background. That a policy is needed is forgotten only when
 * it is held: the server says it until it formed an answer, and does not know what became of that.
 */
export const createPolicyFetch = (deps: PolicyFetchDeps) => {
  const { calls, protocol, policyFile, enforcer, reports, clock, log, random = Math.random } = deps
  const wait = createBackoff({ ...deps.backoff, random })
  const stop = new AbortController()
  let last: Promise<unknown> = Promise.resolve()
  /** Counts the wishes; a policy that was asked for before the newest of them may be the one before. */
  let wanted = 0
  /** The newest wish that the policy held fulfils. */
  let held = 0
  let isKeeping = false
  /** Ends the wait after a start. */
  let early = new AbortController()
  /** Monotonic time until which the server asked to be left alone. */
  let busyUntil = Number.NEGATIVE_INFINITY
  let lastFailure = ''

  async function ask(signal: AbortSignal): Promise<HeldPolicy> {
    const left = busyUntil - clock.monotonic()
    if (left > MAX_ASKED_WAIT_MS)
      throw new Error(`the policy: the server asked to be left alone for another ${Math.ceil(left / 1000)} s`)
    if (left > 0) await sleep(left, signal)
    const wish = wanted
    try {
      const nonce = freshNonce()
      const signed = await calls.call('the policy', (token) => protocol.policy(nonce, token, signal), signal)
      const policy = await policyFile.accept(signed, nonce, (hash) =>
        calls.call('the knowledge', (token) => protocol.knowledge(hash, token, signal), signal),
      )
      held = Math.max(held, wish)
      lastFailure = ''
      wait.reset()
      return policy
    } catch (error) {
      const asked = askedWaitOf(error)
      if (asked > 0) busyUntil = clock.monotonic() + asked
      throw error
    }
  }

  /** One question at a time, so that an older answer cannot come last. */
  function askInTurn(signal: AbortSignal): Promise<HeldPolicy> {
    const next = last.then(() => ask(signal))
    last = next.catch(() => undefined)
    return next
  }

  /** What a server that asks for time is given is spread over as long again: it asked all hosts at once. */
  const pause = (): number => Math.max(wait.next(), (busyUntil - clock.monotonic()) * (1 + random()))

  async function keep(first: Promise<void>): Promise<void> {
    isKeeping = true
    try {
      await first
      while (held < wanted && !stop.signal.aborted) {
        try {
          enforcer.usePolicy(await askInTurn(stop.signal))
        } catch (error) {
          if (stop.signal.aborted) return
          const ms = pause()
          const message = messageOf(error)
          // Told once, logged each time: a server that is away for a night is one error.
          if (message !== lastFailure) reports.add('policy_fetch_failed', message)
          lastFailure = message
          log.warn('policy_waits', { reason: message, againInMs: Math.round(ms) })
          await sleep(ms, stop.signal)
        }
      }
    } finally {
      isKeeping = false
    }
  }

  function want(first: () => Promise<void>): void {
    wanted++
    if (!isKeeping) void keep(first())
  }

  return {
    /** Fetches for a command, which applies it. What an armed host did not get goes on being needed. */
    async fetch(signal: AbortSignal): Promise<HeldPolicy> {
      try {
        return await askInTurn(signal)
      } catch (error) {
        if (enforcer.isArmed() && !signal.aborted) want(() => sleep(pause(), stop.signal))
        throw error
      }
    },
    /** The server holds another policy: it is fetched and applied in the background, until it is held. */
    need(): void {
      want(() => Promise.resolve())
      early.abort()
    },
    /** The same within `ms`, at a random time: the hosts of a site start together. */
    needWithin(ms: number): void {
      early = new AbortController()
      want(() => sleep(random() * ms, AbortSignal.any([stop.signal, early.signal])))
    },
    stop: (): void => stop.abort(),
  }
}
