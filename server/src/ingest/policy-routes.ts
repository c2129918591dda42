import { agentPaths, closed, operation, PolicyRequest, SignedText } from '@portcullis/contract'
import { Type } from 'typebox'
import type { AgentSession } from '#features/agents/index.ts'
import type { PolicyApi } from '#features/policy/index.ts'
import { AppError, notFound } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import { FileAnswer } from '#platform/http/answer.ts'
import type { HttpApp } from '#platform/http/http-app.ts'

const fetchPolicy = operation({
  id: 'agentPolicy',
  method: 'POST',
  path: agentPaths.policy,
  tag: 'Agent protocol',
  summary: 'The policy of the asking agent, signed for it and its nonce',
  permission: 'agent',
  body: PolicyRequest,
  response: SignedText,
  errors: ['agent_session_expired', 'agent_unknown'],
})

const fetchKnowledge = operation({
  id: 'agentKnowledge',
  method: 'GET',
  path: `${agentPaths.knowledge}/{hash}`,
  tag: 'Agent protocol',
  summary: 'What agents judge attack tools by; the policy names its hash',
  permission: 'agent',
  params: closed({ hash: Type.String({ pattern: '^[0-9a-f]{64}$', description: 'SHA-256 of the answer.' }) }),
  response: Type.String(),
  responseKind: 'file',
  fileType: 'application/json',
  errors: ['agent_session_expired'],
})

export interface AgentPolicyRouteDeps {
  clock: Clock
  verifySession(token: string, nowSeconds: number): AgentSession | null
  policy: Pick<PolicyApi, 'forAgent'>
  /** What agents judge attack tools by. */
  knowledge(): { text: string; hash: string }
}

/** What an armed host fetches: its policy, and the knowledge that the policy names. */
export const registerAgentPolicy = (
  app: HttpApp,
  { clock, verifySession, policy, knowledge }: AgentPolicyRouteDeps,
): void => {
  const sessionOf = (authorization: string | undefined): AgentSession => {
    const session = authorization?.startsWith('Bearer ')
      ? verifySession(authorization.slice(7), clock.now() / 1000)
      : null
    if (session === null) throw new AppError('agent_session_expired')
    return session
  }
  app.register(fetchPolicy, async ({ body, request }) => {
    const signed = await policy.forAgent(sessionOf(request.headers.authorization).agentId, body.nonce)
    if (signed === null) throw new AppError('agent_unknown')
    return signed
  })
  app.register(fetchKnowledge, async ({ params, request }) => {
    sessionOf(request.headers.authorization)
    const { text, hash } = knowledge()
    if (params.hash !== hash) throw notFound('This knowledge is not in force any more; fetch the policy anew.')
    return new FileAnswer('knowledge.json', 'application/json; charset=utf-8', text)
  })
}
