import type { WorksAgain } from '@portcullis/contract'
import type { Queryable } from '#platform/db/db.ts'
import { type SqlFragment, sql } from '#platform/db/sql.ts'

/** What decides whether a host can do what is asked of it. */
export interface Target {
  agent_id: string
  host: string
  address: string
  armed: boolean
  agentless: boolean
  connected: boolean
  in_action: boolean
  /** before-driver, after-attach or observe. */
  enforcement: string
  version: string
  architecture: string
  /** Prefix of the fingerprint of the release key; 'none' if the agent was built without one, 'unreported' if unknown. */
  release_key: string
}

/** Hosts by what they can do: few rows for any number of hosts. */
export interface TargetGroup extends Omit<Target, 'agent_id' | 'host' | 'address'> {
  agents: number
}

/** What arming would do to present devices. */
interface BlockedDevices {
  agents: number
  peripherals: number
  attack_tools: number
  mismatched_agents: number
  mismatched: number
}

export const noneWorksAgain: WorksAgain = { agents: 0, peripherals: 0, attackTools: 0 }

export const createActionsRead = (db: Queryable) => ({
  /** Condition for named agents; ids of other forms name nothing. */
  named: (agentIds: readonly string[]): SqlFragment => sql`r.agent_id = any(${agentIds}::uuid[])`,

  targets: (tx: Queryable, where: SqlFragment): Promise<Target[]> =>
    tx.query<Target>(sql`
      select r.agent_id, a.host, a.address, r.armed, r.agentless, r.connected, r.in_action, a.enforcement, a.version, r.release_key,
        coalesce(a.facts ->> 'architecture', '') as architecture
      from agent_rows r join agents a on a.agent_id = r.agent_id where ${where} order by r.agent_id`),

  groups: (where: SqlFragment): Promise<TargetGroup[]> =>
    db.query<TargetGroup>(sql`
      select count(*)::int as agents, r.armed, r.agentless, r.connected, r.in_action, a.enforcement, a.version, r.release_key,
        coalesce(a.facts ->> 'architecture', '') as architecture
      from agent_rows r join agents a on a.agent_id = r.agent_id where ${where} group by 2, 3, 4, 5, 6, 7, 8, 9`),

  /** Present devices that an armed host would block, by the decisions that are stored; and attack tools among all present. */
  devices: async (where: SqlFragment, blocking: readonly number[]): Promise<BlockedDevices> =>
    (
      await db.query<BlockedDevices>(sql`
        select count(distinct p.agent_id) filter (where p.source = any(${blocking}::smallint[]))::int as agents,
          count(*) filter (where p.source = any(${blocking}::smallint[]))::int as peripherals,
          count(*) filter (where p.severity >= 40)::int as attack_tools,
          count(distinct p.agent_id) filter (where p.driver_mismatch <> '')::int as mismatched_agents,
          count(*) filter (where p.driver_mismatch <> '')::int as mismatched
        from peripherals p join agent_rows r on r.agent_id = p.agent_id join agents a on a.agent_id = r.agent_id
        where p.present and not r.agentless and a.enforcement <> 'observe' and ${where}`)
    )[0] ?? { agents: 0, peripherals: 0, attack_tools: 0, mismatched_agents: 0, mismatched: 0 },

  /** Attached devices that armed hosts block now; `sources`: only those that one of these decided. */
  blockedNow: async (where: SqlFragment, sources: readonly number[], on: Queryable = db): Promise<WorksAgain> =>
    (
      await on.query<WorksAgain>(sql`
        select count(distinct p.agent_id)::int as agents, count(*)::int as peripherals,
          count(*) filter (where p.severity >= 40)::int as "attackTools"
        from peripherals p join agent_rows r on r.agent_id = p.agent_id join agents a on a.agent_id = r.agent_id
        where p.present and not p.authorized and r.armed and p.source = any(${sources}::smallint[]) and ${where}`)
    )[0] ?? noneWorksAgain,

  /** Which of these exist. */
  existing: async (agentIds: readonly string[]): Promise<number> =>
    (
      await db.query<{ n: number }>(
        sql`select count(*) as n from agent_rows r where r.agent_id = any(${agentIds}::uuid[])`,
      )
    )[0]?.n ?? 0,
})

export type ActionsRead = ReturnType<typeof createActionsRead>
