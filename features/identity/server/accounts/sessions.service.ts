import { AppError, notFound } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { type Actor, permissionSetOf } from '@portcullis/platform/server/http/actor.ts'
import { isId, newId } from '@portcullis/platform/server/ids.ts'
import { type SessionView, sessionIdleMs, sessionLifeMs } from '#features/contract.ts'
import type { AccountRow } from './accounts.store.ts'
import type { AccountsContext } from './context.ts'
import type { ExternalService } from './external.service.ts'
import { createSessionsStore, type SessionRow } from './sessions.store.ts'

const ticketMs = 60_000

export interface Opened {
  accountId: string
  accessToken: string
  /** Expiry of the access token in milliseconds. */
  expiresAt: number
  /** Null if the sign-in did not ask for one. */
  refreshToken: string | null
  /** Expiry of the session in milliseconds. */
  sessionEnds: number
}

export type SessionsService = ReturnType<typeof createSessionsService>

export const createSessionsService = (context: AccountsContext, external: ExternalService) => {
  const { db, clock, audit, credentials, accessTokens, opaqueTokens } = context
  const idleSince = (): Date => new Date(clock.now() - sessionIdleMs)
  const actorOf = (accountId: string, userName: string, sessionId: string, ip: string): Actor => ({
    kind: 'session',
    userName,
    accountId,
    profile: 30,
    permissions: permissionSetOf(30),
    credentialId: sessionId,
    mustChangePassword: false,
    secondFactorDueAt: null,
    authenticatedAt: null,
    ip,
  })

  async function tokensFor(
    session: Pick<SessionRow, 'session_id' | 'account_id' | 'expires_at'>,
    version: number,
    refreshToken: string | null,
  ): Promise<Opened> {
    const ends = session.expires_at.getTime()
    const { token, expiresAt } = await accessTokens.sign(
      { accountId: session.account_id, sessionId: session.session_id, version },
      ends,
    )
    return { accountId: session.account_id, accessToken: token, expiresAt, refreshToken, sessionEnds: ends }
  }

  const view = (row: SessionRow, currentId: string | null): SessionView => ({
    id: row.session_id,
    createdAt: row.created_at.toISOString(),
    lastUsedAt: row.last_used_at.toISOString(),
    expiresAt: row.expires_at.toISOString(),
    ipAddress: row.ip,
    userAgent: row.user_agent,
    isCurrent: row.session_id === currentId,
  })

  const end = (actor: Actor, sessionId: string): Promise<boolean> =>
    db.transaction(async (tx) => {
      const accountId = actor.accountId as string
      if ((await createSessionsStore(tx).delete(accountId, sessionId)) === 0) return false
      await credentials.announce(tx, [accountId])
      await audit.write(tx, actor, { action: 'session.ended', entity: actor.userName, details: `session ${sessionId}` })
      return true
    })

  return {
    /**
     * Opens a session in the sign-in's transaction, and ends the oldest beyond 200. `authenticatedAt` is when the
     * person entered a password or factor, in milliseconds, or null if the server does not know.
     */
    open: async (
      tx: Tx,
      account: AccountRow,
      from: { ip: string; userAgent: string; wantsRefresh: boolean },
      authenticatedAt: number | null,
    ): Promise<Opened> => {
      const now = clock.now()
      const session = {
        session_id: newId(clock.now()),
        account_id: account.account_id,
        created_at: new Date(now),
        last_used_at: new Date(now),
        expires_at: new Date(now + sessionLifeMs),
        ip: from.ip,
        user_agent: from.userAgent,
        authenticated_at: authenticatedAt === null ? null : new Date(authenticatedAt),
      }
      const sessions = createSessionsStore(tx)
      await sessions.insert(session)
      const refresh = from.wantsRefresh ? opaqueTokens.make('pr') : null
      if (refresh !== null) await sessions.insertRefresh(session.session_id, refresh.hash)
      const pruned = await sessions.prune(account.account_id)
      if (pruned.length > 0) await credentials.announce(tx, [account.account_id])
      return tokensFor(session, account.token_version, refresh?.text ?? null)
    },

    /**
     * Returns the next pair of tokens. A second use of a refresh token ends the session, because one of its two users
     * stole it. A second use within `graceMs` is accepted: a browser that reloads during a refresh never sees the
     * answer and sends its old cookie.
     */
    refresh: async (refreshToken: string, ip: string, graceMs = 0): Promise<Opened> => {
      const hash = opaqueTokens.hashOf('pr', refreshToken)
      if (hash === null) throw new AppError('session_ended')
      const owner = await createSessionsStore(db).refreshOwner(hash)
      if (owner !== undefined) await external.recheck(owner)
      const opened = await db.transaction(async (tx) => {
        const sessions = createSessionsStore(tx)
        const row = await sessions.lockRefresh(hash)
        if (row === undefined) return null
        const now = new Date(clock.now())
        const isReused = row.used_at !== null && now.getTime() - row.used_at.getTime() >= graceMs
        if (isReused || !row.is_enabled || row.expires_at <= now || row.last_used_at < idleSince()) {
          await sessions.delete(row.account_id, row.session_id)
          await credentials.announce(tx, [row.account_id])
          if (isReused)
            await audit.write(tx, actorOf(row.account_id, 'anonymous', row.session_id, ip), {
              action: 'session.refreshTokenReused',
              entity: `session ${row.session_id}`,
              details: `The session from ${row.ip} was ended.`,
              severity: 4,
              outcome: 'failure',
            })
          return null
        }
        const next = opaqueTokens.make('pr')
        await sessions.useRefresh(hash, now)
        await sessions.insertRefresh(row.session_id, next.hash)
        await sessions.touchSession(row.session_id, now)
        return tokensFor(row, row.token_version, next.text)
      })
      if (opened === null) throw new AppError('session_ended')
      return opened
    },

    logout: async (actor: Actor): Promise<boolean> => {
      if (actor.kind !== 'session' || actor.credentialId === null)
        throw new AppError('unprocessable', { detail: 'An API token has no session. Delete the token instead.' })
      return end(actor, actor.credentialId)
    },

    list: async (actor: Actor): Promise<SessionView[]> =>
      (await createSessionsStore(db).list(actor.accountId as string, idleSince(), new Date(clock.now()))).map((row) =>
        view(row, actor.credentialId),
      ),

    endOne: async (actor: Actor, sessionId: string): Promise<void> => {
      if (!isId(sessionId) || !(await end(actor, sessionId))) throw notFound('This account does not have that session.')
    },

    createTicket: async (actor: Actor): Promise<{ ticket: string; expiresAt: string }> => {
      const ticket = opaqueTokens.make('pt')
      const expiresAt = new Date(clock.now() + ticketMs)
      await createSessionsStore(db).insertTicket({
        hash: ticket.hash,
        accountId: actor.accountId as string,
        kind: actor.kind === 'session' ? 'session' : 'apiToken',
        credentialId: actor.credentialId as string,
        expiresAt,
      })
      return { ticket: ticket.text, expiresAt: expiresAt.toISOString() }
    },

    maintain: async (): Promise<void> => {
      const now = new Date(clock.now())
      await createSessionsStore(db).deleteEnded(idleSince(), now)
      await createSessionsStore(db).deleteEndedTickets(now)
    },
  }
}
