import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'
import type { AlertKind, AlertMute } from '#features/contract.ts'

/** A mute that is over. */
interface EndedMute {
  kind: string
  model: string
  suppressed: number
}

/** An alert that reopened after its mute. */
export interface HeldBack {
  notice_id: number
  title: string
  severity: number
  suppressed: number
}

export const createMutesStore = () => ({
  list: (q: Queryable, now: Date): Promise<AlertMute[]> =>
    q.query<AlertMute>(sql`
      select u.mute_id as "id", u.kind as "kind", u.model as "model", coalesce(trim(m.vendor || ' ' || m.product), '') as "name",
        ${raw(utcSql('u.until'))} as "until", u.reason as "reason", u.created_by as "createdBy",
        ${raw(utcSql('u.created_at'))} as "creationTime", u.suppressed as "suppressed"
      from alert_mutes u
        left join models m on m.vid = split_part(u.model, ':', 1) and m.pid = split_part(u.model, ':', 2)
      where u.until > ${now} order by u.until, u.mute_id`),

  add: async (
    tx: Tx,
    mute: { kind: string; model: string; until: Date; reason: string; by: string },
    now: Date,
  ): Promise<number> => {
    const [row] = await tx.query<{ mute_id: number }>(sql`
      insert into alert_mutes (kind, model, until, reason, created_at, created_by)
      values (${mute.kind}, ${mute.model}, ${mute.until}, ${mute.reason}, ${now}, ${mute.by})
      on conflict (kind, model) do update set until = excluded.until, reason = excluded.reason, created_at = excluded.created_at,
        created_by = excluded.created_by
      returning mute_id`)
    return (row as { mute_id: number }).mute_id
  },

  /** Ends a mute now. `takeOver` deletes it. */
  end: async (tx: Tx, id: number, now: Date): Promise<{ kind: AlertKind; model: string } | undefined> =>
    (
      await tx.query<{ kind: AlertKind; model: string }>(
        sql`update alert_mutes u set until = ${now} where u.mute_id = ${id}::int and u.until > ${now} returning u.kind, u.model`,
      )
    )[0],

  /** Deletes the mutes of locked alerts. Returns the ids of these alerts. */
  endOf: async (tx: Tx, alertIds: readonly number[]): Promise<number[]> =>
    (
      await tx.query<{ notice_id: number }>(sql`
        delete from alert_mutes u using notices n
        where n.notice_id = any(${alertIds}::int[]) and u.kind = n.kind and u.model = n.subject returning n.notice_id`)
    ).map((row) => row.notice_id),

  /** Counts the events of muted subjects, and returns these subjects. */
  suppress: (
    tx: Tx,
    ones: readonly { kind: string; subject: string; count: number }[],
    now: Date,
  ): Promise<{ kind: string; subject: string }[]> =>
    tx.query<{ kind: string; subject: string }>(sql`
      update alert_mutes u set suppressed = u.suppressed + k.count
      from ${unnestOf([
        [ones.map((one) => one.kind), 'text[]'],
        [ones.map((one) => one.subject), 'text[]'],
        [ones.map((one) => one.count), 'int[]'],
      ])} k(kind, subject, count)
      where u.kind = k.kind and u.model = k.subject and u.until > ${now}
      returning u.kind, u.model as subject`),

  isDue: async (q: Queryable, now: Date): Promise<boolean> =>
    (await q.query(sql`select 1 from alert_mutes u where u.until <= ${now} limit 1`)).length > 0,

  /** Deletes and returns the mutes that are over. */
  takeOver: (tx: Tx, now: Date): Promise<EndedMute[]> =>
    tx.query<EndedMute>(sql`
      delete from alert_mutes u where u.until <= ${now} returning u.kind, u.model, u.suppressed`),

  /** Reopens closed alerts of subjects as unread. Returns them. */
  reopen: (tx: Tx, mutes: readonly EndedMute[], turn: number, now: Date): Promise<HeldBack[]> =>
    tx.query<HeldBack>(sql`
      update notices n set dismissed_at = null, dismissed_by = '', verdict = '', comment = '', owner_id = null, acknowledged_at = null,
        opened_at = ${now}, turn = ${turn}::bigint, turned_at = ${now}
      from ${unnestOf([
        [mutes.map((one) => one.kind), 'text[]'],
        [mutes.map((one) => one.model), 'text[]'],
        [mutes.map((one) => one.suppressed), 'int[]'],
      ])} k(kind, subject, suppressed)
      where n.kind = k.kind and n.subject = k.subject and n.dismissed_at is not null
      returning n.notice_id, n.title, n.severity, k.suppressed`),
})
