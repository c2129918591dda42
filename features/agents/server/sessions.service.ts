import { createPublicKey, verify } from 'node:crypto'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import { isId } from '@portcullis/platform/server/ids.ts'
import { createTurns } from '@portcullis/platform/server/limiters/turns.ts'
import { boundedProofPrefix, type SessionRequest, type SessionResponse, sessionProofText } from '#features/contract.ts'
import type { AgentsContext } from './context.ts'
import { createProofNonces } from './proof-nonces.ts'
import type { SessionTokens } from './session-token.ts'
import { createSessionsStore } from './sessions.store.ts'

/** Lifetime of a session token: a stolen token soon expires, and renewals stay cheap. */
const lifeSeconds = 3_600
const nonceLifeMs = 600_000
/** Proofs within this distance of the server's clock are fresh. Their nonces are remembered for longer. */
const freshMs = 300_000
/** Number for a command key that this server does not have, because its key file is out of date. */
const unknownKey = -1
/** How long nonces of proofs from a wrong clock are remembered. */
const farMs = 10 * 365 * 86_400_000

/**
 * Limits of concurrent session openings: each holds one of 12 connections for six statements. After an outage, all
 * hosts reconnect at once. Hosts that would wait for over 3 s retry at spread times, and check-ins find a connection
 * in the meantime.
 */
const openings = { atOnce: 5, waiting: 500, waitMs: 3_000, retryAfter: 2, spread: 15 }

export const createSessionsService = (
  context: AgentsContext,
  tokens: SessionTokens,
  /** Returns the refusal for a deleted agent; null: it was not deleted. */
  revoked: (agentId: string) => Promise<AppError | null>,
) => {
  const { db, clock, events } = context
  const keys = context.keys.command
  const store = createSessionsStore(db)
  const nonces = createProofNonces(context.keys.derive('session-nonce'))
  const turns = createTurns(openings)

  async function openOne(request: SessionRequest, keyId: string | undefined, ip: string): Promise<SessionResponse> {
    if (!isId(request.agentId)) throw new AppError('agent_unknown')
    const agent = await store.agent(request.agentId)
    if (agent === undefined || agent.public_key === null)
      throw (await revoked(request.agentId)) ?? new AppError('agent_unknown')
    const key = createPublicKey({ key: agent.public_key, format: 'der', type: 'spki' })
    const algorithm = key.asymmetricKeyType === 'ed25519' ? null : 'sha256'
    if (!verify(algorithm, Buffer.from(sessionProofText(request)), key, Buffer.from(request.signature, 'base64')))
      throw new AppError('agent_unknown')
    const now = clock.now()
    const provenAt = nonces.madeAt(request.agentId, request.nonce) ?? request.timestamp
    const isFresh = Math.abs(provenAt - now) < freshMs
    const isBounded = request.nonce.startsWith(boundedProofPrefix)
    if (!isFresh && (isBounded || agent.bounded_proofs))
      throw new AppError('session_proof_old', {}, { extensions: { nonce: nonces.make(request.agentId, now) } })
    const held = keyId === undefined ? undefined : (keys.numberOf(keyId) ?? unknownKey)
    const rotations = held === undefined || held === unknownKey ? [] : keys.rotationsAfter(held)
    const { nextSeq } = await db.transaction(async (tx) => {
      // A proof from a time before the enrolment or in the future comes from a wrong clock. Such proofs are rare, so
      // their nonces are kept. All others are older than a fresh one, and must be newer than every accepted one.
      const isByWrongClock = request.timestamp < agent.enrolled_at.getTime() - freshMs || request.timestamp > now
      const until = now + (isByWrongClock && !isFresh ? farMs : nonceLifeMs)
      if (!(await store.takeNonce(tx, `${request.agentId} ${request.nonce}`, new Date(until))))
        throw new AppError('agent_unknown')
      const entered = await store.enterBoot(tx, {
        agentId: request.agentId,
        bootId: request.bootId,
        proofAt: request.timestamp,
        isNonceKept: isFresh || isByWrongClock,
        isFresh,
        now: new Date(now),
        ip,
      })
      if (entered === 'stale')
        throw new AppError('conflict', {
          detail:
            'The server already accepted a newer proof of this agent. This proof is a replay, or the clock of the host was set back. Correct the clock of the host.',
        })
      if (entered === 'tooMany')
        throw new AppError('too_many_requests', { seconds: 300 }, { headers: { 'retry-after': '300' } })
      if (isBounded && !agent.bounded_proofs) await store.bindProofs(tx, request.agentId)
      if (held !== undefined)
        await store.holdsKey(tx, request.agentId, held === unknownKey ? unknownKey : keys.newest().number)
      if (entered.isOld)
        await events.append(tx, [
          {
            kind: 'keyClone',
            agentId: request.agentId,
            entity: `${agent.host} (${agent.address})`,
            hashtags: '',
            details: `An earlier boot of the agent reconnected from ${ip}: its key was copied, or the host was restored from a snapshot`,
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
      ...(rotations.length === 0 ? {} : { commandKeys: rotations }),
    }
  }

  return {
    /**
     * Opens a session for a caller that proves possession of the agent's key. `keyId` names the agent's command key;
     * agents without support for rotations name none. If an earlier boot reconnects, the key may have been copied, and
     * an event reports it.
     */
    open: (request: SessionRequest, keyId: string | undefined, ip: string): Promise<SessionResponse> =>
      turns.run(() => openOne(request, keyId, ip)),

    forgetNonces: () => store.forgetNonces(new Date(clock.now())),
  }
}
