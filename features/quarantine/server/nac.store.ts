import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import type { NacSystem, QuarantineState, QuarantineStepName } from '#features/contract.ts'

/** A quarantine with its working state. */
export interface QuarantineRow {
  quarantine_id: string
  agent_id: string
  host: string
  address: string
  system: NacSystem
  state: QuarantineState
  macs: string[]
  targets: string[]
  /** Host and port of the system that accepted it; empty: none yet. */
  place: string
  is_moved: boolean
  policy: string
  reason: string
  is_automatic: boolean
  /** A person requested or approved it: the system need not confirm its addresses. */
  is_approved: boolean
  /** Its addresses that await approval, because the system does not see them at the host. */
  unconfirmed: string[]
  device_id: string | null
  hours: number
  expires_at: Date | null
  error: string
  attempts: number
  fence: number
}

export type NewQuarantine = Omit<
  QuarantineRow,
  'targets' | 'place' | 'is_moved' | 'is_approved' | 'unconfirmed' | 'attempts' | 'fence' | 'expires_at'
> & {
  asked_by: string
  created_at: Date
}

export interface NewStep {
  quarantineId: string
  at: Date
  step: QuarantineStepName
  isOk: boolean
  actor: string
  message: string
}

/** A host with what quarantines need. */
export interface HostRow {
  agent_id: string
  host: string
  address: string
  tags: string
  /** Addresses of active interfaces, in upper case. */
  macs: string[]
  /** Addresses that other hosts report too, each with one of these hosts. */
  shared: Record<string, string>
}

/** The connection of a host, as this server sees it. */
export interface Connection {
  /** Empty: a host without an agent. */
  address: string
  connected: boolean
  /** Another host at this address. */
  other: string | null
}

export interface Sighting {
  agent_id: string
  device_id: string
  device: string
}

const columns = raw(
  'q.quarantine_id, q.agent_id, q.host, q.address, q.system, q.state, q.macs, q.targets, q.place, q.is_moved, q.policy, q.reason, q.is_automatic, q.is_approved, q.unconfirmed, q.device_id, q.hours, q.expires_at, q.error, q.attempts, q.fence',
)
const isActive = raw("q.state not in ('cleared', 'dismissed')")
/**
 * Selects confirmed attack tools that are attached, except those that a person approved as attack tools. A rule that
 * allows keyboards does not cover a tool that only its report descriptor revealed.
 */
const attached = raw(`designs d join peripherals p on p.design_id = d.design_id and p.present
  where d.attack_tool = 2 and not exists (
    select from policy_rules r where r.rule_id = p.rule_id and r.effect = 'allow' and r.override_attack_tool)`)

export const createNacStore = () => ({
  /** Returns hosts by id with the addresses to quarantine. */
  hosts: (q: Queryable, agentIds: readonly string[]): Promise<HostRow[]> =>
    q.query<HostRow>(sql`
      select a.agent_id, a.host, a.address, r.tags, coalesce(n.macs, '{}') as macs, coalesce(n.shared, '{}') as shared
      from agents a join agent_rows r on r.agent_id = a.agent_id
      left join lateral (
        select array_agg(x.mac order by x.ord) as macs,
          jsonb_object_agg(x.mac, x.other) filter (where x.other is not null) as shared
        from (
          select upper(u.mac) as mac, u.ord, (
            select o.host from agents o
            where o.nics @> jsonb_build_array(jsonb_build_object('mac', u.mac)) and o.agent_id <> a.agent_id limit 1) as other
          from (
            select e.nic ->> 'mac' as mac, min(e.ord) as ord
            from jsonb_array_elements(a.nics) with ordinality e(nic, ord)
            where (e.nic ->> 'isUp')::boolean and e.nic ->> 'mac' ~ '^[0-9a-f]{2}(:[0-9a-f]{2}){5}$'
              and e.nic ->> 'mac' not in ('00:00:00:00:00:00', 'ff:ff:ff:ff:ff:ff')
            group by 1) u) x) n on true
      where a.agent_id = any(${agentIds}::uuid[]) order by a.agent_id`),

  /** Returns false if the host has an active quarantine on this system already. */
  insert: async (tx: Tx, row: NewQuarantine): Promise<boolean> => {
    const isDue = row.state === 'wanted'
    const started = isDue ? row.created_at : null
    const expires = started === null || row.hours === 0 ? null : new Date(started.getTime() + row.hours * 3_600_000)
    const inserted = await tx.execute(sql`
      insert into nac_quarantines (quarantine_id, agent_id, host, address, system, state, macs, policy, reason, is_automatic,
        is_approved, device_id, asked_by, hours, created_at, updated_at, started_at, expires_at, error, next_at)
      values (${row.quarantine_id}::uuid, ${row.agent_id}::uuid, ${row.host}, ${row.address}, ${row.system}, ${row.state},
        ${row.macs}::text[], ${row.policy}, ${row.reason}, ${row.is_automatic}, ${!row.is_automatic},
        ${row.device_id}, ${row.asked_by},
        ${row.hours}::int, ${row.created_at}, ${row.created_at}, ${started}::timestamptz, ${expires}::timestamptz,
        ${row.error}, ${isDue ? row.created_at : null}::timestamptz)
      on conflict (agent_id, system) where state not in ('cleared', 'dismissed') do nothing`)
    return inserted > 0
  },

  addSteps: async (tx: Tx, steps: readonly NewStep[]): Promise<void> => {
    if (steps.length === 0) return
    await tx.execute(sql`
      insert into nac_steps (quarantine_id, at, step, is_ok, actor, message)
      select u.quarantine_id, u.at, u.step, u.is_ok, u.actor, u.message from ${unnestOf([
        [steps.map((s) => s.quarantineId), 'uuid[]'],
        [steps.map((s) => s.at), 'timestamptz[]'],
        [steps.map((s) => s.step), 'text[]'],
        [steps.map((s) => s.isOk), 'boolean[]'],
        [steps.map((s) => s.actor), 'text[]'],
        [steps.map((s) => s.message), 'text[]'],
      ])} with ordinality u(quarantine_id, at, step, is_ok, actor, message, ord) order by u.ord`)
  },

  /** Locks quarantines in the order of their ids. */
  lock: (tx: Tx, ids: readonly string[]): Promise<QuarantineRow[]> =>
    tx.query<QuarantineRow>(sql`
      select ${columns} from nac_quarantines q where q.quarantine_id = any(${ids}::uuid[])
      order by q.quarantine_id for update`),

  /** Locks the active quarantines of these hosts. */
  lockActive: (tx: Tx, system: NacSystem, agentIds: readonly string[]): Promise<QuarantineRow[]> =>
    tx.query<QuarantineRow>(sql`
      select ${columns} from nac_quarantines q
      where q.system = ${system} and q.agent_id = any(${agentIds}::uuid[]) and ${isActive}
      order by q.quarantine_id for update`),

  /** Starts or restarts a quarantine for a person; its time counts from now. */
  want: async (
    tx: Tx,
    id: string,
    now: Date,
    change: { hours: number; reason: string; policy: string; macs: readonly string[] },
  ): Promise<void> => {
    const expires = change.hours === 0 ? null : new Date(now.getTime() + change.hours * 3_600_000)
    await tx.execute(sql`
      update nac_quarantines q set state = 'wanted', is_approved = true, unconfirmed = '{}', error = '', is_moved = false, attempts = 0, next_at = ${now}, updated_at = ${now},
        hours = ${change.hours}::int, expires_at = ${expires}::timestamptz, reason = ${change.reason},
        policy = case when q.targets = '{}' then ${change.policy} else q.policy end, macs = ${change.macs}::text[]
      where q.quarantine_id = ${id}::uuid`)
  },

  /** Closes a quarantine that never began. */
  close: async (tx: Tx, id: string, now: Date, state: 'cleared' | 'dismissed'): Promise<void> => {
    await tx.execute(sql`
      update nac_quarantines q set state = ${state}, error = '', is_moved = false, attempts = 0, next_at = null, expires_at = null, updated_at = ${now}
      where q.quarantine_id = ${id}::uuid`)
  },

  /** Removes the addresses that a person does not approve. */
  dropUnconfirmed: async (tx: Tx, id: string, now: Date): Promise<void> => {
    await tx.execute(sql`
      update nac_quarantines q set unconfirmed = '{}', updated_at = ${now},
        macs = array(select m.mac from unnest(q.macs) with ordinality m(mac, ord) where m.mac <> all(q.unconfirmed) order by m.ord)
      where q.quarantine_id = ${id}::uuid`)
  },

  /** Marks a quarantine to be cleared. Keeps its lease, because a request may be in progress. */
  toClear: async (tx: Tx, id: string, now: Date): Promise<void> => {
    await tx.execute(sql`
      update nac_quarantines q set state = 'clearing', error = '', is_moved = false, attempts = 0, next_at = ${now}, expires_at = null, updated_at = ${now}
      where q.quarantine_id = ${id}::uuid`)
  },

  /** Leases the quarantines that are due. */
  lease: (q: Queryable, system: NacSystem, now: Date, until: Date, limit: number): Promise<QuarantineRow[]> =>
    q.query<QuarantineRow>(sql`
      update nac_quarantines q set lease_until = ${until}, fence = q.fence + 1
      where q.quarantine_id in (
        select d.quarantine_id from nac_quarantines d
        where d.system = ${system} and d.next_at <= ${now} and (d.lease_until is null or d.lease_until <= ${now})
        order by d.next_at limit ${limit}::int for update skip locked)
      returning ${columns}`),

  /** Renews a lease while its row keeps its state. Returns false if the state changed. */
  keep: async (q: Queryable, row: QuarantineRow, until: Date): Promise<boolean> =>
    (await q.execute(sql`
      update nac_quarantines q set lease_until = ${until}
      where q.quarantine_id = ${row.quarantine_id}::uuid and q.fence = ${row.fence}::int and q.state = ${row.state}`)) >
    0,

  release: async (q: Queryable, row: QuarantineRow): Promise<void> => {
    await q.execute(sql`
      update nac_quarantines q set lease_until = null
      where q.quarantine_id = ${row.quarantine_id}::uuid and q.fence = ${row.fence}::int`)
  },

  /** Saves the progress of a leased quarantine. Returns false if somebody changed it in the meantime. */
  advance: async (
    tx: Tx,
    row: QuarantineRow,
    now: Date,
    to: Pick<QuarantineRow, 'state' | 'place' | 'is_moved' | 'error' | 'attempts'> & {
      targets: readonly string[]
      unconfirmed: readonly string[]
      nextAt: Date | null
    },
  ): Promise<boolean> =>
    (await tx.execute(sql`
      update nac_quarantines q set state = ${to.state}, targets = ${to.targets}::text[], place = ${to.place},
        unconfirmed = ${to.unconfirmed}::text[], is_moved = ${to.is_moved}, error = ${to.error}, attempts = ${to.attempts}::int,
        next_at = ${to.nextAt}::timestamptz, updated_at = ${now},
        started_at = case when ${to.state} <> 'waiting' then q.started_at end,
        expires_at = case when ${to.state} <> 'waiting' then q.expires_at end
      where q.quarantine_id = ${row.quarantine_id}::uuid and q.fence = ${row.fence}::int and q.state = ${row.state}`)) >
    0,

  /**
   * Returns the address that a host connects from, and another host that connected from it since a time. Undefined: the
   * host was removed.
   */
  connection: async (q: Queryable, agentId: string, since: Date): Promise<Connection | undefined> =>
    (
      await q.query<Connection>(sql`
        select h.seen_address as address, h.connected, (
          select a.host from agent_heartbeats o join agents a on a.agent_id = o.agent_id
          where o.seen_address = h.seen_address and o.agent_id <> h.agent_id and o.last_seen > ${since} limit 1) as other
        from agent_heartbeats h where h.agent_id = ${agentId}::uuid`)
    )[0],

  // --- Queries of the watch, every few seconds ----------------------------------------------------------------------

  /** Returns true for the one replica that runs the watch, until its transaction ends. */
  mayLook: async (tx: Tx): Promise<boolean> =>
    (await tx.query(sql`select w.single from nac_watch w for update skip locked`)).length > 0,

  /** Updates the sightings. */
  see: async (tx: Tx, now: Date): Promise<void> => {
    await tx.execute(sql`
      delete from nac_sightings s where not exists (
        select from ${attached} and p.agent_id = s.agent_id and p.device_id = s.device_id)`)
    await tx.execute(sql`
      insert into nac_sightings (agent_id, device_id, since)
      select p.agent_id, p.device_id, ${now} from ${attached} on conflict do nothing`)
  },

  forgetSightings: async (tx: Tx): Promise<void> => {
    await tx.execute(sql`delete from nac_sightings`)
  },

  /**
   * Returns tools attached since before a time and not handled for this system, without hosts that have excluded tags.
   */
  sightings: (
    tx: Tx,
    system: NacSystem,
    since: Date,
    excludedTags: readonly string[],
    limit: number,
  ): Promise<Sighting[]> =>
    tx.query<Sighting>(sql`
      select distinct on (s.agent_id) s.agent_id, s.device_id,
        trim(m.vid || ':' || m.pid || ' ' || coalesce(d.evidence ->> 0, '')) as device
      from nac_sightings s
      join peripherals p on p.agent_id = s.agent_id and p.device_id = s.device_id
      join designs d on d.design_id = p.design_id join models m on m.model_id = d.model_id
      where s.since <= ${since} and not (${system} = any(s.told)) and not exists (
        select from agent_tags x join tags t on t.tag_id = x.tag_id
        where x.agent_id = s.agent_id and t.folded = any(${excludedTags}::text[]))
      order by s.agent_id, s.since, s.device_id limit ${limit}::int`),

  /** Marks the tools that are now on this host as handled. */
  markHandled: async (tx: Tx, system: NacSystem, agentId: string): Promise<void> => {
    await tx.execute(sql`
      update nac_sightings s set told = array_append(s.told, ${system}::text)
      where s.agent_id = ${agentId}::uuid and not (${system} = any(s.told))`)
  },

  /** Counts the addresses of automatic quarantines since a time. */
  begunSince: async (tx: Tx, system: NacSystem, since: Date): Promise<number> =>
    (
      await tx.query<{ n: number }>(sql`
        select coalesce(sum(cardinality(q.macs)), 0)::int as n from nac_quarantines q
        where q.system = ${system} and q.is_automatic and q.started_at > ${since}`)
    )[0]?.n ?? 0,

  /** Returns quarantines that expired or whose host no longer has an attack tool, with the reason. */
  over: (tx: Tx, now: Date): Promise<{ quarantine_id: string; why: string }[]> =>
    tx.query(sql`
      select q.quarantine_id, case
          when q.expires_at <= ${now} then 'It expired.'
          when a.agent_id is null then 'The host was removed.'
          when p.device_id is null or not p.present then 'The device was detached.'
          when d.attack_tool = 2 then 'The device was approved.'
          else 'The device is no longer a confirmed attack tool.' end as why
      from nac_quarantines q
      left join agents a on a.agent_id = q.agent_id
      left join peripherals p on p.agent_id = q.agent_id and p.device_id = q.device_id
      left join designs d on d.design_id = p.design_id
      where ${isActive} and q.state <> 'clearing' and (
        q.expires_at <= ${now} or (q.device_id is not null and not exists (
          select from ${attached} and p.agent_id = q.agent_id)))
      order by q.quarantine_id limit 200`),

  /** Returns the current tags of hosts. Removed hosts are absent. */
  tagsOf: async (tx: Tx, agentIds: readonly string[]): Promise<Map<string, string>> => {
    const rows = await tx.query<{ agent_id: string; tags: string }>(
      sql`select r.agent_id, r.tags from agent_rows r where r.agent_id = any(${agentIds}::uuid[])`,
    )
    return new Map(rows.map((row) => [row.agent_id, row.tags]))
  },
})
