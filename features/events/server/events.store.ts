import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { appendOrdered, unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { eventCatalogue, eventCategories } from '#features/contract.ts'
import type { KnownIdentity, MergedEvents, MergedRow } from './merging.ts'
import type { NewEvent } from './new-event.ts'
import { latestEventText } from './texts.ts'

/** Number of ids in one partition. ensure_event_partitions has the same number. */
export const partitionSize = 5_000_000

/** Cleans a text from a host or device: replaces what PostgreSQL cannot store, and cuts it. */
const clean = (text: string, limit: number): string =>
  text.slice(0, limit).toWellFormed().replaceAll('\u0000', '\ufffd')

/** Number of event texts in an agent's row. */
const latestKept = 3

/** Returns the newest event texts of each host, newest first. Hosts in id order. */
export const latestByAgent = (events: readonly NewEvent[], createdAt: Date): { agentId: string; texts: string[] }[] => {
  const texts = new Map<string, string[]>()
  for (const event of events) {
    if (event.agentId === null) continue
    const of = texts.get(event.agentId) ?? []
    of.unshift(clean(latestEventText(event, createdAt), 1024))
    texts.set(event.agentId, of.slice(0, latestKept))
  }
  return [...texts].map(([agentId, texts]) => ({ agentId, texts })).sort((a, b) => (a.agentId < b.agentId ? -1 : 1))
}

export const createEventsStore = (queryable: Queryable) => ({
  /** Returns the identities of hosts that are known in an hour beyond the limit. */
  knownIdentities: (agentIds: readonly string[], hour: Date): Promise<KnownIdentity[]> =>
    queryable.query<KnownIdentity>(sql`
      select m.agent_id, m.code, m.identity from merged_events m
      where m.hour_at = ${hour} and m.agent_id = any(${agentIds}::uuid[]) and m.identity <> ''`),

  /** Adds merged events to the summaries of their hour. */
  merge: async (tx: Tx, merged: readonly MergedEvents[], hour: Date): Promise<void> => {
    const events = merged.map((one) => one.event)
    const defined = events.map((event) => eventCatalogue[event.kind])
    await tx.execute(sql`
      insert into merged_events as m (hour_at, agent_id, code, identity, n, first_at, last_at, severity, icon, entity, hashtags,
        details, device_id)
      select ${hour}::timestamptz, r.* from ${unnestOf([
        [events.map((e) => e.agentId), 'uuid[]'],
        [defined.map((d) => Number(d.code)), 'int[]'],
        [merged.map((one) => one.identity), 'text[]'],
        [merged.map((one) => one.count), 'bigint[]'],
        [merged.map((one) => new Date(one.first).toISOString()), 'timestamptz[]'],
        [merged.map((one) => new Date(one.last).toISOString()), 'timestamptz[]'],
        [events.map((e, i) => e.severity ?? defined[i]?.severity), 'smallint[]'],
        [events.map((e) => e.icon ?? -1), 'smallint[]'],
        [events.map((e) => clean(e.entity, 512)), 'text[]'],
        [events.map((e) => clean(e.hashtags, 4096)), 'text[]'],
        [events.map((e) => clean(e.details, 4096)), 'text[]'],
        [events.map((e) => (e.deviceId == null ? null : clean(e.deviceId, 1024))), 'text[]'],
      ])} r
      on conflict (hour_at, agent_id, code, identity) do update set
        n = m.n + excluded.n, first_at = least(m.first_at, excluded.first_at), last_at = greatest(m.last_at, excluded.last_at),
        severity = least(m.severity, excluded.severity)`)
  },

  /** Removes some rows of hours before a time, and returns them. Skips those that another replica takes. */
  takeMerged: (tx: Tx, before: Date, limit: number): Promise<MergedRow[]> =>
    tx.query<MergedRow>(sql`
      with taken as (
        delete from merged_events m where (m.hour_at, m.agent_id, m.code, m.identity) in (
          select o.hour_at, o.agent_id, o.code, o.identity from merged_events o where o.hour_at < ${before}
          order by o.hour_at, o.agent_id, o.code, o.identity limit ${limit}::int for update skip locked)
        returning *)
      select t.agent_id, t.code, t.identity <> '' as is_one, t.n, t.first_at, t.last_at, t.severity, t.icon, t.entity, t.hashtags,
        t.details, t.device_id
      from taken t order by t.agent_id, t.first_at, t.code, t.identity`),

  /** Creates the partitions for the next `margin` ids and one more. Returns the first id without a partition. */
  ensurePartitions: async (margin: number): Promise<number> => {
    const rows = await queryable.query<{ next: number }>(sql`
      with h as materialized (select n, n + ${margin}::bigint as next from ordered_head where stream = 'events')
      select h.next, ensure_event_partitions(h.n)::text, ensure_event_partitions(h.next)::text from h`)
    return (Math.floor((rows[0]?.next ?? 0) / partitionSize) + 2) * partitionSize
  },

  /** Deletes some of the oldest events from before a time. Returns how many. Ids grow with time. */
  forget: (before: Date, upTo: number | null, limit: number): Promise<number> =>
    queryable.execute(sql`
      delete from events e where e.event_id in (
        select o.event_id from (select x.event_id, x.created_at from events x order by x.event_id limit ${limit}::int) o
        where o.created_at < ${before} and (${upTo}::bigint is null or o.event_id <= ${upTo}::bigint))`),

  /** Appends events in the given order. Returns the id of the last one. */
  append: async (tx: Tx, events: readonly NewEvent[], createdAt: Date): Promise<number> => {
    const defined = events.map((event) => eventCatalogue[event.kind])
    const rows = await appendOrdered(
      tx,
      'events',
      events.length,
      sql`
      insert into events (event_id, created_at, agent_id, code, category, severity, icon, entity, description, hashtags, details, device_id,
        occurred_at, occurred_uncertainty_ms)
      select h.n - ${events.length}::bigint + r.ord, ${createdAt}::timestamptz, r.agent_id, r.code, r.category, r.severity,
             r.icon, r.entity, r.description, r.hashtags, r.details, r.device_id, r.occurred_at,
             r.uncertainty
      from h, ${unnestOf([
        [events.map((e) => e.agentId), 'uuid[]'],
        [defined.map((d) => Number(d.code)), 'int[]'],
        [defined.map((d) => eventCategories.indexOf(d.category)), 'smallint[]'],
        [events.map((e, i) => e.severity ?? defined[i]?.severity), 'smallint[]'],
        [events.map((e) => e.icon ?? -1), 'smallint[]'],
        [events.map((e) => clean(e.entity, 512)), 'text[]'],
        [defined.map((d) => d.name), 'text[]'],
        [events.map((e) => clean(e.hashtags, 4096)), 'text[]'],
        [events.map((e) => clean(e.details, 4096)), 'text[]'],
        [events.map((e) => (e.deviceId == null ? null : clean(e.deviceId, 1024))), 'text[]'],
        [events.map((e) => (e.occurred === undefined ? null : new Date(e.occurred.at).toISOString())), 'timestamptz[]'],
        [events.map((e) => e.occurred?.uncertaintyMs ?? null), 'int[]'],
      ])} with ordinality r(agent_id, code, category, severity, icon, entity, description, hashtags, details, device_id,
        occurred_at, uncertainty, ord)`,
    )
    return rows[0]?.n ?? 0
  },
})
