import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

/** How often a host attached a device on one day. */
export interface AttachmentCount {
  agentId: string
  deviceId: string
  /** Day in UTC as `yyyy-MM-dd`. */
  day: string
  n: number
  /** How many of them were blocked. */
  blocked: number
}

/** Stores the queue of hosts whose decisions need recalculation, and the attachments of each day. */
export const createPolicyHostsStore = () => ({
  /**
   * Queues hosts for recalculation: all, those with a tag, or those that ever had a device with one of some
   * fingerprints.
   */
  queueAll: (tx: Tx): Promise<number> =>
    tx.execute(
      sql`insert into policy_queue (agent_id) select r.agent_id from agent_rows r order by r.agent_id on conflict do nothing`,
    ),
  queueTagged: (tx: Tx, tagId: number): Promise<number> =>
    tx.execute(sql`
      insert into policy_queue (agent_id) select x.agent_id from agent_tags x where x.tag_id = ${tagId}
      order by x.agent_id on conflict do nothing`),
  queueHolders: (tx: Tx, fingerprintIds: readonly number[]): Promise<number> =>
    tx.execute(sql`
      insert into policy_queue (agent_id)
      select distinct p.agent_id from peripherals p where p.design_id = any(${fingerprintIds}::int[])
      order by p.agent_id on conflict do nothing`),
  queueThese: (tx: Tx, agentIds: readonly string[]): Promise<number> =>
    tx.execute(sql`
      insert into policy_queue (agent_id)
      select a.agent_id from agents a where a.agent_id = any(${agentIds}::uuid[]) order by a.agent_id on conflict do nothing`),

  /** Assigns a job to the hosts that were just queued. */
  giveJob: async (tx: Tx, jobId: string): Promise<void> => {
    await tx.execute(sql`update policy_queue q set job_id = ${jobId}::uuid where q.job_id is null`)
  },

  /** Takes some hosts off the queue. If the transaction fails, they stay queued. */
  takeQueued: (tx: Tx, limit: number): Promise<{ agent_id: string; job_id: string | null }[]> =>
    tx.prepared(sql`
      delete from policy_queue q where q.agent_id in (
        select w.agent_id from policy_queue w order by w.agent_id limit ${limit}::int for update skip locked)
      returning q.agent_id, q.job_id`),

  countAttachments: async (tx: Tx, rows: readonly AttachmentCount[]): Promise<void> => {
    if (rows.length === 0) return
    await tx.prepared(sql`
      insert into attachment_days as d (day, agent_id, device_id, n, blocked)
      select u.day, u.agent_id, u.device_id, u.n, u.blocked from ${unnestOf([
        [rows.map((r) => r.agentId), 'uuid[]'],
        [rows.map((r) => r.deviceId), 'text[]'],
        [rows.map((r) => r.day), 'date[]'],
        [rows.map((r) => r.n), 'int[]'],
        [rows.map((r) => r.blocked), 'int[]'],
      ])} u(agent_id, device_id, day, n, blocked)
      on conflict (agent_id, device_id, day) do update set n = d.n + excluded.n, blocked = d.blocked + excluded.blocked`)
  },
})

export type PolicyHostsStore = ReturnType<typeof createPolicyHostsStore>
