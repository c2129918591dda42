import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'

/** The properties that decide whether a host supports an action. */
export interface Target {
  agent_id: string
  host: string
  address: string
  armed: boolean
  agentless: boolean
  connected: boolean
  in_action: boolean
  enforcement: string
  version: string
  architecture: string
  /** Prefix of the fingerprint of the release key; 'none' if the agent was built without one, 'unreported' if unknown. */
  release_key: string
}

/** Groups of hosts with the same properties: few rows for any number of hosts. */
export interface TargetGroup extends Omit<Target, 'agent_id' | 'host' | 'address'> {
  agents: number
}

export const createBulkRead = (db: Queryable) => ({
  named: (agentIds: readonly string[]): SqlFragment => sql`r.agent_id = any(${agentIds}::uuid[])`,

  without: (where: SqlFragment, agentIds: readonly string[]): SqlFragment =>
    sql`(${where}) and r.agent_id <> all(${agentIds}::uuid[])`,

  targets: (tx: Queryable, where: SqlFragment): Promise<Target[]> =>
    tx.query<Target>(sql`
      select r.agent_id, a.host, a.address, r.armed, r.agentless, r.connected, h.has_commands as in_action, a.enforcement, a.version, r.release_key,
        coalesce(a.facts ->> 'architecture', '') as architecture
      from agent_rows r join agents a on a.agent_id = r.agent_id join agent_heartbeats h on h.agent_id = r.agent_id where ${where} order by r.agent_id`),

  /** Returns the first hosts that cannot be armed, or are in the list, by name. */
  notArmable: (where: SqlFragment, listed: readonly string[], limit: number): Promise<Target[]> =>
    db.query<Target>(sql`
      select r.agent_id, a.host, a.address, r.armed, r.agentless, r.connected, h.has_commands as in_action, a.enforcement, a.version, r.release_key,
        coalesce(a.facts ->> 'architecture', '') as architecture
      from agent_rows r join agents a on a.agent_id = r.agent_id join agent_heartbeats h on h.agent_id = r.agent_id
      where (${where}) and (r.agentless or a.enforcement = 'observe' or r.agent_id = any(${listed}::uuid[]))
      order by lower(a.host), r.agent_id limit ${limit}::int`),

  /** Counts the armed hosts, with those of an order. */
  armedWith: async (tx: Queryable, where: SqlFragment): Promise<number> =>
    (await tx.query<{ n: number }>(sql`select count(*)::int as n from agent_rows r where r.armed or (${where})`))[0]
      ?.n ?? 0,

  groups: (where: SqlFragment): Promise<TargetGroup[]> =>
    db.query<TargetGroup>(sql`
      select count(*)::int as agents, r.armed, r.agentless, r.connected, h.has_commands as in_action, a.enforcement, a.version, r.release_key,
        coalesce(a.facts ->> 'architecture', '') as architecture
      from agent_rows r join agents a on a.agent_id = r.agent_id join agent_heartbeats h on h.agent_id = r.agent_id where ${where} group by 2, 3, 4, 5, 6, 7, 8, 9`),

  existing: async (agentIds: readonly string[]): Promise<number> =>
    (
      await db.query<{ n: number }>(
        sql`select count(*) as n from agent_rows r where r.agent_id = any(${agentIds}::uuid[])`,
      )
    )[0]?.n ?? 0,
})
