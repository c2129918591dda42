import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { raw, type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import { hostArchitectures, type RolloutRing } from '#features/contract.ts'
import type { PredictedHost } from '#features/policy/server/index.ts'
import type { Tally } from './rollout-machine.ts'
import type { RolloutRow } from './rollouts.store.ts'

/** Below this number of hosts, the join order does not matter. */
const fewHosts = 2_000

/** The hosts that an update can skip; pairs are `architecture version`. */
export interface UpdateFacts {
  architectures: readonly string[]
  unchanged: readonly string[]
}

type Owner = Pick<RolloutRow, 'rollout_id'>

/** The architecture of a host in a reason. Unknown architectures share one reason, so that hosts cannot fill a plan. */
const architectureName = sql`case when a.facts ->> 'architecture' = any(${hostArchitectures}::text[])
  then a.facts ->> 'architecture' else 'its architecture' end`

const pairOf = raw(`(a.facts ->> 'architecture') || ' ' || a.version`)

/** Hosts that the rollout armed, or may have armed. */
const armedByIt = raw(`x.commanded_at is not null
  and (x.state in ('commanded', 'done') or (r.armed and x.state in ('waiting', 'offline', 'failed')))`)

/** State and reason of a host that was not commanded, or whose command was cancelled. */
const readiness = (update: UpdateFacts | null): SqlFragment =>
  update === null
    ? sql`case when a.agent_id is null then array['skipped', 'The host was removed.']
        when r.armed then array[case when h.commanded_at is null then 'unchanged' else 'done' end, '']
        when not r.can_block then array['notReady', 'The host is only monitored.']
        when w.reason is not null then array['notReady', w.reason]
        when not r.connected then array['offline', ''] else array['waiting', ''] end`
    : sql`case when a.agent_id is null then array['skipped', 'The host was removed.']
        when ${pairOf} = any(${update.unchanged}::text[])
          then array[case when h.commanded_at is null then 'unchanged' else 'done' end, '']
        when coalesce(a.facts ->> 'architecture', '') <> all(${update.architectures}::text[])
          then array['notReady', 'No build is published for ' || ${architectureName} || '.']
        when r.release_key = 'none'
          then array['notReady', 'The agent was built without a release key and accepts no updates.']
        when not r.connected then array['offline', ''] else array['waiting', ''] end`

export const createHostsStore = (db: Queryable) => ({
  /**
   * Disables nested loops in a transaction that rolls back: it cannot run ANALYZE, which would have the same effect.
   */
  joinByHash: async (): Promise<void> => {
    await db.execute(sql`set local enable_nestloop = off`)
  },

  /**
   * Selects the hosts of a ring that no earlier ring took. The order of a share is random, and the same on every
   * attempt.
   */
  fix: async (rolloutId: string, ring: number, { tags, sharePercent }: RolloutRing): Promise<number> => {
    const folded = (tags ?? []).map((name) => fold(name.trim()))
    const chosen =
      tags === undefined
        ? sql`c.ordinal <= ceil(c.total * ${sharePercent ?? 100}::int / 100.0)`
        : sql`exists (select from agent_tags x join tags t on t.tag_id = x.tag_id
            where x.agent_id = c.agent_id and t.folded = any(${folded}::text[]))`
    return db.execute(sql`
      insert into rollout_hosts (rollout_id, agent_id, host, ring)
      select ${rolloutId}::uuid, c.agent_id, c.host, ${ring}::int from (
        select r.agent_id, a.host, count(*) over () as total,
          row_number() over (order by md5(${rolloutId}::text || r.agent_id::text), r.agent_id) as ordinal
        from agent_rows r join agents a on a.agent_id = r.agent_id
        where not r.agentless and not exists (
          select from rollout_hosts h where h.rollout_id = ${rolloutId}::uuid and h.agent_id = r.agent_id)) c
      where ${chosen}`)
  },

  /**
   * Runs ANALYZE. Otherwise, plans for the next statements would loop over 40,000 hosts for each of 40,000 new ones.
   * Blocks other ANALYZE runs until COMMIT.
   */
  analyze: async (fixed: number): Promise<void> => {
    if (fixed > fewHosts) await db.execute(sql`analyze rollout_hosts`)
  },

  /** Returns the architectures and versions of the hosts of an update. */
  versions: (rolloutId: string): Promise<{ architecture: string; version: string }[]> =>
    db.query(sql`
      select distinct coalesce(a.facts ->> 'architecture', '') as architecture, a.version
      from rollout_hosts h join agents a on a.agent_id = h.agent_id
      where h.rollout_id = ${rolloutId}::uuid and h.state in ('waiting', 'offline', 'notReady')`),

  /** Returns a condition over `agent_rows r`: hosts that the rollout has not commanded. */
  undecided: (rolloutId: string): SqlFragment => sql`not r.armed and r.agent_id in (
    select h.agent_id from rollout_hosts h
    where h.rollout_id = ${rolloutId}::uuid and h.state in ('waiting', 'offline', 'notReady'))`,

  /** Returns an order of `agent_rows r`: earlier rings first, connected hosts first. */
  inTurn: (rolloutId: string): SqlFragment => sql`(
    select h.ring from rollout_hosts h where h.rollout_id = ${rolloutId}::uuid and h.agent_id = r.agent_id), r.connected desc`,

  /**
   * Updates the states of hosts that were not commanded: connected again, not ready, or already up to date. `refused`
   * has the reasons of hosts that must not be armed.
   */
  evaluate: async (
    { rollout_id: id }: Owner,
    update: UpdateFacts | null,
    refused: ReadonlyMap<string, string>,
  ): Promise<void> => {
    await db.execute(sql`
      update rollout_hosts x set state = c.status[1], reason = c.status[2]
      from (
        select h.agent_id, ${readiness(update)} as status
        from rollout_hosts h left join agents a on a.agent_id = h.agent_id left join agent_rows r on r.agent_id = h.agent_id
          left join ${unnestOf([
            [[...refused.keys()], 'uuid[]'],
            [[...refused.values()], 'text[]'],
          ])} w(agent_id, reason) on w.agent_id = h.agent_id
        where h.rollout_id = ${id}::uuid and h.state in ('waiting', 'offline', 'notReady')) c
      where x.rollout_id = ${id}::uuid and x.agent_id = c.agent_id
        and (x.state, x.reason) is distinct from (c.status[1], c.status[2])`)
  },

  /** Returns a condition over `agent_rows r`: hosts that are still to be armed, or the named ones. */
  toArm: (rolloutId: string, agentIds: readonly string[] | null): SqlFragment =>
    agentIds === null
      ? sql`r.agent_id in (
          select h.agent_id from rollout_hosts h where h.rollout_id = ${rolloutId}::uuid and h.state in ('waiting', 'offline'))`
      : sql`r.agent_id = any(${agentIds}::uuid[])`,

  /** Counts the armed hosts, with those of the started rings. */
  armedWith: async (rolloutId: string, ring: number): Promise<number> =>
    (
      await db.query<{ n: number }>(sql`
        select count(*)::int as n from agent_rows r where r.armed or r.agent_id in (
          select h.agent_id from rollout_hosts h where h.rollout_id = ${rolloutId}::uuid and h.ring <= ${ring}::int)`)
    )[0]?.n ?? 0,

  /** Stores the number of devices that each host is predicted to block. */
  notePredicted: async (rolloutId: string, hosts: readonly PredictedHost[]): Promise<void> => {
    await db.execute(sql`
      update rollout_hosts x set predicted = c.n from ${unnestOf([
        [hosts.map(({ agentId }) => agentId), 'uuid[]'],
        [hosts.map(({ willBlock }) => willBlock), 'int[]'],
      ])} c(agent_id, n) where x.rollout_id = ${rolloutId}::uuid and x.agent_id = c.agent_id`)
  },

  /** Stores how the commands of hosts ended, for the whole rollout in one transaction. */
  noteOutcomes: async ({ rollout_id: id }: Owner): Promise<void> => {
    // The statistics are from before the hosts were commanded. The planner would expect no commanded host and loop over
    // all commands for each: over 4 s at 30,000.
    await db.execute(sql`set local enable_nestloop = off`)
    await db.execute(sql`
      with newest as materialized (
        select distinct on (k.agent_id) k.agent_id, k.state, k.message, k.created_at
        from commands k where k.job_id = ${id}::uuid order by k.agent_id, k.counter desc),
      ended as materialized (
        select h.agent_id, n.state, n.message from newest n
        join rollout_hosts h on h.rollout_id = ${id}::uuid and h.agent_id = n.agent_id
        where n.state in ('confirmed', 'failed', 'expired', 'cancelled') and n.created_at >= h.commanded_at
          and h.state in ('commanded', 'reverting'))
      update rollout_hosts x set reason = c.message, state = case
          when c.state = 'confirmed' then case when x.state = 'reverting' then 'reverted' else 'done' end
          when c.state = 'cancelled' and x.state <> 'reverting' then 'skipped' else 'failed' end
      from ended c where x.rollout_id = ${id}::uuid and x.agent_id = c.agent_id`)
    await db.execute(sql`set local enable_nestloop = on`)
  },

  /** Stores what armed hosts do: the devices that they blocked, and the hosts that are Free again. */
  watchArmed: async ({ rollout_id: id }: Owner): Promise<void> => {
    await db.execute(sql`
      update rollout_hosts x set was_armed = true from agent_rows r
      where x.rollout_id = ${id}::uuid and x.state = 'done' and not x.was_armed
        and r.agent_id = x.agent_id and r.armed`)
    await db.execute(sql`
      update rollout_hosts x
      set state = case when a.mode_reason = '' then 'skipped' else 'failed' end,
        reason = case when a.mode_reason = '' then 'The host was freed meanwhile.' else 'The host reverted to Free: ' || a.mode_reason end
      from agent_rows r join agents a on a.agent_id = r.agent_id
      where x.rollout_id = ${id}::uuid and x.state = 'done' and x.was_armed and r.agent_id = x.agent_id and not r.armed`)
    await db.execute(sql`
      update rollout_hosts x set actual = c.n
      from (
        select h.agent_id, count(*)::int as n
        from rollout_hosts h join peripherals p on p.agent_id = h.agent_id
          and p.enforced ->> 'effect' = 'block' and p.enforced ->> 'guard' is null
          and (p.present or p.last_seen >= h.commanded_at)
        where h.rollout_id = ${id}::uuid and h.state in ('commanded', 'done')
        group by h.agent_id) c
      where x.rollout_id = ${id}::uuid and x.agent_id = c.agent_id and x.actual < c.n`)
  },

  /** Counts the hosts of the started rings. */
  tallies: async ({ rollout_id: id, rings }: Pick<RolloutRow, 'rollout_id' | 'rings'>): Promise<Tally[]> => {
    const rows = await db.query<Omit<Tally, 'accepted'> & { ring: number }>(sql`
      select h.ring, count(*) filter (where h.state = 'waiting')::int as waiting,
        count(*) filter (where h.state = 'offline' or (h.state = 'commanded' and r.connected is not true))::int as offline,
        count(*) filter (where h.state = 'commanded' and r.connected)::int as pending,
        count(*) filter (where h.state in ('commanded', 'done', 'failed'))::int as commanded,
        count(*) filter (where h.state = 'failed')::int as failed,
        count(*) filter (where h.state in ('commanded', 'done', 'failed') and h.actual > h.predicted)::int as over,
        count(*) filter (where h.state in ('done', 'failed', 'unchanged', 'notReady', 'skipped'))::int as settled
      from rollout_hosts h left join agent_rows r on r.agent_id = h.agent_id
      where h.rollout_id = ${id}::uuid group by h.ring`)
    return rings.map(({ accepted }, ring) => {
      const found = rows.find((row) => row.ring === ring)
      return {
        ...(found ?? { waiting: 0, offline: 0, pending: 0, commanded: 0, failed: 0, over: 0, settled: 0 }),
        accepted,
      }
    })
  },

  /** Returns the next hosts to command, in the order of the rings. */
  next: (
    rolloutId: string,
    upToRing: number,
    limit: number,
  ): Promise<{ agent_id: string; ring: number; architecture: string }[]> =>
    db.query(sql`
      select h.agent_id, h.ring, coalesce(a.facts ->> 'architecture', '') as architecture
      from rollout_hosts h join agents a on a.agent_id = h.agent_id
      where h.rollout_id = ${rolloutId}::uuid and h.state = 'waiting' and h.ring <= ${upToRing}::int
      order by h.ring, h.agent_id limit ${limit}::int`),

  commanded: (rolloutId: string, agentIds: readonly string[], now: Date): Promise<number> =>
    db.execute(sql`
      update rollout_hosts x set state = 'commanded', reason = '', commanded_at = ${now}, actual = 0
      where x.rollout_id = ${rolloutId}::uuid and x.agent_id = any(${agentIds}::uuid[])`),

  /** Updates the hosts of cancelled commands: after a halt they wait again, after an end they are skipped. */
  cancelActive: (rolloutId: string, isFinal: boolean): Promise<number> =>
    db.execute(sql`
      update rollout_hosts x set state = ${isFinal ? 'skipped' : 'waiting'}, reason = ${isFinal ? 'The rollout ended before the host did.' : ''}
      where x.rollout_id = ${rolloutId}::uuid and x.state = 'commanded'`),

  /** Marks the hosts that the rollout armed, or may have armed, for freeing. */
  markReverting: (rolloutId: string): Promise<number> =>
    db.execute(sql`
      update rollout_hosts x set state = 'reverting', reason = '', commanded_at = null
      from agent_rows r
      where x.rollout_id = ${rolloutId}::uuid and r.agent_id = x.agent_id and ${armedByIt}`),

  /** Counts the hosts that the rollout armed, or may have armed. */
  armedByIt: async (rolloutId: string): Promise<number> =>
    (
      await db.query<{ n: number }>(sql`
        select count(*)::int as n from rollout_hosts x join agent_rows r on r.agent_id = x.agent_id
        where x.rollout_id = ${rolloutId}::uuid and ${armedByIt}`)
    )[0]?.n ?? 0,

  nextToFree: (rolloutId: string, limit: number): Promise<{ agent_id: string }[]> =>
    db.query(sql`
      select h.agent_id from rollout_hosts h
      where h.rollout_id = ${rolloutId}::uuid and h.state = 'reverting' and h.commanded_at is null
      order by h.agent_id limit ${limit}::int`),

  freeing: (rolloutId: string, agentIds: readonly string[], now: Date): Promise<number> =>
    db.execute(sql`
      update rollout_hosts x set commanded_at = ${now}
      where x.rollout_id = ${rolloutId}::uuid and x.agent_id = any(${agentIds}::uuid[])`),

  /** Marks hosts whose order to arm was refused. */
  refuse: (rolloutId: string, refused: ReadonlyMap<string, { reason: string }>): Promise<number> =>
    db.execute(sql`
      update rollout_hosts x set state = 'notReady', reason = c.reason from ${unnestOf([
        [[...refused.keys()], 'uuid[]'],
        [[...refused.values()].map(({ reason }) => reason), 'text[]'],
      ])} c(agent_id, reason) where x.rollout_id = ${rolloutId}::uuid and x.agent_id = c.agent_id`),

  /** Skips hosts that were removed. */
  skip: (rolloutId: string, agentIds: readonly string[]): Promise<number> =>
    db.execute(sql`
      update rollout_hosts x set state = 'skipped', reason = 'The host was removed.'
      where x.rollout_id = ${rolloutId}::uuid and x.agent_id = any(${agentIds}::uuid[])`),
})
