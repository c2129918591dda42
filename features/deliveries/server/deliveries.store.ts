import { mustExist } from '@portcullis/domain'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { breaksAfter } from './backoff.ts'

export interface NewDelivery {
  id: string
  groupId: number
  groupName: string
  channel: 'email' | 'webhook'
  target: string
  destination: string
  title: string
  /** The exact content of every attempt. */
  body: string
  /** Ids of the alerts it is about. */
  notices: readonly number[]
}

/** A delivery that a sender holds. */
export interface LeasedDelivery {
  delivery_id: string
  group_id: number
  channel: 'email' | 'webhook'
  destination: string
  title: string
  body: string
  attempts: number
  fence: number
}

/** A delivery about one alert. */
export interface AlertDeliveryRow {
  group_name: string
  channel: string
  destination: string
  state: string
  created_at: Date
}

export interface DeliveriesState {
  /** Messages that wait after an attempt. */
  waiting: number
  /** Mails that wait after an attempt and are not in `waiting`. */
  left_out: number
  failed: number
  oldest: Date | null
  error: string
}

export const createDeliveriesStore = () => ({
  insert: async (tx: Tx, rows: readonly NewDelivery[], now: Date): Promise<void> => {
    if (rows.length === 0) return
    await tx.execute(sql`
      insert into deliveries (delivery_id, group_id, group_name, channel, target, destination, title, body, notices, created_at, next_at)
      select u.id, u.group_id, u.group_name, u.channel, u.target, u.destination, u.title, u.body,
        string_to_array(nullif(u.notices, ''), ',')::int[], ${now}, ${now}
      from ${unnestOf([
        [rows.map((r) => r.id), 'uuid[]'],
        [rows.map((r) => r.groupId), 'int[]'],
        [rows.map((r) => r.groupName), 'text[]'],
        [rows.map((r) => r.channel), 'text[]'],
        [rows.map((r) => r.target), 'text[]'],
        [rows.map((r) => r.destination), 'text[]'],
        [rows.map((r) => r.title), 'text[]'],
        [rows.map((r) => r.body), 'text[]'],
        [rows.map((r) => r.notices.join(',')), 'text[]'],
      ])} u(id, group_id, group_name, channel, target, destination, title, body, notices)`)
  },

  /** Returns the receivers for which a message or a probe is due. */
  dueTargets: async (q: Queryable, now: Date): Promise<string[]> =>
    (
      await q.query<{ target: string }>(sql`
        select distinct d.target from deliveries d left join delivery_targets t on t.target = d.target
        where d.state = 'waiting' and (d.lease_until is null or d.lease_until <= ${now})
          and case when t.failures >= ${breaksAfter}::int then t.probe_at <= ${now} else d.next_at <= ${now} end`)
    ).map(({ target }) => target),

  /** Leases the due deliveries of a receiver, oldest first; for a failing one, a single probe. */
  lease: (q: Queryable, target: string, now: Date, until: Date, limit: number): Promise<LeasedDelivery[]> =>
    q.query<LeasedDelivery>(sql`
      with t as materialized (
        select coalesce((select x.failures from delivery_targets x where x.target = ${target}), 0) >= ${breaksAfter}::int as is_broken,
          (select x.probe_at from delivery_targets x where x.target = ${target}) as probe_at),
      chosen as materialized (
        select d.delivery_id from deliveries d, t
        where d.target = ${target} and d.state = 'waiting' and (d.lease_until is null or d.lease_until <= ${now})
          and case when t.is_broken then t.probe_at <= ${now} else d.next_at <= ${now} end
        -- The probe is the least recently tried delivery, so that one that always fails does not block all others.
        order by case when t.is_broken then d.next_at end, d.created_at, d.delivery_id
        limit (select case when t.is_broken then 1 else ${limit}::int end from t)
        for update of d skip locked),
      leased as (
        update deliveries d set lease_until = ${until}, fence = d.fence + 1, attempts = d.attempts + 1
        from chosen c where d.delivery_id = c.delivery_id
        returning d.delivery_id, d.group_id, d.channel, d.destination, d.title, d.body, d.attempts, d.fence, d.created_at)
      select l.* from leased l order by l.created_at, l.delivery_id`),

  /** Ends or postpones a leased delivery. Returns false if another server holds it now. */
  settle: async (
    q: Queryable,
    { delivery_id, fence }: Pick<LeasedDelivery, 'delivery_id' | 'fence'>,
    change: {
      state: 'waiting' | 'delivered' | 'failed' | 'dropped'
      nextAt: Date
      endedAt: Date | null
      error: string
      /** Actual destination; null: as planned. */
      destination: string | null
    },
  ): Promise<boolean> =>
    (await q.execute(sql`
      update deliveries d set state = ${change.state}, next_at = ${change.nextAt}, ended_at = ${change.endedAt}::timestamptz,
        error = ${change.error}, lease_until = null, destination = coalesce(${change.destination}::text, d.destination)
      where d.delivery_id = ${delivery_id}::uuid and d.fence = ${fence}::int and d.state = 'waiting'`)) === 1,

  /** Releases leased deliveries that were not tried. */
  release: async (q: Queryable, rows: readonly Pick<LeasedDelivery, 'delivery_id' | 'fence'>[]): Promise<void> => {
    await q.execute(sql`
      update deliveries d set lease_until = null, attempts = d.attempts - 1
      from ${unnestOf([
        [rows.map((r) => r.delivery_id), 'uuid[]'],
        [rows.map((r) => r.fence), 'int[]'],
      ])} u(id, fence) where d.delivery_id = u.id and d.fence = u.fence and d.state = 'waiting'`)
  },

  targetFailed: async (q: Queryable, target: string, now: Date, probeAt: Date, error: string): Promise<void> => {
    await q.execute(sql`
      insert into delivery_targets (target, failures, probe_at, failed_at, error)
      values (${target}, 1, ${probeAt}, ${now}, ${error})
      on conflict (target) do update set failures = delivery_targets.failures + 1, probe_at = excluded.probe_at,
        failed_at = excluded.failed_at, error = excluded.error`)
  },

  /**
   * Marks a receiver as working. After failures, all its deliveries are due now. Otherwise, only those for this
   * destination are.
   */
  targetWorks: async (q: Queryable, target: string, destination: string, now: Date): Promise<void> => {
    const [before] = await q.query<{ failures: number }>(sql`
      insert into delivery_targets (target, succeeded_at) values (${target}, ${now})
      on conflict (target) do update set succeeded_at = excluded.succeeded_at
      returning failures`)
    const hadFailed = (before?.failures ?? 0) > 0
    if (hadFailed)
      await q.execute(
        sql`update delivery_targets t set failures = 0, probe_at = null, error = '' where t.target = ${target}`,
      )
    await q.execute(sql`
      update deliveries d set next_at = ${now}
      where d.target = ${target} and d.state = 'waiting' and d.next_at > ${now}
        and (${hadFailed}::boolean or d.destination = ${destination})`)
  },

  /** Locks deliveries to retry or drop. Null ids select all that are stuck, up to `limit`. */
  lockStuck: (
    tx: Tx,
    ids: readonly string[] | null,
    limit: number,
  ): Promise<{ delivery_id: string; target: string; title: string }[]> =>
    tx.query(sql`
      select d.delivery_id, d.target, d.title from deliveries d
      where d.state in ('waiting', 'failed')
        and (${ids}::text[] is not null and d.delivery_id::text = any(${ids}::text[])
          or ${ids}::text[] is null and (d.state = 'failed' or d.attempts > 0 and d.lease_until is null))
      order by d.delivery_id limit ${limit}::int for update`),

  retry: async (tx: Tx, ids: readonly string[], targets: readonly string[], now: Date): Promise<void> => {
    await tx.execute(sql`
      update deliveries d set state = 'waiting', next_at = ${now}, ended_at = null, lease_until = null, fence = d.fence + 1
      where d.delivery_id = any(${ids}::uuid[])`)
    await tx.execute(sql`
      update delivery_targets t set probe_at = ${now} where t.target = any(${targets}::text[]) and t.failures > 0`)
  },

  drop: async (tx: Tx, ids: readonly string[], now: Date, why: string): Promise<void> => {
    await tx.execute(sql`
      update deliveries d set state = 'dropped', ended_at = ${now}, lease_until = null, fence = d.fence + 1, error = ${why}
      where d.delivery_id = any(${ids}::uuid[])`)
  },

  about: (q: Queryable, alertId: number, limit: number): Promise<AlertDeliveryRow[]> =>
    q.query<AlertDeliveryRow>(sql`
      select d.group_name, d.channel, d.destination, d.state, d.created_at from deliveries d
      where d.notices @> array[${alertId}::int] order by d.created_at desc, d.delivery_id limit ${limit}::int`),

  /** Returns the current problems. `withMail` false leaves out mails that wait for the mail server. */
  state: async (q: Queryable, withMail = true): Promise<DeliveriesState> =>
    mustExist(
      (
        await q.query<DeliveriesState>(sql`
        with tried as materialized (
          select d.created_at, ${withMail}::boolean or d.channel <> 'email'
            or not exists (select from delivery_targets t where t.target = 'email' and t.failures > 0) as counts from deliveries d
          where d.state = 'waiting' and d.attempts > 0 and d.lease_until is null)
        select (select count(*)::int from tried w where w.counts) as waiting,
          (select count(*)::int from tried w where not w.counts) as left_out,
          (select count(*)::int from deliveries d where d.state = 'failed') as failed,
          (select min(w.created_at) from tried w where w.counts) as oldest,
          coalesce((select t.error from delivery_targets t where t.failures > 0 and (t.target <> 'email' or ${withMail}::boolean)
            order by t.failed_at desc limit 1), '') as error`)
      )[0],
      'the row of problems',
    ),

  forget: (q: Queryable, before: Date): Promise<number> =>
    q.execute(sql`delete from deliveries d where d.state in ('delivered', 'dropped') and d.ended_at < ${before}`),
})
