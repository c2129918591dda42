import { messageOf } from '../exit.ts'
import type { Protocol } from '../protocol.ts'
import type { Reports } from '../reports.ts'
import type { ServerCalls } from '../server-calls.ts'
import type { Enforcer } from './enforcer.ts'
import { freshNonce, type HeldPolicy, type PolicyFile } from './policy-file.ts'

export interface PolicyFetchDeps {
  calls: ServerCalls
  protocol: Pick<Protocol, 'policy' | 'knowledge'>
  policyFile: PolicyFile
}

/** Asks for the policy by a fresh nonce; one question at a time, so that an older answer can not come last. */
export const createPolicyFetch = ({ calls, protocol, policyFile }: PolicyFetchDeps) => {
  let last: Promise<unknown> = Promise.resolve()

  const ask = async (signal: AbortSignal): Promise<HeldPolicy> => {
    const nonce = freshNonce()
    const signed = await calls.call('the policy', (token) => protocol.policy(nonce, token, signal), signal)
    return policyFile.accept(signed, nonce, (hash) =>
      calls.call('the knowledge', (token) => protocol.knowledge(hash, token, signal), signal),
    )
  }

  return (signal: AbortSignal): Promise<HeldPolicy> => {
    const next = last.then(() => ask(signal))
    last = next.catch(() => undefined)
    return next
  }
}

export interface RefreshDeps {
  fetchPolicy: (signal: AbortSignal) => Promise<HeldPolicy>
  enforcer: Pick<Enforcer, 'usePolicy'>
  reports: Pick<Reports, 'add'>
  signal: AbortSignal
}

/** Fetches and applies the policy in the background. What fails is asked for again by the next answer of the server. */
export const createRefresh = ({ fetchPolicy, enforcer, reports, signal }: RefreshDeps) => {
  let isRunning = false
  return (): void => {
    if (isRunning) return
    isRunning = true
    fetchPolicy(signal)
      .then((policy) => enforcer.usePolicy(policy))
      .catch((error: unknown) => {
        if (!signal.aborted) reports.add('policy_fetch_failed', messageOf(error))
      })
      .finally(() => {
        isRunning = false
      })
  }
}
