import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { type Actor, permissionSetOf } from '@portcullis/platform/server/http/actor.ts'
import type { OpaqueTokens } from '@portcullis/platform/server/opaque-tokens.ts'
import { sessionIdleMs, type UserProfile } from '#features/contract.ts'
import { settingsTopic } from '#features/settings/server/index.ts'
import type { IdentityContext } from '../context.ts'
import type { AccessTokens } from './access-tokens.ts'
import { type CredentialRow, createSessionsStore } from './sessions.store.ts'
import { isSuspended } from './suspension.rules.ts'

/** Cached rows are read again after this time, even without a message. */
const rereadMs = 30_000
const touchMs = 60_000
/** About 300 bytes each. */
const cacheLimit = 50_000
const topic = 'credentials'

interface Cached {
  row: CredentialRow
  readAt: number
  usedAt: number
  writtenAt: number
}

export type CredentialsService = ReturnType<typeof createCredentialsService>

/**
 * Finds the actor of a bearer token. Rows are cached. Each change of an account or credential drops its rows on every
 * replica, by a message in the same transaction. While messages do not arrive, the cache is not used.
 */
export const createCredentialsService = (
  { db, clock, bus, log }: IdentityContext,
  accessTokens: AccessTokens,
  opaqueTokens: OpaqueTokens,
  /** Called on every replica with the accounts whose rights may have changed; null: all. Used to close open streams. */
  onChange: (accountIds: readonly string[] | null) => void,
) => {
  const store = createSessionsStore(db)
  const cache = new Map<string, Cached>()
  // Counts drops: a row read before a drop is not cached after it.
  let epoch = 0

  function forget(accountIds: readonly string[] | null): void {
    epoch++
    if (accountIds === null) cache.clear()
    else for (const [key, entry] of cache) if (accountIds.includes(entry.row.account_id)) cache.delete(key)
    onChange(accountIds)
  }
  bus.on(topic, (message) => forget(Array.isArray(message.accountIds) ? (message.accountIds as string[]) : null))
  // The configuration decides who needs a second factor. Open streams stay open; their next call is checked.
  bus.on(settingsTopic, () => {
    epoch++
    cache.clear()
  })
  bus.onGap(() => forget(null))

  async function find(
    key: string,
    read: () => Promise<CredentialRow | undefined>,
    fresh: boolean,
  ): Promise<Cached | null> {
    const known = cache.get(key)
    if (!fresh && known !== undefined && bus.isLive() && clock.now() - known.readAt < rereadMs) return known
    const before = epoch
    const row = await read()
    if (row === undefined) {
      cache.delete(key)
      return null
    }
    const lastUsed = row.last_used_at?.getTime() ?? 0
    const entry: Cached = {
      row,
      readAt: clock.now(),
      usedAt: Math.max(known?.usedAt ?? 0, lastUsed),
      writtenAt: lastUsed,
    }
    if (cache.size >= cacheLimit) cache.clear()
    if (before === epoch) cache.set(key, entry)
    return entry
  }

  const isIdle = (entry: Cached): boolean => clock.now() - entry.usedAt > sessionIdleMs

  function touch(entry: Cached, write: (now: Date) => Promise<unknown>): void {
    const now = clock.now()
    entry.usedAt = now
    if (now - entry.writtenAt < touchMs) return
    entry.writtenAt = now
    write(new Date(now)).catch((error: unknown) => log.warn({ err: error }, 'could not record the use of a session'))
  }

  function actorOf(row: CredentialRow, kind: 'session' | 'apiToken', ip: string): Actor | null {
    if (!row.is_enabled || (row.expires_at !== null && row.expires_at.getTime() <= clock.now())) return null
    if (isSuspended(row, clock.now())) return null
    // A higher number is a lower profile.
    const profile = Math.max(row.user_profile, row.ceiling) as UserProfile
    const held = permissionSetOf(profile)
    const { scopes } = row
    return {
      kind,
      userName: row.user_name,
      accountId: row.account_id,
      profile,
      permissions: scopes === null ? held : new Set(scopes.filter((scope) => held.has(scope))),
      credentialId: row.credential_id,
      mustChangePassword: row.must_change_password,
      secondFactorDueAt: row.second_factor_due_at?.getTime() ?? null,
      authenticatedAt: row.authenticated_at?.getTime() ?? null,
      ip,
    }
  }

  async function bySession(sessionId: string, ip: string, version: number | null): Promise<Actor | null> {
    const read = () => store.session(sessionId)
    let entry = await find(`s:${sessionId}`, read, false)
    // The session may have been used on another replica.
    if (entry !== null && isIdle(entry)) entry = await find(`s:${sessionId}`, read, true)
    if (entry === null || isIdle(entry)) return null
    if (version !== null && entry.row.token_version !== version) return null
    const actor = actorOf(entry.row, 'session', ip)
    if (actor !== null) touch(entry, (now) => store.touchSession(sessionId, now))
    return actor
  }

  async function byApiToken(key: string, read: () => Promise<CredentialRow | undefined>, ip: string) {
    const entry = await find(key, read, false)
    const actor = entry === null ? null : actorOf(entry.row, 'apiToken', ip)
    if (actor !== null && entry !== null) touch(entry, (now) => store.touchApiToken(entry.row.credential_id, now, ip))
    return actor
  }

  return {
    /** Returns the actor of a bearer token. Returns null for unknown, expired or revoked tokens. */
    authenticate: async (token: string, ip: string): Promise<Actor | null> => {
      const hash = opaqueTokens.hashOf('pct', token)
      if (hash !== null) return byApiToken(`t:${hash.toString('base64')}`, () => store.apiToken(hash), ip)
      const claims = await accessTokens.read(token)
      if (claims === null) return null
      const actor = await bySession(claims.sessionId, ip, claims.version)
      return actor?.accountId === claims.accountId ? actor : null
    },

    /** Returns the actor of a one-use ticket. The ticket is deleted in any case. */
    redeemTicket: async (ticket: string, ip: string): Promise<Actor | null> => {
      const hash = opaqueTokens.hashOf('pt', ticket)
      const taken = hash === null ? undefined : await store.takeTicket(hash)
      if (taken === undefined || taken.expires_at.getTime() <= clock.now()) return null
      const id = taken.credential_id
      return taken.credential_kind === 'session'
        ? bySession(id, ip, null)
        : byApiToken(`i:${id}`, () => store.apiTokenById(id), ip)
    },

    /** Makes every replica drop the cached credentials of these accounts when `tx` commits, and this one at once. */
    announce: (tx: Tx, accountIds: readonly string[]): Promise<void> => {
      tx.onCommit(() => forget(accountIds))
      // 100 ids are under 4 kB. For larger changes, every cached row is dropped.
      return bus.publish(tx, topic, accountIds.length <= 100 ? { accountIds } : {})
    },
  }
}
