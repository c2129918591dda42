import { AppError, invalid, notFound } from '@portcullis/platform/server/app-error.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { assertFresh } from '@portcullis/platform/server/http/fresh.ts'
import { isId, newId } from '@portcullis/platform/server/ids.ts'
import { requireTime } from '@portcullis/platform/server/time.ts'
import {
  type ApiTokenView,
  defaultScopesOf,
  type Permission,
  permissionsOf,
  profileNames,
  profiles,
  type UserProfile,
} from '#features/contract.ts'
import { type ApiTokenRow, createApiTokensStore } from './api-tokens.store.ts'
import type { AccountsContext } from './context.ts'
import { isSuspended } from './suspension.rules.ts'
import { defaultExpiry, latestExpiry, stepOf } from './token-expiry.rules.ts'

export type ApiTokensService = ReturnType<typeof createApiTokensService>

const stateOf = (row: ApiTokenRow, now: number): ApiTokenView['state'] => {
  const step = row.expires_at === null ? 0 : stepOf(row.expires_at, now)
  if (step === 3) return 'Expired'
  if (isSuspended(row, now)) return 'Suspended'
  if (row.scopes === null) return 'NeedsReplacement'
  return step > 0 ? 'ExpiresSoon' : 'Active'
}

const view = (row: ApiTokenRow, now: number): ApiTokenView => ({
  id: row.token_id,
  name: row.name,
  userName: row.user_name,
  userProfile: row.user_profile,
  createdAt: row.created_at.toISOString(),
  expiresAt: row.expires_at?.toISOString() ?? null,
  lastUsedAt: row.last_used_at?.toISOString() ?? null,
  lastUsedAddress: row.last_used_ip,
  createdBy: row.created_by ?? row.user_name,
  scopes: row.scopes,
  isLegacy: row.scopes === null,
  state: stateOf(row, now),
})

/** Returns the scopes of a new token. Throws if the creator may not grant one of them. */
const scopesOf = (
  actor: Actor,
  profile: UserProfile,
  given: readonly Permission[] | null | undefined,
): Permission[] => {
  if (given === null || given === undefined)
    return defaultScopesOf(profile).filter((scope) => actor.permissions.has(scope))
  const missing = given.filter((scope) => !actor.permissions.has(scope))
  if (missing.length > 0)
    throw new AppError('forbidden_object', {
      detail: `You cannot grant permissions that you do not have: ${missing.join(', ')}.`,
    })
  const above = given.filter((scope) => !permissionsOf(profile).includes(scope))
  if (above.length > 0)
    throw invalid('body.scopes', `profile ${profileNames[profile]} does not have ${above.join(', ')}`)
  return [...given].sort()
}

export const createApiTokensService = ({ db, clock, audit, opaqueTokens, credentials }: AccountsContext) => {
  /** Limits the caller to their own tokens. An Administrator sees all tokens. */
  const scope = (actor: Actor): string | null => (actor.profile === profiles.administrator ? null : actor.accountId)

  return {
    list: async (actor: Actor): Promise<ApiTokenView[]> => {
      const now = clock.now()
      return (await createApiTokensStore(db).list(scope(actor))).map((row) => view(row, now))
    },

    create: async (
      actor: Actor,
      given: {
        name: string
        expiresAt?: string | null
        userProfile?: UserProfile | null
        scopes?: readonly Permission[] | null
      },
    ): Promise<ApiTokenView & { token: string }> => {
      const now = new Date(clock.now())
      const expiresAt = given.expiresAt ? requireTime('body.expiresAt', given.expiresAt).from : defaultExpiry(now)
      if (expiresAt <= now) throw invalid('body.expiresAt', 'must be in the future')
      if (expiresAt > latestExpiry(now))
        throw invalid(
          'body.expiresAt',
          `is more than one year ahead; the latest possible time is ${latestExpiry(now).toISOString()}`,
        )
      const profile = given.userProfile ?? actor.profile
      if (profile < profiles.user) assertFresh(actor, clock.now())
      // Otherwise a token about to expire could create a successor.
      if (actor.kind !== 'session')
        throw new AppError('forbidden_object', { detail: 'A token cannot create tokens. Sign in with the account.' })
      if (profile < actor.profile)
        throw new AppError('forbidden_object', {
          detail: `You cannot grant more than your own profile, ${profileNames[actor.profile]}.`,
        })
      const scopes = scopesOf(actor, profile, given.scopes)
      const token = opaqueTokens.make('pct')
      const row: ApiTokenRow = {
        token_id: newId(clock.now()),
        account_id: actor.accountId as string,
        name: given.name,
        user_name: actor.userName,
        user_profile: profile,
        created_at: now,
        expires_at: expiresAt,
        last_used_at: null,
        last_used_ip: null,
        created_by: actor.userName,
        scopes,
        suspended_until: null,
      }
      await db.transaction(async (tx) => {
        // No notification for a date within 14 days that the creator has just chosen.
        await createApiTokensStore(tx).insert(row, token.hash, stepOf(expiresAt, now.getTime()))
        await audit.write(tx, actor, {
          action: 'apiToken.created',
          entity: given.name,
          details: `userProfile: ${profileNames[profile]}; scopes: ${scopes.join(', ')}; expires: ${expiresAt.toISOString()}`,
        })
      })
      return { ...view(row, now.getTime()), token: token.text }
    },

    /** Deletes a token. Another person's token gives the same response as a missing one. */
    delete: (actor: Actor, tokenId: string): Promise<{ revoked: boolean }> =>
      db.transaction(async (tx) => {
        const deleted = isId(tokenId) ? await createApiTokensStore(tx).delete(tokenId, scope(actor)) : undefined
        if (deleted === undefined) throw notFound('The token does not exist.')
        const isOwn = deleted.account_id === actor.accountId
        if (!isOwn && deleted.owner_profile < profiles.user) assertFresh(actor, clock.now())
        await credentials.announce(tx, [deleted.account_id])
        await audit.write(tx, actor, { action: 'apiToken.deleted', entity: deleted.name })
        return { revoked: true }
      }),
  }
}
