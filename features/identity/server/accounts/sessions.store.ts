import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { configGroups, type Permission, sessionsKept } from '#features/contract.ts'
import type { AccountRow } from './accounts.store.ts'

const graceDays = Number(configGroups.security.items.SECURITY_FACTOR_GRACE_DAYS.default)

/** A session or API token with the current state of its account. */
export interface CredentialRow {
  credential_id: string
  account_id: string
  user_name: string
  user_profile: 10 | 20 | 30
  /** Highest profile of an API token; 10 for sessions. */
  ceiling: 10 | 20 | 30
  is_enabled: boolean
  must_change_password: boolean
  token_version: number
  last_used_at: Date | null
  expires_at: Date | null
  /** When the person last entered a password or second factor. Null for API tokens, or if unknown. */
  authenticated_at: Date | null
  suspended_until: Date | null
  /** When the account needs a second factor. Null for API tokens, or if it has one or needs none. */
  second_factor_due_at: Date | null
  /** Scopes of an API token. Null for sessions, and for tokens created before scopes. */
  scopes: Permission[] | null
}

export interface SessionRow {
  session_id: string
  account_id: string
  created_at: Date
  last_used_at: Date
  expires_at: Date
  ip: string
  user_agent: string
  /** When the person last entered a password or second factor. Null if unknown. */
  authenticated_at: Date | null
}

export interface RefreshRow extends SessionRow {
  used_at: Date | null
  is_enabled: boolean
  token_version: number
}

/**
 * When account `a` needs a second factor. The grace period starts with the change that switched the requirement on.
 * Null if its profile needs none, or if it has one. An exemption postpones it.
 */
const secondFactorDue = sql`case when a.auth_source = 'Local' and not a.mfa_enabled then (
    select greatest(a.factor_exempt_until, c.changed_at + make_interval(days => coalesce((
      select g.value::int from config_items g where g.name = 'SECURITY_FACTOR_GRACE_DAYS'), ${graceDays}::int)))
    from config_items c
    where c.value = 'true' and c.name = case a.user_profile
      when 10 then 'SECURITY_FACTOR_ADMINISTRATORS' when 20 then 'SECURITY_FACTOR_MANAGERS' else 'SECURITY_FACTOR_USERS' end)
  end`

const apiTokens = sql`
  select t.token_id as credential_id, a.account_id, a.user_name, a.user_profile, t.user_profile as ceiling,
         a.is_enabled, a.must_change_password, a.token_version, t.last_used_at, t.expires_at,
         null::timestamptz as authenticated_at, a.suspended_until, t.scopes,
         null::timestamptz as second_factor_due_at
  from api_tokens t join accounts a using (account_id)`

export const createSessionsStore = (db: Queryable) => ({
  session: async (sessionId: string): Promise<CredentialRow | undefined> =>
    (
      await db.prepared<CredentialRow>(sql`
        select s.session_id as credential_id, a.account_id, a.user_name, a.user_profile, 10 as ceiling, a.is_enabled,
               a.must_change_password, a.token_version, s.last_used_at, s.expires_at, s.authenticated_at,
               a.suspended_until, null as scopes,
               ${secondFactorDue} as second_factor_due_at
        from sessions s join accounts a using (account_id) where s.session_id = ${sessionId}`)
    )[0],

  apiToken: async (tokenHash: Buffer): Promise<CredentialRow | undefined> =>
    (await db.prepared<CredentialRow>(sql`${apiTokens} where t.token_hash = ${tokenHash}`))[0],

  apiTokenById: async (tokenId: string): Promise<CredentialRow | undefined> =>
    (await db.prepared<CredentialRow>(sql`${apiTokens} where t.token_id = ${tokenId}`))[0],

  touchSession: (sessionId: string, now: Date): Promise<number> =>
    db.execute(
      sql`update sessions set last_used_at = ${now} where session_id = ${sessionId} and last_used_at < ${now}`,
    ),

  touchApiToken: (tokenId: string, now: Date, ip: string): Promise<number> =>
    db.execute(sql`update api_tokens set last_used_at = ${now}, last_used_ip = ${ip} where token_id = ${tokenId}`),

  list: (accountId: string, idleSince: Date, now: Date): Promise<SessionRow[]> =>
    db.query<SessionRow>(sql`
      select s.* from sessions s
      where s.account_id = ${accountId} and s.last_used_at >= ${idleSince} and s.expires_at > ${now}
      order by s.created_at desc, s.session_id desc`),

  insert: (row: SessionRow): Promise<number> =>
    db.execute(sql`
      insert into sessions (session_id, account_id, created_at, last_used_at, expires_at, ip, user_agent,
                            authenticated_at)
      values (${row.session_id}, ${row.account_id}, ${row.created_at}, ${row.last_used_at}, ${row.expires_at},
              ${row.ip}, ${row.user_agent}, ${row.authenticated_at})`),

  /** Stores a fresh authentication. Returns 0 if the session ended. Never makes a session less fresh. */
  authenticated: (accountId: string, sessionId: string, at: Date): Promise<number> =>
    db.execute(sql`
      update sessions set authenticated_at = greatest(authenticated_at, ${at}::timestamptz)
      where account_id = ${accountId} and session_id = ${sessionId}`),

  /** Deletes the oldest sessions of an account beyond the limit. Returns their ids. */
  prune: async (accountId: string): Promise<string[]> =>
    (
      await db.query<{ session_id: string }>(sql`
        delete from sessions where session_id in (
          select s.session_id from sessions s where s.account_id = ${accountId}
          order by s.created_at desc, s.session_id desc offset ${sessionsKept}) returning session_id`)
    ).map((row) => row.session_id),

  delete: (accountId: string, sessionId: string): Promise<number> =>
    db.execute(sql`delete from sessions where account_id = ${accountId} and session_id = ${sessionId}`),

  /** Ends the sessions of an account, except one. */
  deleteAll: (accountId: string, except: string | null): Promise<number> =>
    db.execute(sql`
      delete from sessions where account_id = ${accountId} and session_id is distinct from ${except}::uuid`),

  deleteEnded: (idleSince: Date, now: Date): Promise<number> =>
    db.execute(sql`delete from sessions where last_used_at < ${idleSince} or expires_at <= ${now}`),

  insertRefresh: (sessionId: string, tokenHash: Buffer): Promise<number> =>
    db.execute(sql`insert into session_refresh_tokens (token_hash, session_id) values (${tokenHash}, ${sessionId})`),

  /** Locks a refresh token. If it is used twice at the same time, the second use sees the first. */
  lockRefresh: async (tokenHash: Buffer): Promise<RefreshRow | undefined> =>
    (
      await db.query<RefreshRow>(sql`
        select s.*, r.used_at, a.is_enabled, a.token_version
        from session_refresh_tokens r join sessions s using (session_id) join accounts a using (account_id)
        where r.token_hash = ${tokenHash} for update of r, s`)
    )[0],

  /** Returns the account of a refresh token's session. */
  refreshOwner: async (tokenHash: Buffer): Promise<AccountRow | undefined> =>
    (
      await db.prepared<AccountRow>(sql`
        select a.* from session_refresh_tokens r join sessions s using (session_id) join accounts a using (account_id)
        where r.token_hash = ${tokenHash}`)
    )[0],

  useRefresh: (tokenHash: Buffer, now: Date): Promise<number> =>
    db.execute(sql`update session_refresh_tokens set used_at = ${now} where token_hash = ${tokenHash}`),

  insertTicket: (row: {
    hash: Buffer
    accountId: string
    kind: 'session' | 'apiToken'
    credentialId: string
    expiresAt: Date
  }): Promise<number> =>
    db.execute(sql`
      insert into download_tickets (ticket_hash, account_id, credential_kind, credential_id, expires_at)
      values (${row.hash}, ${row.accountId}, ${row.kind}, ${row.credentialId}, ${row.expiresAt})`),

  /** Deletes a ticket and returns its credential. */
  takeTicket: async (
    hash: Buffer,
  ): Promise<{ credential_kind: 'session' | 'apiToken'; credential_id: string; expires_at: Date } | undefined> =>
    (
      await db.query<{ credential_kind: 'session' | 'apiToken'; credential_id: string; expires_at: Date }>(sql`
        delete from download_tickets where ticket_hash = ${hash}
        returning credential_kind, credential_id, expires_at`)
    )[0],

  deleteEndedTickets: (now: Date): Promise<number> =>
    db.execute(sql`delete from download_tickets where expires_at <= ${now}`),
})
