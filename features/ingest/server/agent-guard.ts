import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { Clock } from '@portcullis/platform/server/clock.ts'
import { credentialSeen, machineOwner } from '@portcullis/platform/server/http/connections.ts'
import type { Guard } from '@portcullis/platform/server/http/machine.ts'
import type { AgentSession } from '#features/agents/server/index.ts'

export interface AgentGuardDeps {
  clock: Pick<Clock, 'now'>
  /** Returns the session of a token; null: the token is unknown or has expired. */
  verifySession(token: string, nowSeconds: number): AgentSession | null
  isRevoked?(agentId: string): Promise<boolean>
}

/** Admits an agent with a session before its body is read. */
export const agentGuard = ({ clock, verifySession, isRevoked }: AgentGuardDeps): Guard<AgentSession> => ({
  credential: 'header',
  check: async ({ headers, raw }) => {
    const token = /^Bearer (.+)$/.exec(headers.authorization ?? '')?.[1] ?? ''
    const session = verifySession(token, clock.now() / 1000)
    if (session === null) throw new AppError('agent_session_expired')
    if ((await isRevoked?.(session.agentId)) === true) throw new AppError('agent_revoked')
    credentialSeen(raw.socket, machineOwner(session.agentId))
    return session
  },
})
