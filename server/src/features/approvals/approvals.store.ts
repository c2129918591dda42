import type { ChangeRequest } from '@portcullis/contract'
import type { Queryable, Tx } from '#platform/db/db.ts'
import { raw, sql } from '#platform/db/sql.ts'
import { utcSql } from '#platform/time.ts'

/** Small steps add up over this long: longer than an impatient person waits, shorter than a shift. */
const recentMs = 15 * 60_000

/** What a release does: it frees or deletes hosts, or allows devices on them. */
export type Effect = 'release' | 'allow'

/** A request with the change it carries. */
export interface StoredRequest {
  request_id: string
  action: ChangeRequest['action']
  title: string
  hosts: number
  body: string
  /** The secret part of the change, sealed. */
  sealed: Buffer | null
  seal: Buffer
  requested_by: string
  requested_by_account: string | null
  requested_at: Date
  expires_at: Date
}

/** No job expires requests: one past its time reads as expired. */
const state = (now: Date) =>
  sql`case when q.state = 'Waiting' and q.expires_at <= ${now} then 'Expired' else q.state end`
const shown = (now: Date) => sql`q.request_id as id, q.action, q.title, q.hosts, q.requested_by as "requestedBy",
  ${raw(utcSql('q.requested_at'))} as "requestedAt", ${raw(utcSql('q.expires_at'))} as "expiresAt", ${state(now)} as state,
  q.decided_by as "decidedBy", ${raw(utcSql('q.decided_at'))} as "decidedAt"`

export const createApprovalsStore = (db: Queryable) => ({
  /** Hosts that everybody together released without a second approver in the last 15 minutes. */
  recentlyReleased: async (q: Queryable, now: Date, effect: Effect, userName: string): Promise<number> =>
    (
      await q.query<{ n: number }>(sql`
        select coalesce(sum(x.hosts), 0)::int as n from released_hosts x
        where x.effect = ${effect} and x.user_name = lower(${userName}) and x.released_at > ${new Date(now.getTime() - recentMs)}`)
    )[0]?.n ?? 0,

  /** Parallel releases of the same effect wait here until this transaction ends. */
  lockReleases: async (tx: Tx, effect: Effect): Promise<void> => {
    await tx.execute(sql`select pg_advisory_xact_lock(hashtextextended('released_hosts ' || ${effect}, 0))`)
  },

  noteRelease: async (tx: Tx, now: Date, effect: Effect, userName: string, hosts: number): Promise<void> => {
    await tx.execute(sql`delete from released_hosts x where x.released_at <= ${new Date(now.getTime() - recentMs)}`)
    await tx.execute(sql`
      insert into released_hosts (user_name, hosts, released_at, effect)
      values (lower(${userName}), ${hosts}::int, ${now}, ${effect})`)
  },

  insert: async (tx: Tx, r: StoredRequest): Promise<void> => {
    await tx.execute(sql`
      insert into change_requests (request_id, action, title, hosts, body, sealed, seal, requested_by, requested_by_account,
        requested_at, expires_at)
      values (${r.request_id}, ${r.action}, ${r.title}, ${r.hosts}, ${r.body}, ${r.sealed}, ${r.seal}, ${r.requested_by},
        ${r.requested_by_account}, ${r.requested_at}, ${r.expires_at})`)
  },

  /** The same request of the same person, still waiting. */
  waitingTwin: async (tx: Tx, now: Date, by: string, body: string): Promise<string | undefined> =>
    (
      await tx.query<{ request_id: string }>(sql`
        select q.request_id from change_requests q
        where q.state = 'Waiting' and q.expires_at > ${now} and q.requested_by = ${by} and q.body = ${body}
          and q.sealed is null limit 1`)
    )[0]?.request_id,

  waiting: async (tx: Tx, now: Date): Promise<number> =>
    (
      await tx.query<{ n: number }>(
        sql`select count(*)::int as n from change_requests q where q.state = 'Waiting' and q.expires_at > ${now}`,
      )
    )[0]?.n ?? 0,

  /** A request that waits, locked until it is decided. */
  lockWaiting: async (tx: Tx, now: Date, id: string): Promise<StoredRequest | undefined> =>
    (
      await tx.query<StoredRequest>(sql`
        select q.request_id, q.action, q.title, q.hosts, q.body, q.sealed, q.seal, q.requested_by, q.requested_by_account,
          q.requested_at, q.expires_at
        from change_requests q where q.request_id = ${id}::uuid and q.state = 'Waiting' and q.expires_at > ${now} for update`)
    )[0],

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

  /** When an account was made; undefined when it is gone. */
  accountMade: async (tx: Tx, accountId: string): Promise<Date | undefined> =>
    (
      await tx.query<{ created_at: Date }>(
        sql`select a.created_at from accounts a where a.account_id = ${accountId}::uuid`,
      )
    )[0]?.created_at,

  /** Whether the gate is on. Two Administrators latch it; the command line lifts it for a time. */
  isLatched: async (q: Queryable, now: Date): Promise<boolean> =>
    (
      await q.query<{ latched: boolean }>(sql`
        select (g.is_latched or (select count(*) from accounts a where a.user_profile = 10 and a.is_enabled) >= 2)
          and (g.lifted_until is null or g.lifted_until <= ${now}) as latched
        from approval_gate g`)
    )[0]?.latched ?? true,
})

export type ApprovalsStore = ReturnType<typeof createApprovalsStore>
