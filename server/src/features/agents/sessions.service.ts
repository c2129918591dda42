import { createPublicKey, verify } from 'node:crypto'
import { type SessionRequest, type SessionResponse, sessionProofText } from '@portcullis/contract'
import { AppError } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import { isId } from '#platform/ids.ts'
import type { EnrollmentDeps } from './enrollment.service.ts'
import type { SessionTokens } from './session-token.ts'
import type { SessionsStore } from './sessions.store.ts'

/** Life of a session token: short enough that a stolen one is soon worthless, long enough to cost nothing. */
const lifeSeconds = 3_600
const nonceLifeMs = 600_000

export const createSessionsService = ({
  db,
  clock,
  store,
  tokens,
  events,
}: {
  db: Db
  clock: Clock
  store: SessionsStore
  tokens: SessionTokens
  events: EnrollmentDeps['events']
}) => ({
  /** Opens a session for who proves to hold the agent's key. An old start that comes back is a copied key: an event says so. */
  open: async (request: SessionRequest, ip: string): Promise<SessionResponse> => {
    if (!isId(request.agentId)) throw new AppError('agent_unknown')
    const agent = await store.agent(request.agentId)
    if (agent === undefined || agent.public_key === null)
      throw new AppError((await store.isRevoked(request.agentId)) ? 'agent_revoked' : 'agent_unknown')
    const key = createPublicKey({ key: agent.public_key, format: 'der', type: 'spki' })
    const algorithm = key.asymmetricKeyType === 'ed25519' ? null : 'sha256'
    if (!verify(algorithm, Buffer.from(sessionProofText(request)), key, Buffer.from(request.signature, 'base64')))
      throw new AppError('agent_unknown')
    const now = clock.now()
    const { nextSeq } = await db.transaction(async (tx) => {
      if (!(await store.takeNonce(tx, `${request.agentId} ${request.nonce}`, new Date(now + nonceLifeMs))))
        throw new AppError('agent_unknown')
      const entered = await store.enterBoot(tx, request.agentId, request.bootId, new Date(now), ip)
      if (entered.isOld)
        await events.append(tx, [
          {
            kind: 'keyClone',
            agentId: request.agentId,
            entity: `${agent.host} (${agent.address})`,
            hashtags: '',
            details: `An earlier start of the agent came back from ${ip}: its key was copied, or the host was restored from a snapshot`,
          },
        ])
      return entered
    })
    const expiresAt = Math.floor(now / 1000) + lifeSeconds
    return {
      token: tokens.issue({ agentId: request.agentId, bootId: request.bootId, expiresAt }),
      expiresInSeconds: lifeSeconds,
      serverTime: new Date(now).toISOString(),
      nextSeq,
    }
  },

  forgetNonces: () => store.forgetNonces(new Date(clock.now())),
})
