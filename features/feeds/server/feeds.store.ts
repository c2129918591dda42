import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

export interface RecentError {
  at: string
  line: number
  code: string
  message: string
}

export interface RecentLine {
  at: string
  host: string
  device: string
}

export interface FeedRow {
  feed_id: string
  name: string
  token_id: string
  new_hosts_per_hour: number
  keep_days: number
  time_zone: string
  created_at: Date
  created_by: string
  last_at: Date | null
  stored: number
  duplicates: number
  ignored: number
  covered: number
  refused: number
  failed: number
  recent_errors: RecentError[]
  recent_lines: RecentLine[]
  hour_at: Date
  hour_hosts: number
}

export interface SeenHost {
  host: string
  first: Date
  last: Date
  events: number
}

export interface SeenDevice {
  agentId: string
  instance: string
  said: unknown
  at: Date
}

export interface FeedHostRow {
  agent_id: string
  first_event: Date
  last_event: Date
  received_at: Date
  events: number
  feeds: string[]
}

/** Maximum devices of one host, over all feeds. A report contains at most 512. */
const maxDevices = 512

export const createFeedsStore = () => ({
  list: (q: Queryable): Promise<(FeedRow & { hosts: number })[]> =>
    q.query(sql`
      select f.*, (select count(distinct d.agent_id)::int from feed_devices d where d.feed_id = f.feed_id) as hosts
      from feeds f order by lower(f.name)`),

  one: async (q: Queryable, feedId: string): Promise<FeedRow | undefined> =>
    (await q.query<FeedRow>(sql`select f.* from feeds f where f.feed_id = ${feedId}::uuid`))[0],

  /** Locks all feeds, so that only one request at a time adds hosts. */
  lock: (tx: Tx): Promise<FeedRow[]> => tx.query<FeedRow>(sql`select f.* from feeds f order by f.feed_id for update`),

  insert: async (tx: Tx, f: FeedRow): Promise<boolean> =>
    (await tx.execute(sql`
      insert into feeds (feed_id, name, token_id, new_hosts_per_hour, keep_days, time_zone, created_at, created_by, hour_at)
      values (${f.feed_id}::uuid, ${f.name}, ${f.token_id}::uuid, ${f.new_hosts_per_hour}::int, ${f.keep_days}::int,
        ${f.time_zone}, ${f.created_at}, ${f.created_by}, ${f.hour_at}) on conflict do nothing`)) === 1,

  /** Changes a feed. Returns false if another feed has the token. */
  update: async (
    tx: Tx,
    feedId: string,
    change: {
      tokenId: string | null
      newHostsPerHour: number | null
      keepDays: number | null
      timeZone: string | null
    },
  ): Promise<boolean> =>
    (await tx.execute(sql`
      update feeds f set token_id = coalesce(${change.tokenId}::uuid, f.token_id),
        new_hosts_per_hour = coalesce(${change.newHostsPerHour}::int, f.new_hosts_per_hour),
        keep_days = coalesce(${change.keepDays}::int, f.keep_days),
        time_zone = coalesce(${change.timeZone}::text, f.time_zone)
      where f.feed_id = ${feedId}::uuid
        and not exists (select from feeds o where o.token_id = ${change.tokenId}::uuid and o.feed_id <> f.feed_id)`)) ===
    1,

  remove: async (tx: Tx, feedId: string): Promise<void> => {
    await tx.execute(sql`
      update feed_hosts h set seq = h.seq + 1
      where h.agent_id in (select d.agent_id from feed_devices d where d.feed_id = ${feedId}::uuid)`)
    await tx.execute(sql`delete from feeds f where f.feed_id = ${feedId}::uuid`)
  },

  /** Returns those of the digests that were stored before. */
  seen: async (tx: Queryable, feedId: string, digests: readonly Buffer[]): Promise<Set<string>> =>
    new Set(
      (
        await tx.query<{ digest: Buffer }>(sql`
          select s.digest from feed_seen s where s.feed_id = ${feedId}::uuid and s.digest = any(${digests}::bytea[])`)
      ).map((row) => row.digest.toString('hex')),
    ),

  addSeen: async (tx: Tx, feedId: string, digests: readonly Buffer[], now: Date): Promise<void> => {
    await tx.execute(sql`
      insert into feed_seen (feed_id, digest, seen_at) select ${feedId}::uuid, u.digest, ${now}::timestamptz
      from ${unnestOf([[digests, 'bytea[]']])} u(digest) on conflict do nothing`)
  },

  /**
   * Returns those of the names whose host has an agent or is polled. A name without a domain matches the same name in
   * any domain, because agents report either.
   */
  covered: async (tx: Queryable, hosts: readonly string[]): Promise<Set<string>> => {
    const rows = await tx.query<{ host: string }>(sql`
      select u.host from ${unnestOf([[hosts, 'text[]']])} u(host)
      where exists (select from agent_rows r where r.host in (u.host, split_part(u.host, '.', 1)) and not r.feed)
        or (strpos(u.host, '.') = 0
          and exists (select from agent_rows r where split_part(r.host, '.', 1) = u.host and not r.feed))`)
    return new Set(rows.map((row) => row.host))
  },

  hosts: async (tx: Queryable, hosts: readonly string[]): Promise<Map<string, string>> =>
    new Map(
      (
        await tx.query<{ host: string; agent_id: string }>(
          sql`select h.host, h.agent_id from feed_hosts h where h.host = any(${hosts}::text[])`,
        )
      ).map((row) => [row.host, row.agent_id]),
    ),

  /** Adds hosts, or the events of known ones. Requests a report at most once an hour, which updates when the host was seen. */
  saveHosts: async (tx: Tx, now: Date, hosts: readonly (SeenHost & { agentId: string })[]): Promise<void> => {
    await tx.execute(sql`
      insert into feed_hosts as h (agent_id, host, first_event, last_event, received_at, events, seq)
      select u.agent_id, u.host, u.first, u.last, ${now}::timestamptz, u.events, 1 from ${unnestOf([
        [hosts.map((one) => one.agentId), 'uuid[]'],
        [hosts.map((one) => one.host), 'text[]'],
        [hosts.map((one) => one.first), 'timestamptz[]'],
        [hosts.map((one) => one.last), 'timestamptz[]'],
        [hosts.map((one) => one.events), 'int[]'],
      ])} u(agent_id, host, first, last, events) order by u.agent_id
      on conflict (agent_id) do update set first_event = least(h.first_event, excluded.first_event),
        last_event = greatest(h.last_event, excluded.last_event), received_at = excluded.received_at,
        events = h.events + excluded.events,
        seq = h.seq + case when h.received_at < ${now}::timestamptz - interval '1 hour' then 1 else 0 end`)
  },

  /** Stores devices, and requests a report of the hosts on which one is new or different. */
  saveDevices: async (tx: Tx, feedId: string, devices: readonly SeenDevice[]): Promise<void> => {
    await tx.execute(sql`
      with u as materialized (
        select u.agent_id, u.instance, u.said::jsonb as said, u.at from ${unnestOf([
          [devices.map((one) => one.agentId), 'uuid[]'],
          [devices.map((one) => one.instance), 'text[]'],
          [devices.map((one) => JSON.stringify(one.said)), 'text[]'],
          [devices.map((one) => one.at), 'timestamptz[]'],
        ])} u(agent_id, instance, said, at)),
      changed as materialized (
        select distinct u.agent_id from u left join feed_devices d
          on d.agent_id = u.agent_id and d.feed_id = ${feedId}::uuid and d.instance = u.instance
        where d.instance is null or d.said <> u.said),
      saved as (
        insert into feed_devices as d (agent_id, feed_id, instance, said, last_event)
        select u.agent_id, ${feedId}::uuid, u.instance, u.said, u.at from u order by u.agent_id, u.instance
        on conflict (agent_id, feed_id, instance) do update set said = excluded.said,
          last_event = greatest(d.last_event, excluded.last_event))
      update feed_hosts h set seq = h.seq + 1 from changed c where h.agent_id = c.agent_id`)
    await tx.execute(sql`
      delete from feed_devices d using (
        select x.agent_id, x.feed_id, x.instance, row_number() over (partition by x.agent_id order by x.last_event desc, x.instance) as n
        from feed_devices x where x.agent_id = any(${[...new Set(devices.map((one) => one.agentId))]}::uuid[])) o
      where o.n > ${maxDevices}::int and d.agent_id = o.agent_id and d.feed_id = o.feed_id and d.instance = o.instance`)
  },

  /** Stores how many hosts were new in the running hour. */
  countHosts: async (tx: Tx, feedId: string, hour: { at: Date; hosts: number }): Promise<void> => {
    await tx.execute(sql`
      update feeds f set hour_at = ${hour.at}, hour_hosts = ${hour.hosts}::int where f.feed_id = ${feedId}::uuid`)
  },

  count: async (
    tx: Tx,
    feedId: string,
    now: Date,
    counts: Record<'stored' | 'duplicates' | 'ignored' | 'covered' | 'refused' | 'failed', number>,
    recent: { errors: readonly RecentError[]; lines: readonly RecentLine[] },
  ): Promise<void> => {
    await tx.execute(sql`
      update feeds f set last_at = ${now}, stored = f.stored + ${counts.stored}::int, duplicates = f.duplicates + ${counts.duplicates}::int,
        ignored = f.ignored + ${counts.ignored}::int, covered = f.covered + ${counts.covered}::int,
        refused = f.refused + ${counts.refused}::int, failed = f.failed + ${counts.failed}::int,
        recent_errors = ${JSON.stringify(recent.errors)}::text::jsonb, recent_lines = ${JSON.stringify(recent.lines)}::text::jsonb
      where f.feed_id = ${feedId}::uuid`)
  },

  /** Returns hosts whose devices changed since their last report. */
  due: async (q: Queryable, limit: number): Promise<{ agent_id: string; seq: number; received_at: Date }[]> =>
    q.query(sql`
      select h.agent_id, h.seq, h.received_at from feed_hosts h where h.seq > h.reported_seq order by h.agent_id limit ${limit}::int`),

  devicesOf: (
    q: Queryable,
    agentIds: readonly string[],
  ): Promise<{ agent_id: string; instance: string; said: unknown; last_event: Date }[]> =>
    q.query(sql`
      select distinct on (d.agent_id, d.instance) d.agent_id, d.instance, d.said, d.last_event from feed_devices d
      where d.agent_id = any(${agentIds}::uuid[]) order by d.agent_id, d.instance, d.last_event desc`),

  reported: async (tx: Queryable, rows: readonly { agent_id: string; seq: number }[]): Promise<void> => {
    await tx.execute(sql`
      update feed_hosts h set reported_seq = u.seq from ${unnestOf([
        [rows.map((row) => row.agent_id), 'uuid[]'],
        [rows.map((row) => row.seq), 'int[]'],
      ])} u(agent_id, seq) where h.agent_id = u.agent_id and h.reported_seq < u.seq`)
  },

  host: async (q: Queryable, agentId: string): Promise<FeedHostRow | undefined> =>
    (
      await q.query<FeedHostRow>(sql`
        select h.agent_id, h.first_event, h.last_event, h.received_at, h.events, array(
          select distinct f.name from feed_devices d join feeds f on f.feed_id = d.feed_id
          where d.agent_id = h.agent_id order by f.name) as feeds
        from feed_hosts h where h.agent_id = ${agentId}::uuid`)
    )[0],

  /** Deletes devices without an event for the time that their feed keeps them, and requests reports of their hosts. */
  forgetDevices: async (tx: Tx, now: Date): Promise<void> => {
    await tx.execute(sql`
      with old as (
        delete from feed_devices d using feeds f
        where f.feed_id = d.feed_id and d.last_event < ${now}::timestamptz - make_interval(days => f.keep_days)
        returning d.agent_id)
      update feed_hosts h set seq = h.seq + 1 where h.agent_id in (select o.agent_id from old o)`)
  },

  forgetSeen: (tx: Tx, before: Date): Promise<number> =>
    tx.execute(sql`
      delete from feed_seen s where (s.feed_id, s.digest) in (
        select x.feed_id, x.digest from feed_seen x where x.seen_at < ${before} order by x.seen_at limit 50000)`),

  /** Returns hosts that received no devices since `before`, and hosts that an agent or a poll shows now. */
  replaced: async (q: Queryable, before: Date): Promise<string[]> =>
    (
      await q.query<{ agent_id: string }>(sql`
        select h.agent_id from feed_hosts h
        where (h.received_at < ${before} and not exists (select from feed_devices d where d.agent_id = h.agent_id))
          or exists (select from agent_rows r where r.host in (h.host, split_part(h.host, '.', 1)) and not r.feed)
          or (strpos(h.host, '.') = 0
            and exists (select from agent_rows r where split_part(r.host, '.', 1) = h.host and not r.feed))
        order by h.agent_id limit 2000`)
    ).map((row) => row.agent_id),

  silent: async (q: Queryable, before: Date): Promise<string[]> =>
    (
      await q.query<{ agent_id: string }>(sql`
        select h.agent_id from feed_hosts h join agent_rows r on r.agent_id = h.agent_id
        where h.received_at < ${before} and r.connected order by h.agent_id limit 2000`)
    ).map((row) => row.agent_id),
})
