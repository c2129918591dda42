import type { GateAccount, Influence } from '@portcullis/domain'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { lock, locks } from '@portcullis/platform/server/db/locks.ts'
import { raw, type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'
import { type ChangeRequest, listedRequestLines } from '#features/contract.ts'

/** Window over which small steps add up: longer than an impatient person waits, shorter than a shift. */
const recentMs = 15 * 60_000

/** Effect of a change: it frees or deletes hosts, or allows devices on them. */
export type Effect = 'release' | 'allow'

/** Groups of settings that decide who signs in, or who receives set-password links. */
export type SignInSource = 'ldap' | 'oidc' | 'smtp' | 'domain'

/** A stored request with its change. */
export interface StoredRequest {
  request_id: string
  action: ChangeRequest['action']
  title: string
  hosts: number
  details: string[]
  body: string
  /** The secret part of the change, sealed. */
  sealed: Buffer | null
  seal: Buffer
  /** MAC over what the approver reads; null: an earlier release filed the request. */
  shown_seal: Buffer | null
  requested_by: string
  requested_by_account: string | null
  requested_at: Date
  expires_at: Date
}

/** Members of a request that decide who may approve it. */
export type PendingRequest = Pick<
  StoredRequest,
  'request_id' | 'body' | 'requested_by_account' | 'requested_at' | 'expires_at'
>

const gateAccounts = async (
  q: Queryable,
  now: Date,
  accountIds: readonly string[],
  lock: SqlFragment,
): Promise<GateAccount[]> =>
  (
    await q.query<{
      account_id: string
      user_profile: number
      is_enabled: boolean
      is_suspended: boolean
      created_at: Date
      changed_at: Date | null
      approves_from: Date | null
    }>(sql`
        select a.account_id, a.user_profile, a.is_enabled, coalesce(a.suspended_until > ${now}, false) as is_suspended, a.created_at, a.approves_from,
          (select case a.auth_source when 'LDAP' then g.ldap_changed_at when 'OIDC' then g.oidc_changed_at end
            from approval_gate g) as changed_at
        from accounts a where a.account_id = any(${accountIds}::uuid[]) or a.user_profile = 10
        order by a.account_id ${lock}`)
  ).map((row) => ({
    accountId: row.account_id,
    profile: row.user_profile,
    isEnabled: row.is_enabled,
    isSuspended: row.is_suspended,
    madeAt: row.created_at.getTime(),
    signInChangedAt: row.changed_at?.getTime() ?? null,
    heldUntil: row.approves_from?.getTime() ?? null,
  }))

/** Requests expire without a job: a request past its time is shown as expired. */
const state = (now: Date) =>
  sql`case when q.state = 'Waiting' and q.expires_at <= ${now} then 'Expired' else q.state end`
const shown = (now: Date) => sql`q.request_id as id, q.action, q.title, q.hosts, '' as refusal,
  case when ${state(now)} = 'Waiting' then q.details[1:${raw(String(listedRequestLines))}] else '{}' end as details,
  case when ${state(now)} = 'Waiting' then cardinality(q.details) else 0 end as lines, q.requested_by as "requestedBy",
  ${raw(utcSql('q.requested_at'))} as "requestedAt", ${raw(utcSql('q.expires_at'))} as "expiresAt", ${state(now)} as state,
  q.decided_by as "decidedBy", ${raw(utcSql('q.decided_at'))} as "decidedAt"`

const waitingRequest = async (
  q: Queryable,
  now: Date,
  id: string,
  lock: SqlFragment,
): Promise<StoredRequest | undefined> =>
  (
    await q.query<StoredRequest>(sql`
      select q.request_id, q.action, q.title, q.hosts, q.details, q.body, q.sealed, q.seal, q.shown_seal, q.requested_by,
        q.requested_by_account, q.requested_at, q.expires_at
      from change_requests q where q.request_id = ${id}::uuid and q.state = 'Waiting' and q.expires_at > ${now} ${lock}`)
  )[0]

export const createChangeRequestsStore = (db: Queryable) => ({
  /** Returns how many hosts all people together released without a second approver in the last 15 minutes. */
  recentlyReleased: async (q: Queryable, now: Date, effect: Effect): Promise<number> =>
    (
      await q.query<{ n: number }>(sql`
        select coalesce(sum(x.hosts), 0)::int as n from released_hosts x
        where x.effect = ${effect} and x.released_at > ${new Date(now.getTime() - recentMs)}`)
    )[0]?.n ?? 0,

  /** Makes parallel releases of the same effect wait until this transaction ends. */
  lockReleases: async (tx: Tx, effect: Effect): Promise<void> => {
    await lock(tx, locks.releases(effect))
  },

  noteRelease: async (tx: Tx, now: Date, effect: Effect, userName: string, hosts: number): Promise<void> => {
    await tx.execute(sql`delete from released_hosts x where x.released_at <= ${new Date(now.getTime() - recentMs)}`)
    await tx.execute(sql`
      insert into released_hosts (user_name, hosts, released_at, effect)
      values (lower(${userName}), ${hosts}::int, ${now}, ${effect})`)
  },

  insert: async (tx: Tx, r: StoredRequest): Promise<void> => {
    await tx.execute(sql`
      insert into change_requests (request_id, action, title, hosts, details, body, sealed, seal, shown_seal, requested_by,
        requested_by_account, requested_at, expires_at)
      values (${r.request_id}, ${r.action}, ${r.title}, ${r.hosts}, ${r.details}::text[], ${r.body}, ${r.sealed}, ${r.seal}, ${r.shown_seal}, ${r.requested_by},
        ${r.requested_by_account}, ${r.requested_at}, ${r.expires_at})`)
  },

  /** Returns an identical waiting request of the same person. */
  waitingDuplicate: async (tx: Tx, now: Date, by: string, body: string): Promise<string | undefined> =>
    (
      await tx.query<{ request_id: string }>(sql`
        select q.request_id from change_requests q
        where q.state = 'Waiting' and q.expires_at > ${now} and q.requested_by = ${by} and q.body = ${body}
          and q.sealed is null limit 1`)
    )[0]?.request_id,

  /** Counts waiting requests: all, and those of one account. Parallel requests are counted one after the other. */
  lockWaitingCounts: async (tx: Tx, now: Date, accountId: string | null): Promise<{ all: number; own: number }> => {
    await lock(tx, locks.changeRequests)
    const [counts] = await tx.query<{ all: number; own: number }>(sql`
      select count(*)::int as "all", count(*) filter (where q.requested_by_account = ${accountId}::uuid)::int as own
      from change_requests q where q.state = 'Waiting' and q.expires_at > ${now}`)
    return counts ?? { all: 0, own: 0 }
  },

  /** Returns a waiting request and locks it until the transaction ends. */
  lockWaiting: (tx: Tx, now: Date, id: string): Promise<StoredRequest | undefined> =>
    waitingRequest(tx, now, id, raw('for update')),

  readWaiting: (q: Queryable, now: Date, id: string): Promise<StoredRequest | undefined> =>
    waitingRequest(q, now, id, raw('')),

  decide: async (tx: Tx, now: Date, id: string, decision: 'Approved' | 'Rejected', by: string): Promise<void> => {
    await tx.execute(sql`
      update change_requests q set state = ${decision}, decided_by = ${by}, decided_at = ${now} where q.request_id = ${id}::uuid`)
  },

  one: async (q: Queryable, now: Date, id: string): Promise<ChangeRequest | undefined> =>
    (
      await q.query<ChangeRequest>(sql`select ${shown(now)} from change_requests q where q.request_id = ${id}::uuid`)
    )[0],

  recent: (now: Date, limit: number): Promise<ChangeRequest[]> =>
    db.query<ChangeRequest>(
      sql`select ${shown(now)} from change_requests q order by q.requested_at desc, q.request_id desc limit ${limit}::int`,
    ),

  /**
   * Returns accounts as the gate sees them. Locks them and every Administrator in the order of account changes, so that
   * nobody is demoted or suspended during an approval.
   */
  lockAccounts: (tx: Tx, now: Date, accountIds: readonly string[]): Promise<GateAccount[]> =>
    gateAccounts(tx, now, accountIds, raw('for update of a')),

  /** Returns the same without locks, to show who could approve. */
  accounts: (now: Date, accountIds: readonly string[]): Promise<GateAccount[]> =>
    gateAccounts(db, now, accountIds, raw('')),

  /** Returns the members of waiting requests that decide who may approve them. */
  waiting: (now: Date): Promise<PendingRequest[]> =>
    db.query<PendingRequest>(sql`
      select q.request_id, q.body, q.requested_by_account, q.requested_at, q.expires_at from change_requests q
      where q.state = 'Waiting' and q.expires_at > ${now}`),

  /** Returns what other people did to these accounts and, recursively, to those people's accounts. */
  influencesOn: async (q: Queryable, accountIds: readonly string[]): Promise<Influence[]> =>
    (
      await q.query<{
        account_id: string
        by_account: string
        how: Influence['how']
        is_approved: boolean
        at: Date
      }>(sql`
        with recursive reached(account_id) as (
          select unnest(${accountIds}::uuid[])
          union
          select i.by_account from reached r join account_influences i on i.account_id = r.account_id)
        select i.account_id, i.by_account, i.how, i.is_approved, i.at from account_influences i
        join reached r on r.account_id = i.account_id`)
    ).map((row) => ({
      accountId: row.account_id,
      by: row.by_account,
      how: row.how,
      isApproved: row.is_approved,
      at: row.at.getTime(),
    })),

  noteInfluence: async (tx: Tx, { accountId, by, how, isApproved, at }: Influence): Promise<void> => {
    await tx.execute(sql`
      delete from account_influences i
      where i.account_id = ${accountId}::uuid and i.by_account = ${by}::uuid and i.how = ${how} and i.is_approved = ${isApproved}`)
    await tx.execute(sql`
      insert into account_influences (account_id, by_account, how, is_approved, at)
      values (${accountId}::uuid, ${by}::uuid, ${how}, ${isApproved}, ${new Date(at)})`)
  },

  /** Forgets who acted on an account, or on all accounts (null). */
  forgetInfluences: async (tx: Tx, accountId: string | null): Promise<void> => {
    await tx.execute(
      sql`delete from account_influences i where ${accountId}::uuid is null or i.account_id = ${accountId}::uuid`,
    )
  },

  noteSignInChange: async (tx: Tx, now: Date, source: SignInSource): Promise<void> => {
    await tx.execute(sql`
      update approval_gate set
        ldap_changed_at = case ${source}::text when 'ldap' then ${now}::timestamptz else ldap_changed_at end,
        oidc_changed_at = case ${source}::text when 'oidc' then ${now}::timestamptz else oidc_changed_at end,
        smtp_changed_at = case ${source}::text when 'smtp' then ${now}::timestamptz else smtp_changed_at end,
        domain_changed_at = case ${source}::text when 'domain' then ${now}::timestamptz else domain_changed_at end`)
  },

  linkSettingsChangedAt: async (q: Queryable): Promise<Date | null> =>
    (
      await q.query<{ at: Date | null }>(
        sql`select greatest(g.smtp_changed_at, g.domain_changed_at) as at from approval_gate g`,
      )
    )[0]?.at ?? null,

  /** Lifts the gate until a time. After that, two Administrators latch it again. */
  lift: async (tx: Tx, until: Date): Promise<void> => {
    await tx.execute(sql`update approval_gate set is_latched = false, lifted_until = ${until}`)
  },

  /** Returns the time until which the gate is lifted, or null if it is not. */
  liftedUntil: async (q: Queryable, now: Date): Promise<Date | null> =>
    (
      await q.query<{ until: Date }>(
        sql`select g.lifted_until as until from approval_gate g where g.lifted_until > ${now}`,
      )
    )[0]?.until ?? null,

  /** Ends a lift early. Returns false if there was none. */
  endLift: async (tx: Tx, now: Date): Promise<boolean> =>
    (await tx.execute(sql`
      update approval_gate g set lifted_until = null, is_latched = g.is_latched
        or (select count(*) from accounts a where a.user_profile = 10 and a.is_enabled) >= 2
      where g.lifted_until > ${now}`)) === 1,

  /** Latches the gate again after a lift, so that disabling accounts later does not switch it off. */
  latchAgain: (q: Queryable, now: Date): Promise<number> =>
    q.execute(sql`
      update approval_gate g set is_latched = true, lifted_until = null
      where g.lifted_until <= ${now} and (select count(*) from accounts a where a.user_profile = 10 and a.is_enabled) >= 2`),

  /** Returns whether the gate is on. Two Administrators latch it; the command line lifts it for a time. */
  isLatched: async (q: Queryable, now: Date): Promise<boolean> =>
    (
      await q.query<{ latched: boolean }>(sql`
        select (g.is_latched or (select count(*) from accounts a where a.user_profile = 10 and a.is_enabled) >= 2)
          and (g.lifted_until is null or g.lifted_until <= ${now}) as latched
        from approval_gate g`)
    )[0]?.latched ?? true,
})
