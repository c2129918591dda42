import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import type { AgentRevocation } from '#features/contract.ts'
import type { DeletedAgent } from './revocations.ts'

/** Maximum number of matches that are counted for one identity. */
export const matchesCounted = 100

export type AgentsStore = ReturnType<typeof createAgentsStore>

/** The stored state of an agent when its report arrives. */
export interface AgentState {
  agent_id: string
  boot_id: string | null
  seq: number
  last_seen: Date
  /** How far the host clock was ahead at the last check-in. */
  skew_seconds: number
  inventory_hash: string | null
  facts_hash: string | null
  host: string
  address: string
  enforcement: string
  hashtags: string
  armed: boolean
  has_commands: boolean
  /** The rules of this host changed since it last fetched them. */
  policy_due: boolean
}

/** Facts as they are stored in the wide and the narrow table. */
export interface StoredFacts {
  agentId: string
  host: string
  address: string
  facts: unknown
  nics: unknown
  nicsText: string | null
  pcModel: string
  osName: string
  version: string
  enforcement: string
  osId: number
  versionId: number
  ethernets: number
  /** First digits of the fingerprint of its release key, `none` or `unreported`. */
  releaseKey: string
  search: string
}

/** An agent that an identity matches, with the properties that decide whether it can receive a command. */
export interface MatchedAgent {
  /** Position of the identity, from 1. */
  ord: number
  uuid: string
  hostIdentifier: string
  ipAddress: string
  armed: boolean
  agentless: boolean
  connected: boolean
  /** before-driver, after-attach, before-install or observe. */
  enforcement: string
}

/** The verdict on an agent's attached peripherals. */
export interface StoredVerdict {
  agentId: string
  severity: number
  risk: number
  riskFactors: unknown
  approvedPresent: number
  approvedGone: number
  /** Attached peripherals that no allow covers, if an allowlist applies. */
  notApproved: number
  vulnerable: boolean
  attackTool: boolean
  /** An allowlist applies to the host. */
  whitelist: boolean
}

/** The state of an agent after a report. */
export interface StoredBeat {
  agentId: string
  seq: number
  inventoryHash: string | null
  factsHash: string | null
  skewSeconds: number
  /** Address that it came from. Empty: a host without an agent. */
  address: string
}

/** Number of rows per sweep: each row changes about twenty indexes, and 5,000 take about a second. */
const silentAtOnce = 5_000

/** Removes the links of hosts to some others. */
/** Returns the hosts that have no possible duplicate left. */
const unlink = async (tx: Tx, agentIds: readonly string[], others: readonly string[]): Promise<string[]> => {
  const rows = await tx.query<{ agent_id: string; is_linked: boolean }>(sql`
    update agents a set possible_duplicates = coalesce((
      select array_agg(x) from unnest(a.possible_duplicates) x where x <> all(${others}::uuid[])), '{}')
    where a.agent_id = any(${agentIds}::uuid[])
    returning a.agent_id, a.possible_duplicates <> '{}' as is_linked`)
  return rows.flatMap(({ agent_id, is_linked }) => (is_linked ? [] : [agent_id]))
}

export const createAgentsStore = (db: Queryable) => ({
  /** Changes the owner and the notes of a host; null keeps one. Returns both, and the earlier ones. */
  setOwner: async (tx: Tx, agentId: string, owner: string | null, notes: string | null) =>
    (
      await tx.query<{ host: string; owner: string; notes: string; owner_before: string; notes_before: string }>(sql`
        update agents a set owner = coalesce(${owner}::text, a.owner), notes = coalesce(${notes}::text, a.notes)
        from (select b.agent_id, b.owner, b.notes from agents b where b.agent_id = ${agentId}::uuid for update) b
        where a.agent_id = b.agent_id
        returning a.host, a.owner, a.notes, b.owner as owner_before, b.notes as notes_before`)
    )[0],

  /** Gives a host the owner and the notes of another record of the same computer, if it has none. */
  keepOwner: async (tx: Tx, from: string, to: string): Promise<void> => {
    await tx.execute(sql`
      update agents a set owner = coalesce(nullif(a.owner, ''), o.owner), notes = coalesce(nullif(a.notes, ''), o.notes)
      from agents o where a.agent_id = ${to}::uuid and o.agent_id = ${from}::uuid`)
  },

  /**
   * Returns the ids of dictionary texts and adds new ones. Runs outside transactions: a text left by a rolled-back
   * report is harmless.
   */
  dictionaryIds: async (values: readonly string[]): Promise<Map<string, number>> => {
    const wanted = [...new Set(values)]
    await db.execute(sql`
      insert into dictionary (value, folded) select v, lower(v) from unnest(${wanted}::text[]) v on conflict (value) do nothing`)
    const rows = await db.query<{ id: number; value: string }>(
      sql`select d.id, d.value from dictionary d where d.value = any(${wanted}::text[])`,
    )
    return new Map(rows.map((row) => [row.value, row.id]))
  },

  /** Returns the agents that identities match, at most `matchesCounted` for each. */
  matching: (
    tx: Tx,
    asked: readonly { uuid: string | null; host: string | null; address: string | null; isSound: boolean }[],
  ): Promise<MatchedAgent[]> => {
    const columns = sql`m.agent_id, m.host, m.address, m.armed, m.agentless, m.connected`
    return tx.query<MatchedAgent>(sql`
      with u as materialized (
        select x.uuid, lower(x.host) as host, x.address, x.ord::int from unnest(${asked.map((a) => (a.isSound ? a.uuid : null))}::uuid[],
          ${asked.map((a) => a.host)}::text[], ${asked.map((a) => a.address)}::text[], ${asked.map((a) => a.isSound)}::boolean[])
          with ordinality x(uuid, host, address, is_sound, ord) where x.is_sound)
      select u.ord, r.agent_id as uuid, a.host as "hostIdentifier", a.address as "ipAddress", r.armed, r.agentless, r.connected, a.enforcement
      from u cross join lateral (
        select * from (
          select ${columns} from agent_rows m where u.uuid is not null and m.agent_id = u.uuid
          union all select ${columns} from agent_rows m where u.uuid is null and u.host is not null and m.host = u.host
          union all select ${columns} from agent_rows m where u.uuid is null and u.host is null and m.address = u.address) c
        where (u.host is null or c.host = u.host) and (u.address is null or c.address = u.address) limit ${matchesCounted}::int) r
      join agents a on a.agent_id = r.agent_id order by u.ord, r.agent_id`)
  },

  /**
   * Locks the agents of a batch in id order, which prevents deadlocks between batches. FOR UPDATE also writes to the log,
   * so a repeated check-in is only acknowledged once a synchronous standby stores the first one.
   */
  lockStates: (tx: Tx, agentIds: readonly string[]): Promise<AgentState[]> =>
    tx.prepared<AgentState>(sql`
      select h.agent_id, h.boot_id, h.seq, h.last_seen, h.skew_seconds, replace(h.inventory_hash::text, '-', '') as inventory_hash,
        replace(h.facts_hash::text, '-', '') as facts_hash, a.host, a.address, a.enforcement, r.armed,
        r.tags as hashtags, h.has_commands, h.policy_due
      from agent_heartbeats h join agents a on a.agent_id = h.agent_id join agent_rows r on r.agent_id = h.agent_id
      where h.agent_id = any(${agentIds}::uuid[]) order by h.agent_id for update of h`),

  writeFacts: async (tx: Tx, rows: readonly StoredFacts[]): Promise<void> => {
    if (rows.length === 0) return
    const ids = rows.map((r) => r.agentId)
    await tx.prepared(sql`
      update agents a set host = u.host, address = u.address, facts = u.facts, nics = u.nics, nics_text = u.nics_text,
        pc_model = u.pc_model, os_name = u.os_name, version = u.version, enforcement = u.enforcement
      from ${unnestOf([
        [ids, 'uuid[]'],
        [rows.map((r) => r.host), 'text[]'],
        [rows.map((r) => r.address), 'text[]'],
        [rows.map((r) => JSON.stringify(r.facts)), 'jsonb[]'],
        [rows.map((r) => JSON.stringify(r.nics)), 'jsonb[]'],
        [rows.map((r) => r.nicsText), 'text[]'],
        [rows.map((r) => r.pcModel), 'text[]'],
        [rows.map((r) => r.osName), 'text[]'],
        [rows.map((r) => r.version), 'text[]'],
        [rows.map((r) => r.enforcement), 'text[]'],
      ])} u(agent_id, host, address, facts, nics, nics_text, pc_model, os_name, version, enforcement)
      where a.agent_id = u.agent_id`)
    await tx.prepared(sql`
      update agent_rows r set host = lower(u.host), address = u.address, os_id = u.os_id, version_id = u.version_id,
        ethernets = u.ethernets, release_key = u.release_key
      from ${unnestOf([
        [ids, 'uuid[]'],
        [rows.map((r) => r.host), 'text[]'],
        [rows.map((r) => r.address), 'text[]'],
        [rows.map((r) => r.osId), 'int[]'],
        [rows.map((r) => r.versionId), 'int[]'],
        [rows.map((r) => r.ethernets), 'smallint[]'],
        [rows.map((r) => r.releaseKey), 'text[]'],
      ])} u(agent_id, host, address, os_id, version_id, ethernets, release_key)
      where r.agent_id = u.agent_id and (r.host, r.address, r.os_id, r.version_id, r.ethernets, r.release_key)
        is distinct from (lower(u.host), u.address, u.os_id, u.version_id, u.ethernets, u.release_key)`)
    await tx.prepared(sql`
      insert into agent_search (agent_id, search)
      select u.agent_id, u.search || E'\n' || lower(r.tags) from ${unnestOf([
        [ids, 'uuid[]'],
        [rows.map((r) => r.search), 'text[]'],
      ])} u(agent_id, search) join agent_rows r on r.agent_id = u.agent_id
      on conflict (agent_id) do update set search = excluded.search where agent_search.search is distinct from excluded.search`)
  },

  writeVerdicts: async (tx: Tx, rows: readonly StoredVerdict[]): Promise<void> => {
    if (rows.length === 0) return
    const ids = rows.map((r) => r.agentId)
    await tx.prepared(sql`
      update agent_rows r set severity = u.severity, risk = u.risk, approved_present = u.present, approved_gone = u.gone,
        not_approved = u.not_approved, unapproved = u.not_approved > 0, violation = u.not_approved > 0, vulnerable = u.vulnerable,
        attack_tool = u.attack_tool
      from ${unnestOf([
        [ids, 'uuid[]'],
        [rows.map((r) => r.severity), 'smallint[]'],
        [rows.map((r) => r.risk), 'smallint[]'],
        [rows.map((r) => Math.min(r.approvedPresent, 32_767)), 'smallint[]'],
        [rows.map((r) => Math.min(r.approvedGone, 32_767)), 'smallint[]'],
        [rows.map((r) => Math.min(r.notApproved, 32_767)), 'smallint[]'],
        [rows.map((r) => r.vulnerable), 'boolean[]'],
        [rows.map((r) => r.attackTool), 'boolean[]'],
      ])} u(agent_id, severity, risk, present, gone, not_approved, vulnerable, attack_tool)
      where r.agent_id = u.agent_id and (r.severity, r.risk, r.approved_present, r.approved_gone, r.not_approved, r.vulnerable, r.attack_tool)
        is distinct from (u.severity, u.risk, u.present, u.gone, u.not_approved, u.vulnerable, u.attack_tool)`)
    await tx.prepared(sql`
      update agents a set risk_factors = u.factors, whitelist = u.whitelist
      from ${unnestOf([
        [ids, 'uuid[]'],
        [rows.map((r) => JSON.stringify(r.riskFactors)), 'jsonb[]'],
        [rows.map((r) => r.whitelist), 'boolean[]'],
      ])} u(agent_id, factors, whitelist)
      where a.agent_id = u.agent_id and (a.risk_factors, a.whitelist) is distinct from (u.factors, u.whitelist)`)
  },

  /** Updates `seq` and the known inventory of agents, and marks them as connected. */
  recordHeartbeats: async (tx: Tx, now: Date, rows: readonly StoredBeat[]): Promise<void> => {
    if (rows.length === 0) return
    await tx.prepared(sql`
      update agent_heartbeats h set last_seen = ${now}, seq = u.seq, connected = true, skew_seconds = u.skew,
        seen_address = u.address, inventory_hash = u.inventory_hash, facts_hash = coalesce(u.facts_hash, h.facts_hash)
      from ${unnestOf([
        [rows.map((r) => r.agentId), 'uuid[]'],
        [rows.map((r) => r.seq), 'int[]'],
        [rows.map((r) => r.inventoryHash), 'uuid[]'],
        [rows.map((r) => r.factsHash), 'uuid[]'],
        [rows.map((r) => r.skewSeconds), 'int[]'],
        [rows.map((r) => r.address), 'text[]'],
      ])} u(agent_id, seq, inventory_hash, facts_hash, skew, address)
      where h.agent_id = u.agent_id`)
    await tx.prepared(
      sql`update agent_rows r set connected = true where r.agent_id = any(${rows.map((r) => r.agentId)}::uuid[]) and not r.connected`,
    )
  },

  /** Stores the modes that hosts report. */
  writeModes: async (
    tx: Tx,
    rows: readonly { agentId: string; armed: boolean; version: number; reason: string }[],
  ): Promise<void> => {
    if (rows.length === 0) return
    const ids = rows.map((r) => r.agentId)
    await tx.prepared(sql`
      update agent_rows r set armed = u.armed
      from ${unnestOf([
        [ids, 'uuid[]'],
        [rows.map((r) => r.armed), 'boolean[]'],
      ])} u(agent_id, armed) where r.agent_id = u.agent_id and r.armed <> u.armed`)
    await tx.prepared(sql`
      update agents a set policy_version = u.version, mode_reason = u.reason
      from ${unnestOf([
        [ids, 'uuid[]'],
        [rows.map((r) => r.version), 'int[]'],
        [rows.map((r) => r.reason), 'text[]'],
      ])} u(agent_id, version, reason)
      where a.agent_id = u.agent_id and (a.policy_version, a.mode_reason) is distinct from (u.version, u.reason)`)
  },

  addErrors: async (
    tx: Tx,
    now: Date,
    rows: readonly { agentId: string; at: Date; code: string; message: string }[],
  ): Promise<void> => {
    if (rows.length === 0) return
    await tx.prepared(sql`
      insert into agent_errors (agent_id, received_at, host_time, code, message)
      select u.agent_id, ${now}, u.at, u.code, u.message from ${unnestOf([
        [rows.map((r) => r.agentId), 'uuid[]'],
        [rows.map((r) => r.at), 'timestamptz[]'],
        [rows.map((r) => r.code), 'text[]'],
        [rows.map((r) => r.message), 'text[]'],
      ])} u(agent_id, at, code, message)`)
  },

  /**
   * Removes agents. Their keys stay recorded as revoked, each with its signed statement. Returns the removed rows, and the
   * hosts that have no possible duplicate left.
   */
  remove: async (
    tx: Tx,
    now: Date,
    by: string,
    agentIds: readonly string[],
    revoke: (agent: DeletedAgent) => AgentRevocation | null,
  ): Promise<{ removed: { agent_id: string; host: string; address: string }[]; unlinked: string[] }> => {
    const counters = await tx.query<{ agent_id: string; command_counter: number }>(sql`
      select h.agent_id, h.command_counter from agent_heartbeats h
      where h.agent_id = any(${agentIds}::uuid[]) order by h.agent_id for update`)
    const counterOf = new Map(counters.map((row) => [row.agent_id, row.command_counter]))
    const rows = await tx.query<{
      agent_id: string
      host: string
      address: string
      public_key: Buffer | null
      possible_duplicates: string[]
    }>(sql`
      delete from agents a where a.agent_id = any(${agentIds}::uuid[])
      returning a.agent_id, a.host, a.address, a.public_key, a.possible_duplicates`)
    const linked = rows.flatMap((row) => row.possible_duplicates)
    const unlinked = linked.length > 0 ? await unlink(tx, linked, agentIds) : []
    const statements = rows.map((row) => revoke({ ...row, command_counter: counterOf.get(row.agent_id) ?? 0 }))
    await tx.execute(sql`
      insert into revoked_agents (agent_id, revoked_at, revoked_by, statement)
      select u.agent_id, ${now}, ${by}, u.statement from ${unnestOf([
        [rows.map((r) => r.agent_id), 'uuid[]'],
        [statements.map((statement) => (statement === null ? null : JSON.stringify(statement))), 'text[]'],
      ])} u(agent_id, statement) on conflict do nothing`)
    return { removed: rows, unlinked }
  },

  /** Locks a host and a possible duplicate of it, and returns them; none unless both are linked. */
  lockLinked: async (
    tx: Tx,
    agentId: string,
    other: string,
  ): Promise<{ agent_id: string; host: string; address: string; tags: string }[]> => {
    const rows = await tx.query<{ agent_id: string; host: string; address: string; tags: string; linked: boolean }>(sql`
      select a.agent_id, a.host, a.address, r.tags, a.possible_duplicates && ${[agentId, other]}::uuid[] as linked
      from agents a join agent_rows r on r.agent_id = a.agent_id
      where a.agent_id = any(${[agentId, other]}::uuid[]) order by a.agent_id for update of a`)
    return rows.length === 2 && rows.some(({ linked }) => linked) ? rows : []
  },

  unlink,

  /**
   * Marks agents without a check-in since `before` as disconnected, several thousand at a time, because an outage
   * disconnects a whole fleet. Returns how many.
   */
  disconnectSilent: async (before: Date): Promise<number> => {
    const rows = await db.prepared<{ n: number }>(sql`
      with silent as materialized (
             select h.agent_id from agent_heartbeats h where h.connected and h.last_seen < ${before} and not h.agentless
             order by h.agent_id limit ${silentAtOnce}::int for update skip locked),
           s as (update agent_heartbeats h set connected = false from silent where h.agent_id = silent.agent_id returning h.agent_id),
           r as (update agent_rows r set connected = false from s where r.agent_id = s.agent_id returning 1)
      select count(*) as n from r`)
    return rows[0]?.n ?? 0
  },
})
