import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { locks, tryLock } from '@portcullis/platform/server/db/locks.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import type { AlertKind } from '#features/contract.ts'
import { eventsKept, floodMs, floodSubject } from './aggregate.ts'

/** A stored alert. */
export interface AlertRow {
  notice_id: number
  kind: string
  subject: string
  title: string
  severity: number
  status: string
  count: number
  last_at: Date
  /** Tags of the affected hosts, joined by commas. */
  hashtags: string
  /** Last time that it became unread. */
  turned_at: Date
  is_dismissed: boolean
  is_snoozed: boolean
  /** Hosts since it opened. */
  host_count: number
}

/** Hosts of an open alert in a run of events. */
export interface HostsRow {
  notice_id: number
  /** Hosts of the run that are new to the alert. */
  added: number
  /** Hosts that joined the alert recently, before this run. */
  recent: number
}

/** Recent alerts of a kind from one host. */
export interface BusyRow {
  kind: string
  /** Host; empty: none. */
  opened_by: string
  is_flood: boolean
  is_host_flood: boolean
  recent: number
}

/** An alert as the follower writes it. */
export interface AlertWrite {
  kind: string
  subject: string
  title: string
  description: string
  severity: number
  status: string
  entityType: string
  entityId: string
  link: string
  tags: string
  firstAt: Date
  lastAt: Date
  /** Added to the stored count. */
  count: number
  /** Replaces the stored number of hosts. */
  hostCount: number
  /** Newest first. */
  events: readonly number[]
  /** Null: it stays read or unread, and open or closed. */
  turn: number | null
  /** Host that caused it; empty: none. */
  openedBy: string
}

const reopens = raw('excluded.turn > 0 and n.dismissed_at is not null')

export const createAlertsStore = () => ({
  /** Locks and returns the follower's position; undefined while another replica has it. */
  lockFollower: async (tx: Tx): Promise<{ event_id: number; turn: number } | undefined> =>
    (
      await tx.query<{ event_id: number; turn: number }>(
        sql`select f.event_id, f.turn from notice_follower f for update skip locked`,
      )
    )[0],

  moveFollower: async (tx: Tx, eventId: number, turn: number): Promise<void> => {
    await tx.execute(sql`update notice_follower f set event_id = ${eventId}::bigint, turn = ${turn}::bigint`)
  },

  followedTo: async (q: Queryable): Promise<number> =>
    (await q.query<{ event_id: number }>(sql`select f.event_id from notice_follower f`))[0]?.event_id ?? 0,

  /** Returns the alerts of these subjects and of floods. */
  known: (tx: Tx, keys: readonly { kind: string; subject: string }[]): Promise<AlertRow[]> =>
    tx.query<AlertRow>(sql`
      select n.notice_id, n.kind, n.subject, n.title, n.severity, n.status, n.count, n.last_at, n.hashtags, n.turned_at,
        n.dismissed_at is not null as is_dismissed, n.snoozed_until is not null as is_snoozed, n.host_count
      from notices n join ${unnestOf([
        [keys.map((k) => k.kind), 'text[]'],
        [keys.map((k) => k.subject), 'text[]'],
      ])} k(kind, subject) on n.kind = k.kind and n.subject = k.subject
      order by n.notice_id for update of n`),

  /** Returns recent activity per kind: hosts that caused alerts within the last minute, and recent floods. */
  busy: async (tx: Tx, now: Date): Promise<BusyRow[]> =>
    tx.query<BusyRow>(sql`
      select n.kind, n.opened_by, n.subject = ${floodSubject} as is_flood, n.subject like ${`${floodSubject} %`} as is_host_flood,
        count(*)::int as recent
      from notices n
      where n.dismissed_at is null and n.kind <> 'health'
        and (n.turned_at > ${new Date(now.getTime() - 60_000)}
          or n.turned_at > ${new Date(now.getTime() - floodMs)} and n.subject like ${`${floodSubject}%`})
      group by 1, 2, 3, 4`),

  /** Creates alerts or adds to them. Returns their ids in the given order. */
  write: async (tx: Tx, writes: readonly AlertWrite[], now: Date): Promise<number[]> => {
    const rows = await tx.query<{ notice_id: number }>(sql`
      with u as (
        select * from ${unnestOf([
          [writes.map((w) => w.kind), 'text[]'],
          [writes.map((w) => w.subject), 'text[]'],
          [writes.map((w) => w.title), 'text[]'],
          [writes.map((w) => w.description), 'text[]'],
          [writes.map((w) => w.severity), 'smallint[]'],
          [writes.map((w) => w.status), 'text[]'],
          [writes.map((w) => w.entityType), 'text[]'],
          [writes.map((w) => w.entityId), 'text[]'],
          [writes.map((w) => w.link), 'text[]'],
          [writes.map((w) => w.tags), 'text[]'],
          [writes.map((w) => w.firstAt), 'timestamptz[]'],
          [writes.map((w) => w.lastAt), 'timestamptz[]'],
          [writes.map((w) => w.count), 'int[]'],
          [writes.map((w) => w.events.join(',')), 'text[]'],
          [writes.map((w) => w.turn), 'bigint[]'],
          [writes.map((w) => w.openedBy), 'text[]'],
          [writes.map((w) => w.hostCount), 'int[]'],
        ])} with ordinality u(kind, subject, title, description, severity, status, entity_type, entity_id, link, tags,
          first_at, last_at, count, events, turn, opened_by, host_count, ord)),
      written as (
        -- A turn of 0 keeps the alert read or unread, and open or closed.
        insert into notices as n (kind, subject, title, description, severity, status, entity_type, entity_id, link, hashtags,
          created_at, last_at, turned_at, count, turn, opened_by, events, host_count, opened_at)
        select u.kind, u.subject, u.title, u.description, u.severity, u.status, u.entity_type, u.entity_id, u.link, u.tags,
          u.first_at, u.last_at, ${now}, u.count, coalesce(u.turn, 0), u.opened_by, string_to_array(u.events, ',')::bigint[],
          u.host_count, u.first_at
        from u
        on conflict (kind, subject) do update set title = excluded.title, description = excluded.description,
          severity = case when n.dismissed_at is null and n.kind <> 'health' then least(n.severity, excluded.severity) else excluded.severity end,
          status = excluded.status, link = excluded.link, hashtags = excluded.hashtags, last_at = excluded.last_at,
          count = n.count + excluded.count, host_count = excluded.host_count, turn = case when excluded.turn > 0 then excluded.turn else n.turn end,
          opened_by = case when excluded.turn > 0 then excluded.opened_by else n.opened_by end,
          turned_at = case when excluded.turn > 0 then excluded.turned_at else n.turned_at end,
          events = (excluded.events || n.events)[1:${eventsKept}::int],
          -- A closed alert becomes a new case.
          opened_at = case when ${reopens} then excluded.opened_at else n.opened_at end,
          owner_id = case when ${reopens} then null else n.owner_id end,
          acknowledged_at = case when ${reopens} then null else n.acknowledged_at end,
          verdict = case when ${reopens} then '' else n.verdict end, comment = case when ${reopens} then '' else n.comment end,
          snoozed_until = case when excluded.turn > 0 then null else n.snoozed_until end,
          dismissed_at = case when excluded.turn > 0 then null else n.dismissed_at end,
          dismissed_by = case when excluded.turn > 0 then '' else n.dismissed_by end
        returning n.notice_id, n.kind, n.subject)
      select w.notice_id from u join written w on w.kind = u.kind and w.subject = u.subject order by u.ord`)
    return rows.map((row) => row.notice_id)
  },

  /** Counts, for each alert, the given hosts that it does not have, and the hosts that joined it since a time. */
  newHosts: (tx: Tx, pairs: readonly { alertId: number; agentId: string }[], since: Date): Promise<HostsRow[]> =>
    tx.query<HostsRow>(sql`
      select k.notice_id, count(*) filter (where h.agent_id is null)::int as added,
        (select count(*) from notice_hosts r where r.notice_id = k.notice_id and r.since > ${since})::int as recent
      from ${unnestOf([
        [pairs.map((p) => p.alertId), 'int[]'],
        [pairs.map((p) => p.agentId), 'uuid[]'],
      ])} k(notice_id, agent_id) left join notice_hosts h on h.notice_id = k.notice_id and h.agent_id = k.agent_id
      group by k.notice_id`),

  /** Adds hosts to alerts. Alerts that start again lose their earlier hosts first. */
  addHosts: async (
    tx: Tx,
    restarted: readonly number[],
    rows: readonly { alertId: number; agentId: string; host: string }[],
    now: Date,
  ): Promise<void> => {
    if (restarted.length > 0)
      await tx.execute(sql`delete from notice_hosts h where h.notice_id = any(${restarted}::int[])`)
    if (rows.length === 0) return
    await tx.execute(sql`
      insert into notice_hosts as h (notice_id, agent_id, host, since)
      select u.notice_id, u.agent_id, u.host, ${now} from ${unnestOf([
        [rows.map((r) => r.alertId), 'int[]'],
        [rows.map((r) => r.agentId), 'uuid[]'],
        [rows.map((r) => r.host), 'text[]'],
      ])} u(notice_id, agent_id, host)
      on conflict (notice_id, agent_id) do update set host = excluded.host where h.host <> excluded.host`)
  },

  /** Returns the open alerts of a kind about one model each. */
  openModels: (q: Queryable, kind: AlertKind) =>
    q.query<{
      notice_id: number
      subject: string
      title: string
      severity: number
      hashtags: string
      turn: number
    }>(sql`
      select n.notice_id, n.subject, n.title, n.severity, n.hashtags, n.turn from notices n
      where n.kind = ${kind} and n.entity_type = 'Model' and n.dismissed_at is null order by n.notice_id`),

  /** Returns the open alerts about these subjects. */
  openOf: (tx: Tx, kind: AlertKind, subjects: readonly string[]) =>
    tx.query<{ notice_id: number; severity: number; hashtags: string }>(sql`
      select n.notice_id, n.severity, n.hashtags from notices n
      where n.kind = ${kind} and n.subject = any(${subjects}::text[]) and n.dismissed_at is null`),

  /** Returns whether an alert of a list exists, is closed and is pinned. */
  one: async (tx: Tx, list: 'risk' | 'health', id: number, accountId: string) =>
    (
      await tx.query<{ is_dismissed: boolean; is_pinned: boolean }>(sql`
        select n.dismissed_at is not null as is_dismissed,
          exists (select from notice_pins p where p.notice_id = n.notice_id and p.account_id = ${accountId}::uuid) as is_pinned
        from notices n where n.notice_id = ${id}::int and (n.kind = 'health') = ${list === 'health'}::boolean
        for key share of n`)
    )[0],

  pin: async (tx: Tx, accountId: string, id: number, isPinned: boolean): Promise<boolean> =>
    (await tx.execute(
      isPinned
        ? sql`insert into notice_pins (account_id, notice_id) values (${accountId}::uuid, ${id}::int) on conflict do nothing`
        : sql`delete from notice_pins p where p.account_id = ${accountId}::uuid and p.notice_id = ${id}::int`,
    )) === 1,

  /** Marks all alerts of a list as read. Returns true if any was unread. */
  read: async (tx: Tx, list: 'risk' | 'health', accountId: string): Promise<boolean> =>
    (await tx.execute(sql`
      insert into notice_reads as r (account_id, list, turn)
      select ${accountId}::uuid, ${list}, m.turn from (
        select max(n.turn) as turn from notices n
        where n.dismissed_at is null and (n.kind = 'health') = ${list === 'health'}::boolean) m
      where m.turn is not null
      on conflict (account_id, list) do update set turn = excluded.turn where r.turn < excluded.turn`)) === 1,

  /**
   * Records findings and returns those that a watcher has not reported. With a complete list, missing ones are
   * forgotten, so that they can be news again. With `settleMs`, a finding is reported when it has lasted that long since
   * it was last among the `unsettled` ones.
   */
  sight: async (
    tx: Tx,
    kind: AlertKind,
    subjects: readonly string[],
    isWhole: boolean,
    now: Date,
    settleMs: number,
    unsettled: readonly string[],
  ): Promise<Set<string>> => {
    await tx.execute(sql`
      delete from notice_sightings s where ${isWhole}::boolean and s.kind = ${kind} and not s.subject = any(${subjects}::text[])`)
    const added = await tx.query<{ subject: string }>(sql`
      insert into notice_sightings (kind, subject, since, is_settling)
      select ${kind}, u.subject, ${now}, ${settleMs > 0}::boolean from unnest(${subjects}::text[]) u(subject)
      on conflict do nothing returning subject`)
    if (settleMs === 0) return new Set(added.map((row) => row.subject))
    await tx.execute(sql`
      update notice_sightings s set since = ${now}
      where s.kind = ${kind} and s.is_settling and s.subject = any(${unsettled}::text[])`)
    const settled = await tx.query<{ subject: string }>(sql`
      update notice_sightings s set is_settling = false
      where s.kind = ${kind} and s.is_settling and s.since <= ${new Date(now.getTime() - settleMs)}
        and s.subject = any(${subjects}::text[]) returning s.subject`)
    return new Set(settled.map((row) => row.subject))
  },

  /**
   * Returns hosts silent since before a time that were not reported, and reported ones that checked in; `limit` of
   * each.
   */
  silence: async (tx: Tx, before: Date, limit: number) =>
    tx.query<{
      agent_id: string
      host: string
      address: string
      hashtags: string
      last_seen: Date
      is_silent: boolean
    }>(sql`
      (select h.agent_id, a.host, a.address, r.tags as hashtags, h.last_seen, true as is_silent
       from agent_heartbeats h join agents a on a.agent_id = h.agent_id join agent_rows r on r.agent_id = h.agent_id
       where not h.connected and h.last_seen < ${before}
         and not exists (select from notice_sightings s where s.kind = 'agentSilent' and s.subject = h.agent_id::text)
       order by h.last_seen, h.agent_id limit ${limit}::int)
      union all
      (select h.agent_id, a.host, a.address, r.tags as hashtags, h.last_seen, false
       from notice_sightings s join agent_heartbeats h on h.agent_id = s.subject::uuid
         join agents a on a.agent_id = h.agent_id join agent_rows r on r.agent_id = h.agent_id
       where s.kind = 'agentSilent' and h.last_seen >= ${before}
       order by h.agent_id limit ${limit}::int)`),

  noteSilent: async (tx: Tx, agentIds: readonly string[], now: Date): Promise<void> => {
    await tx.execute(sql`
      insert into notice_sightings (kind, subject, since)
      select 'agentSilent', u.id, ${now} from unnest(${agentIds}::text[]) u(id) on conflict do nothing`)
  },

  forgetSilent: async (tx: Tx, agentIds: readonly string[]): Promise<void> => {
    await tx.execute(
      sql`delete from notice_sightings s where s.kind = 'agentSilent' and s.subject = any(${agentIds}::text[])`,
    )
  },

  /** Returns hosts by id, with their names in events. */
  hosts: (q: Queryable, ids: readonly string[]) =>
    q.query<{ agent_id: string; host: string; address: string; hashtags: string }>(sql`
      select a.agent_id, a.host, a.address, r.tags as hashtags from agents a join agent_rows r on r.agent_id = a.agent_id
      where a.agent_id = any(${ids}::uuid[])`),

  /** Lets one replica at a time watch. Returns false if another one does. */
  tryWatch: (tx: Tx): Promise<boolean> => tryLock(tx, locks.alertWatch),

  /** Returns open health alerts of parts that recovered before a time. */
  recovered: async (tx: Tx, before: Date): Promise<number[]> =>
    (
      await tx.query<{ notice_id: number }>(sql`
        select n.notice_id from notices n
        where n.kind = 'health' and n.status = 'OK' and n.dismissed_at is null and n.last_at < ${before}`)
    ).map((row) => row.notice_id),

  /** Deletes old alerts with their history, unless somebody pinned or owns them. */
  forget: (tx: Tx, before: Date): Promise<number> =>
    tx.execute(sql`
      delete from notices n where n.last_at < ${before} and (n.kind <> 'health' or n.dismissed_at is not null)
        and (n.dismissed_at is not null or n.owner_id is null)
        and not exists (select from notice_pins p where p.notice_id = n.notice_id)`),
})
