import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

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
  /** Job that will sign the newest order to arm or free it; null if no order waits for a job. */
  mode_job: string | null
}

/** Updates the agent state that commands change. */
export const createCommandState = () => ({
  /** Locks agents in id order, as every writer does. Deleted agents give no row. */
  lockForCommands: (tx: Tx, agentIds: readonly string[]): Promise<CommandTarget[]> =>
    tx.prepared<CommandTarget>(sql`
      select h.agent_id, a.host, a.address, r.tags as hashtags, h.command_counter, h.command_key, h.mode_job
      from agent_heartbeats h join agents a on a.agent_id = h.agent_id join agent_rows r on r.agent_id = h.agent_id
      where h.agent_id = any(${agentIds}::uuid[]) order by h.agent_id for update of h`),

  /**
   * Records that commands are pending for these agents. The newest one has this counter. A new mode replaces the order
   * of a job that has not signed yet.
   */
  commandsPending: async (
    tx: Tx,
    counters: ReadonlyMap<string, number>,
    newModes: ReadonlySet<string>,
  ): Promise<void> => {
    await tx.prepared(sql`
      update agent_heartbeats h set has_commands = true, command_counter = u.counter,
        mode_job = case when u.is_mode then null else h.mode_job end
      from ${unnestOf([
        [[...counters.keys()], 'uuid[]'],
        [[...counters.values()], 'bigint[]'],
        [[...counters.keys()].map((id) => newModes.has(id)), 'boolean[]'],
      ])} u(agent_id, counter, is_mode) where h.agent_id = u.agent_id`)
  },

  /** Marks agents for a job that will sign their new mode. Locks them in id order. */
  orderModes: async (tx: Tx, jobId: string, agentIds: readonly string[]): Promise<void> => {
    await tx.prepared(sql`
      with due as materialized (
        select h.agent_id from agent_heartbeats h where h.agent_id = any(${agentIds}::uuid[]) order by h.agent_id for update)
      update agent_heartbeats h set has_commands = true, mode_job = ${jobId}::uuid from due where h.agent_id = due.agent_id`)
  },

  /** Removes the marks of these agents, or only those of one job. Returns the agents that had one. */
  withdrawModes: async (tx: Tx, agentIds: readonly string[], jobId: string | null): Promise<string[]> =>
    (
      await tx.prepared<{ agent_id: string }>(sql`
        update agent_heartbeats h set mode_job = null
        where h.agent_id = any(${agentIds}::uuid[]) and h.mode_job is not null and (${jobId}::uuid is null or h.mode_job = ${jobId}::uuid)
        returning h.agent_id`)
    ).map((row) => row.agent_id),

  /** Records that no command is pending for these agents, except those that wait for a job. */
  commandsDone: async (tx: Tx, agentIds: readonly string[]): Promise<void> => {
    await tx.prepared(sql`
      update agent_heartbeats h set has_commands = false
      where h.agent_id = any(${agentIds}::uuid[]) and h.has_commands and h.mode_job is null`)
  },

  configured: async (tx: Tx, now: Date, agentIds: readonly string[]): Promise<void> => {
    await tx.prepared(sql`update agent_rows r set last_configured = ${now} where r.agent_id = any(${agentIds}::uuid[])`)
  },
})
