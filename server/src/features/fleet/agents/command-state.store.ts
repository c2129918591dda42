import type { Tx } from '#platform/db/db.ts'
import { unnestOf } from '#platform/db/ordered.ts'
import { sql } from '#platform/db/sql.ts'

/** A host that receives a command. */
export interface CommandTarget {
  agent_id: string
  host: string
  address: string
  hashtags: string
  /** Counter of its last command. */
  command_counter: number
  /** Number of the command key that it holds. */
  command_key: number
}

/** Updates the agent state that commands change. */
export const createCommandState = () => ({
  /** Locks agents in id order, as every writer does. Deleted agents give no row. */
  lock: (tx: Tx, agentIds: readonly string[]): Promise<CommandTarget[]> =>
    tx.prepared<CommandTarget>(sql`
      select h.agent_id, a.host, a.address, r.tags as hashtags, h.command_counter, h.command_key
      from agent_heartbeats h join agents a on a.agent_id = h.agent_id join agent_rows r on r.agent_id = h.agent_id
      where h.agent_id = any(${agentIds}::uuid[]) order by h.agent_id for update of h`),

  /** Records that commands are pending for these agents, the newest with this counter. */
  pending: async (tx: Tx, counters: ReadonlyMap<string, number>): Promise<void> => {
    await tx.prepared(sql`
      update agent_heartbeats h set has_commands = true, command_counter = u.counter
      from ${unnestOf([
        [[...counters.keys()], 'uuid[]'],
        [[...counters.values()], 'bigint[]'],
      ])} u(agent_id, counter) where h.agent_id = u.agent_id`)
  },

  /** Records that no command is pending for these agents. */
  idle: async (tx: Tx, agentIds: readonly string[]): Promise<void> => {
    await tx.prepared(sql`
      update agent_heartbeats h set has_commands = false where h.agent_id = any(${agentIds}::uuid[]) and h.has_commands`)
  },

  configured: async (tx: Tx, now: Date, agentIds: readonly string[]): Promise<void> => {
    await tx.prepared(sql`update agent_rows r set last_configured = ${now} where r.agent_id = any(${agentIds}::uuid[])`)
  },
})
