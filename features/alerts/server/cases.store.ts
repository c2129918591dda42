import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import type { AlertAction } from '#features/contract.ts'
import { findingsOfAlerts } from '#features/devices/server/index.ts'
import { ownerSql } from './cases.read.ts'

/** An alert as its handling reads it. */
export interface CaseRow {
  notice_id: number
  kind: string
  subject: string
  entity_type: string
  title: string
  severity: number
  is_closed: boolean
  is_snoozed: boolean
  snoozed_until: Date | null
  owner_id: string | null
  /** Name of the owner; empty: none. */
  owner: string
  opened_at: Date
  acknowledged_at: Date | null
}

/** An entry of the history. */
export interface HistoryWrite {
  alertId: number
  by: string
  action: AlertAction
  detail?: string
  comment?: string
  acknowledgedS?: number | null
  closedS?: number | null
}

export const createCasesStore = () => ({
  /** Locks and returns alerts in the order of their ids. */
  lock: (tx: Tx, ids: readonly number[]): Promise<CaseRow[]> =>
    tx.query<CaseRow>(sql`
      select n.notice_id, n.kind, n.subject, n.entity_type, n.title, n.severity, n.dismissed_at is not null as is_closed,
        n.snoozed_until is not null as is_snoozed, n.snoozed_until, n.owner_id, ${raw(ownerSql)} as owner,
        coalesce(n.opened_at, n.created_at) as opened_at,
        n.acknowledged_at
      from notices n where n.notice_id = any(${ids}::int[]) order by n.notice_id for update`),

  /** Closes alerts and removes their pins. */
  close: async (tx: Tx, ids: readonly number[], at: Date, by: string, verdict: string, comment: string) => {
    await tx.execute(sql`
      update notices n set dismissed_at = ${at}, dismissed_by = ${by}, verdict = ${verdict}, comment = ${comment}, snoozed_until = null
      where n.notice_id = any(${ids}::int[])`)
    await tx.execute(sql`delete from notice_pins p where p.notice_id = any(${ids}::int[])`)
  },

  /** Reopens closed alerts. The closing that this undoes no longer counts for the times; one of an earlier case does. */
  reopen: async (tx: Tx, ids: readonly number[]): Promise<void> => {
    await tx.execute(sql`
      update notices n set dismissed_at = null, dismissed_by = '', verdict = '', comment = '' where n.notice_id = any(${ids}::int[])`)
    await tx.execute(sql`
      update alert_history h set closed_s = null
      where h.closed_s is not null and h.history_id in (
        select max(l.history_id) from alert_history l
        where l.notice_id = any(${ids}::int[]) and l.action in ('closed', 'ended', 'reopened') group by l.notice_id)`)
  },

  assign: async (tx: Tx, ids: readonly number[], ownerId: string | null): Promise<void> => {
    await tx.execute(sql`update notices n set owner_id = ${ownerId}::uuid where n.notice_id = any(${ids}::int[])`)
  },

  snooze: async (tx: Tx, ids: readonly number[], until: Date | null): Promise<void> => {
    await tx.execute(
      sql`update notices n set snoozed_until = ${until}::timestamptz where n.notice_id = any(${ids}::int[])`,
    )
  },

  /** Records the first action of a person on alerts. */
  acknowledge: async (tx: Tx, ids: readonly number[], at: Date): Promise<void> => {
    await tx.execute(sql`
      update notices n set acknowledged_at = ${at} where n.notice_id = any(${ids}::int[]) and n.acknowledged_at is null`)
  },

  /** Locks the alerts whose snooze or mute is over, in the order of their ids. */
  lockDue: async (tx: Tx, now: Date): Promise<void> => {
    await tx.query(sql`
      select n.notice_id from notices n where n.snoozed_until <= ${now} or n.notice_id in (
        select m.notice_id from alert_mutes u join notices m on m.kind = u.kind and m.subject = u.model where u.until <= ${now})
      order by n.notice_id for update`)
  },

  /** Ends the snoozes that are over and makes these alerts unread. Returns them. */
  wake: (tx: Tx, now: Date, turn: number): Promise<{ notice_id: number }[]> =>
    tx.query<{ notice_id: number }>(sql`
      update notices n set snoozed_until = null, turn = ${turn}::bigint where n.snoozed_until <= ${now} returning n.notice_id`),

  isDue: async (q: Queryable, now: Date): Promise<boolean> =>
    (await q.query(sql`select 1 from notices n where n.snoozed_until <= ${now} limit 1`)).length > 0,

  /** Returns the first of some findings that these alerts are not about; null: none. The alerts can be about all hosts. */
  otherFinding: async (tx: Tx, ids: readonly number[], findings: readonly number[]): Promise<number | null> =>
    (
      await tx.query<{ id: number }>(sql`
        select u.id from unnest(${findings}::bigint[]) with ordinality u(id, n)
        where not exists (select from (${findingsOfAlerts(sql`${ids}::int[]`)}) k where k.finding_id = u.id)
        order by u.n limit 1`)
    )[0]?.id ?? null,

  /** Returns an enabled account by the key of its name. */
  owner: async (tx: Tx, nameKey: string): Promise<{ account_id: string; user_name: string } | undefined> =>
    (
      await tx.query<{ account_id: string; user_name: string }>(sql`
        select a.account_id, a.user_name from accounts a where a.name_key = ${nameKey} and a.is_enabled for key share`)
    )[0],

  note: async (tx: Tx, entries: readonly HistoryWrite[], at: Date): Promise<void> => {
    if (entries.length === 0) return
    await tx.execute(sql`
      insert into alert_history (notice_id, at, by, action, detail, comment, acknowledged_s, closed_s)
      select u.notice_id, ${at}, u.by, u.action, u.detail, u.comment, u.acknowledged_s, u.closed_s
      from ${unnestOf([
        [entries.map((e) => e.alertId), 'int[]'],
        [entries.map((e) => e.by), 'text[]'],
        [entries.map((e) => e.action), 'text[]'],
        [entries.map((e) => e.detail ?? ''), 'text[]'],
        [entries.map((e) => e.comment ?? ''), 'text[]'],
        [entries.map((e) => e.acknowledgedS ?? null), 'int[]'],
        [entries.map((e) => e.closedS ?? null), 'int[]'],
      ])} with ordinality u(notice_id, by, action, detail, comment, acknowledged_s, closed_s, ord)
      order by u.ord`)
  },
})
