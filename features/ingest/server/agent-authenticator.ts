import { AppError } from '@portcullis/platform/server/app-error.ts'
import { credentialSeen, machineOwner } from '@portcullis/platform/server/http/connections.ts'
import type { Authenticator } from '@portcullis/platform/server/http/machine.ts'
import type { AgentSession } from '#features/agents/server/index.ts'
import type { IngestContext } from './context.ts'

/** Admits an agent with a session before its body is read. */
export const agentAuthenticator = (
  { clock, agents }: IngestContext,
  { refusesRevoked }: { refusesRevoked: boolean },
): Authenticator<AgentSession> => ({
  credential: 'header',
  check: async ({ headers, raw }) => {
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
    const session = agents.verifySession(token, clock.now() / 1000)
    if (session === null) throw new AppError('agent_session_expired')
    if (refusesRevoked && (await agents.isRevoked(session.agentId))) throw new AppError('agent_revoked')
    credentialSeen(raw.socket, machineOwner(session.agentId))
    return session
  },
})
