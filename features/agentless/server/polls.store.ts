import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import type { PollFailure, PollPlatform } from '#features/contract.ts'
import type { ConnectionRow } from './connections.store.ts'

export interface LeasedRow extends ConnectionRow {
  fence: number
}

export interface EndedPoll {
  connectionId: string
  fence: number
  durationMs: number
  cause: PollFailure | null
  error: string
  nextRun: Date
  peripherals: number | null
  hostKey: string | null
  platform: PollPlatform | null
}

export interface PolledHost {
  connection_id: string
  computer_name: string
  agent_id: string | null
  /** Machine identifier of the host that this connection led to before, if that host reported one. */
  machine_id_hash: string | null
  tags: string[]
  fence: number
  failures: number
  /** The cause of its last failure; null after a success. */
  cause: string | null
  interval_minutes: number | null
  is_override: boolean
  is_registered: boolean
  /** The devices of the poll are stored: the host runs no agent and has no older connection. */
  is_source: boolean
}

/** If several connections lead to one host, the one linked first is the source. If an agent runs there, none is. */
export const isSource = `(c.agent_id is null or (
  (select n.agentless from agent_rows n where n.agent_id = c.agent_id)
  and not exists (select from connections o where o.agent_id = c.agent_id and o.is_registered
    and (o.linked_at, o.connection_id) < (c.linked_at, c.connection_id))))`

const due = (now: Date) => sql`r.next_run <= ${now} and (r.lease_until is null or r.lease_until <= ${now})`

export const createPollsStore = () => ({
  /**
   * Leases the polls that wait longest. Among polls that were due at once, those with a lost worker come first.
   * Concurrent workers skip locked rows, so they never get the same poll.
   */
  lease: (tx: Tx, now: Date, until: Date, pollerId: string, limit: number): Promise<LeasedRow[]> =>
    tx.query<LeasedRow>(sql`
      with d as materialized (
        select r.connection_id from connection_runs r where ${due(now)} order by r.next_run, r.lease_until limit ${limit}::int for update skip locked)
      update connection_runs r set poller_id = ${pollerId}::uuid, lease_until = ${until}, attempts = r.attempts + 1,
        -- Higher than the fence of every other connection to this host.
        fence = greatest(r.fence, coalesce((select h.seq from agent_heartbeats h where h.agent_id = c.agent_id and h.agentless), 0)) + 1, started_at = ${now}, ended_at = null, step = 'resolve'
      from d join connections c on c.connection_id = d.connection_id where r.connection_id = d.connection_id
      returning c.connection_id, c.computer_name, c.name_key, c.port, c.platform, c.user_name, c.password, c.private_key, c.passphrase,
        c.host_key, c.confirmed_host_key, c.interval_minutes, c.is_override, c.tags, c.is_registered, c.is_confirmed, c.agent_id, r.fence`),

  /** Renews the leases that this process still holds, and returns their ids. */
  keep: async (
    tx: Tx,
    begunAfter: Date,
    until: Date,
    pollerId: string,
    running: readonly { id: string; fence: number; step: string }[],
  ): Promise<string[]> =>
    running.length === 0
      ? []
      : (
          await tx.query<{ connection_id: string }>(sql`
            update connection_runs r set lease_until = ${until}, step = u.step from ${unnestOf([
              [running.map((one) => one.id), 'uuid[]'],
              [running.map((one) => one.fence), 'int[]'],
              [running.map((one) => one.step), 'text[]'],
            ])} u(id, fence, step)
            where r.connection_id = u.id and r.fence = u.fence and r.poller_id = ${pollerId}::uuid and r.lease_until is not null
              and r.started_at > ${begunAfter}
            returning r.connection_id`)
        ).map((row) => row.connection_id),

  /** Delays polls that ended too often without a result until `later`. Returns how many. */
  giveUp: (tx: Tx, now: Date, attempts: number, later: Date, error: string): Promise<number> =>
    tx.execute(sql`
      with failed as (
      update connection_runs r set state = 'Failed', cause = 'worker-lost', error = ${error}, ended_at = ${now}, lease_until = null,
        attempts = 0, failures = r.failures + 1, next_run = ${later}, fence = r.fence + 1, step = '',
        prev_errors = (array_prepend(${error}::text, r.prev_errors))[1:3]
      where ${due(now)} and r.attempts >= ${attempts}::int returning r.connection_id)
      insert into connection_errors (connection_id, received_at, message)
      select c.connection_id, ${now}::timestamptz, ${error}::text from failed f join connections c on c.connection_id = f.connection_id
      where c.agent_id is null`),

  /**
   * Returns and locks the connections of results whose current lease this process holds. Other results are stale.
   * Locks by name, and locks connections before their runs, like every other writer.
   */
  lockPresent: (
    tx: Queryable,
    pollerId: string,
    results: readonly { id: string; fence: number }[],
  ): Promise<PolledHost[]> =>
    tx.query<PolledHost>(sql`
      select c.connection_id, c.computer_name, c.agent_id, c.tags, r.fence, (select a.machine_id_hash from agents a where a.agent_id = c.agent_id),
        r.failures, r.cause, c.interval_minutes, c.is_override, c.is_registered,
        ${raw(isSource)} as is_source
      from ${unnestOf([
        [results.map((one) => one.id), 'uuid[]'],
        [results.map((one) => one.fence), 'int[]'],
      ])} u(id, fence) join connection_runs r on r.connection_id = u.id and r.fence = u.fence and r.lease_until is not null
          and r.poller_id = ${pollerId}::uuid
        join connections c on c.connection_id = r.connection_id
      order by c.name_key for update of c, r`),

  /**
   * Returns the host of another connection if it is proven to be this host: it has the same host key, identifier and
   * name. The identifier and the name alone prove nothing, because any host can claim them.
   */
  sameHost: async (
    tx: Tx,
    connectionId: string,
    machineIdHash: string | null,
    hostKey: string | null,
    host: string,
  ): Promise<string | undefined> =>
    machineIdHash === null || hostKey === null
      ? undefined
      : (
          await tx.query<{ agent_id: string }>(sql`
            select a.agent_id from connections o join agents a on a.agent_id = o.agent_id
            where o.host_key = ${hostKey} and o.connection_id <> ${connectionId}::uuid and a.machine_id_hash = ${machineIdHash}
              and a.public_key is null and lower(a.host) = lower(${host}::text)
            order by o.linked_at limit 1`)
        )[0]?.agent_id,

  /** Stores which host a connection leads to. Returns true if its devices are stored. */
  setAgent: async (tx: Tx, now: Date, connectionId: string, agentId: string): Promise<boolean> => {
    await tx.execute(
      sql`update connections c set agent_id = ${agentId}::uuid, linked_at = ${now} where c.connection_id = ${connectionId}::uuid`,
    )
    const [row] = await tx.query<{ is_source: boolean }>(
      sql`select ${raw(isSource)} as is_source from connections c where c.connection_id = ${connectionId}::uuid`,
    )
    return row?.is_source === true
  },

  /** Stores how polls ended, if their lease is still current. */
  end: async (tx: Tx, now: Date, polls: readonly EndedPoll[]): Promise<void> => {
    if (polls.length === 0) return
    const columns = unnestOf([
      [polls.map((p) => p.connectionId), 'uuid[]'],
      [polls.map((p) => p.fence), 'int[]'],
      [polls.map((p) => p.durationMs), 'int[]'],
      [polls.map((p) => p.cause), 'text[]'],
      [polls.map((p) => p.error), 'text[]'],
      [polls.map((p) => p.nextRun), 'timestamptz[]'],
      [polls.map((p) => p.peripherals), 'int[]'],
      [polls.map((p) => p.hostKey), 'text[]'],
      [polls.map((p) => p.platform), 'text[]'],
    ])
    await tx.execute(sql`
      with l as materialized (
        select c.connection_id from connections c where c.connection_id = any(${polls.map((p) => p.connectionId)}::uuid[])
        order by c.name_key for update),
      u as materialized (
        select u.* from l join ${columns} u(id, fence, duration, cause, error, next_run, peripherals, host_key, platform) on u.id = l.connection_id
        join connection_runs r on r.connection_id = u.id and r.fence = u.fence and r.lease_until is not null),
      k as (
        -- Trusted on first use after a sign-in with a private key, which proves nothing about the host. Otherwise shown
        -- until a person confirms it.
        update connections c set host_key = case when c.host_key = '' and u.cause is null then coalesce(u.host_key, '') else c.host_key end,
          shown_host_key = case when u.host_key is null then c.shown_host_key
            when u.cause is null or u.host_key = c.host_key then '' else u.host_key end,
          platform = case when c.platform = 'auto' then coalesce(u.platform, 'auto') else c.platform end
        from u where c.connection_id = u.id and ((u.host_key is not null and (u.host_key <> c.host_key or c.shown_host_key <> ''))
          or (c.platform = 'auto' and u.platform is not null))),
      outdated as (
        delete from connection_errors e using u where e.connection_id = u.id and e.received_at < ${now}::timestamptz - interval '90 days'),
      failed as (
        insert into connection_errors (connection_id, received_at, message)
        select c.connection_id, ${now}::timestamptz, u.error from u join connections c on c.connection_id = u.id
        where u.cause is not null and c.agent_id is null)
      update connection_runs r set state = case when u.cause is null then 'Success' else 'Failed' end, cause = u.cause, error = u.error,
        ended_at = ${now}, duration_ms = u.duration, lease_until = null, attempts = 0, step = '',
        failures = case when u.cause is null then 0 else r.failures + 1 end,
        peripherals = coalesce(u.peripherals, r.peripherals),
        next_run = case when r.next_run is null then null else u.next_run end,
        prev_errors = case when u.cause is null then r.prev_errors else (array_prepend(u.error, r.prev_errors))[1:3] end
      from u where r.connection_id = u.id`)
  },

  dueCount: async (q: Queryable, now: Date): Promise<number> =>
    (await q.query<{ n: number }>(sql`select count(*)::int as n from connection_runs r where ${due(now)}`))[0]?.n ?? 0,

  /** Counts the polled connections, and those whose poll was due before `late`. */
  waiting: async (q: Queryable, late: Date): Promise<{ registered: number; late: number }> =>
    (
      await q.query<{ registered: number; late: number }>(sql`
        select count(*)::int as registered, count(*) filter (where r.next_run < ${late} and r.lease_until is null)::int as late
        from connection_runs r where r.next_run is not null`)
    )[0] ?? { registered: 0, late: 0 },

  failingCount: async (q: Queryable): Promise<number> =>
    (
      await q.query<{ n: number }>(
        sql`select count(*)::int as n from connection_runs r where r.cause is not null and r.next_run is not null`,
      )
    )[0]?.n ?? 0,

  /** Ends all leases. Running polls lose the right to report a result and become due again. */
  endLeases: async (tx: Tx): Promise<void> => {
    await tx.execute(
      sql`update connection_runs r set lease_until = null, fence = r.fence + 1, attempts = 0, step = '' where r.lease_until is not null`,
    )
    await tx.execute(
      sql`update connection_tests t set lease_until = null, fence = t.fence + 1, step = '' where t.lease_until is not null and t.result is null`,
    )
  },

  /** Locks connected hosts without an agent whose last success was three intervals ago; at most 2,000. */
  lockSilent: async (tx: Tx, now: Date, defaultMinutes: number): Promise<string[]> => {
    const rows = await tx.query<{ agent_id: string }>(sql`
      select h.agent_id from agent_heartbeats h where h.connected and h.agentless and exists (
        select from connections c where c.agent_id = h.agent_id
          and h.last_seen < ${now}::timestamptz - make_interval(mins => 3 * coalesce(c.interval_minutes, ${defaultMinutes}::int)))
      order by h.agent_id limit 2000 for update of h`)
    return rows.map((row) => row.agent_id)
  },
})
