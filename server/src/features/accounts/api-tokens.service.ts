import { type ApiTokenView, profileNames, profiles, type UserProfile } from '@portcullis/contract'
import { AppError, invalid, notFound } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import type { Db, Queryable } from '#platform/db/db.ts'
import type { Actor } from '#platform/http/actor.ts'
import { isId, newId } from '#platform/ids.ts'
import type { OpaqueTokens } from '#platform/opaque-tokens.ts'
import { requireTime } from '#platform/time.ts'
import type { ApiTokenRow, ApiTokensStore } from './api-tokens.store.ts'
import type { Audit } from './audit-port.ts'
import type { CredentialsService } from './credentials.service.ts'

export interface ApiTokensDeps {
  db: Db
  clock: Clock
  audit: Audit
  opaqueTokens: OpaqueTokens
  store: (db: Queryable) => ApiTokensStore
  credentials: CredentialsService
}

export type ApiTokensService = ReturnType<typeof createApiTokensService>

const view = (row: ApiTokenRow): ApiTokenView => ({
  id: row.token_id,
  name: row.name,
  userName: row.user_name,
  userProfile: row.user_profile,
  createdAt: row.created_at.toISOString(),
  expiresAt: row.expires_at?.toISOString() ?? null,
  lastUsedAt: row.last_used_at?.toISOString() ?? null,
})

export const createApiTokensService = ({ db, clock, audit, opaqueTokens, store, credentials }: ApiTokensDeps) => {
  /** Whose tokens the caller has in hand: an Administrator everybody's. */
  const scope = (actor: Actor): string | null => (actor.profile === profiles.administrator ? null : actor.accountId)

  return {
    list: async (actor: Actor): Promise<ApiTokenView[]> => (await store(db).list(scope(actor))).map(view),

    create: async (
      actor: Actor,
      given: { name: string; expiresAt?: string | null; userProfile?: UserProfile | null },
    ): Promise<ApiTokenView & { token: string }> => {
      const now = new Date(clock.now())
      const expiresAt = given.expiresAt ? requireTime('body.expiresAt', given.expiresAt).from : null
      if (expiresAt !== null && expiresAt <= now) throw invalid('body.expiresAt', 'must lie in the future')
      // Else a token that is about to end could make one that does not.
      if (actor.kind !== 'session')
        throw new AppError('forbidden_object', { detail: 'A token can not make tokens; sign in with the account.' })
      const profile = given.userProfile ?? actor.profile
      if (profile < actor.profile)
        throw new AppError('forbidden_object', {
          detail: `Nobody grants more than his own profile, ${profileNames[actor.profile]}.`,
        })
      const token = opaqueTokens.make('pct')
      const tokenId = newId(clock.now())
      await db.transaction(async (tx) => {
        await store(tx).insert({
          tokenId,
          tokenHash: token.hash,
          accountId: actor.accountId as string,
          name: given.name,
          profile,
          createdAt: now,
          expiresAt,
        })
        await audit.write(tx, actor, {
          action: 'apiToken.created',
          entity: given.name,
          details: `userProfile: ${profileNames[profile]}; expires: ${expiresAt?.toISOString() ?? 'never'}`,
        })
      })
      return {
        id: tokenId,
        name: given.name,
        userName: actor.userName,
        userProfile: profile,
        createdAt: now.toISOString(),
        expiresAt: expiresAt?.toISOString() ?? null,
        lastUsedAt: null,
        token: token.text,
      }
    },

    /** Somebody else's token is as unknown as one that is not there. */
    delete: async (actor: Actor, tokenId: string): Promise<void> => {
      const owner = !isId(tokenId)
        ? undefined
        : await db.transaction(async (tx) => {
            const deleted = await store(tx).delete(tokenId, scope(actor))
            if (deleted === undefined) return undefined
            await credentials.announce(tx, [deleted.account_id])
            await audit.write(tx, actor, { action: 'apiToken.deleted', entity: deleted.name })
            return deleted.account_id
          })
      if (owner === undefined) throw notFound('There is no such token.')
      credentials.forget([owner])
    },
  }
}
