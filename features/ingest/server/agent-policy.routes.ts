import { finished } from 'node:stream'
import { AppError, notFound } from '@portcullis/platform/server/app-error.ts'
import { FileAnswer } from '@portcullis/platform/server/http/answer.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createTurns } from '@portcullis/platform/server/limiters/turns.ts'
import { Type } from 'typebox'
import { agentPaths, closed, operation, PolicyRequest, SignedText } from '#features/contract.ts'
import { agentAuthenticator } from './agent-authenticator.ts'
import type { IngestContext } from './context.ts'
import { tooMany } from './quota.ts'

const fetchPolicy = operation({
  id: 'agentPolicy',
  method: 'POST',
  path: agentPaths.policy,
  tag: 'Agent protocol',
  summary: 'The policy of the calling agent, signed for it and its nonce',
  permission: 'agent',
  body: PolicyRequest,
  response: SignedText,
  errors: ['agent_session_expired', 'agent_unknown', 'too_many_requests', 'rules_not_authentic'],
})

const fetchKnowledge = operation({
  id: 'agentKnowledge',
  method: 'GET',
  path: `${agentPaths.knowledge}/{hash}`,
  tag: 'Agent protocol',
  summary: 'The knowledge by which agents recognise attack tools; the policy names its hash',
  permission: 'agent',
  params: closed({ hash: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the response body.' }) }),
  response: Type.String(),
  responseKind: 'file',
  fileType: 'application/json',
  errors: ['agent_session_expired', 'too_many_requests'],
})

/**
 * Limits of concurrent policy builds: each holds one of 12 connections, and check-ins need the others. When rules
 * change for a whole fleet, all its armed hosts fetch their policies. Hosts that would wait for over 3 s retry later.
 */
const buildLimits = { atOnce: 6, waiting: 500, waitMs: 3_000, retryAfter: 2, spread: 10 }
/** Seconds after which an agent retries while its first request is still running. */
const meanwhile = 2

/** Registers the routes of armed hosts: their policy, and the knowledge that the policy names. */
export const registerAgentPolicy = (app: HttpApp, context: IngestContext): void => {
  const { policy, knowledge } = context
  const agent = agentAuthenticator(context, { refusesRevoked: false })
  const turns = createTurns(buildLimits)
  /** Agents with a running request for their policy, and for the knowledge. */
  const [asking, reading] = [new Set<string>(), new Set<string>()]
  /** Refuses concurrent requests of one agent, because an agent sends one at a time. */
  function claim(agents: Set<string>, agentId: string): void {
    if (agents.has(agentId)) throw tooMany(meanwhile)
    agents.add(agentId)
  }
  /** The bytes of the knowledge in force: some megabytes that all answers share. */
  let document = { hash: '', bytes: Buffer.alloc(0) }

  app.registerMachine(fetchPolicy, agent, async ({ body, machine: { agentId } }) => {
    claim(asking, agentId)
    try {
      const signed = await turns.run(() => policy.forAgent(agentId, body))
      if (signed === null) throw new AppError('agent_unknown')
      return signed
    } finally {
      asking.delete(agentId)
    }
  })
  app.registerMachine(fetchKnowledge, agent, async ({ params, reply, machine: { agentId } }) => {
    const { text, hash } = knowledge.forAgents()
    if (params.hash !== hash) throw notFound('This knowledge is no longer in force. Fetch the policy again.')
    claim(reading, agentId)
    finished(reply.raw, () => reading.delete(agentId))
    if (document.hash !== hash) document = { hash, bytes: Buffer.from(text) }
    return new FileAnswer('knowledge.json', 'application/json; charset=utf-8', document.bytes)
  })
}
