import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'

/** Number of logs stored per agent. */
const keptPerAgent = 5

export interface LogSummary {
  id: string
  collectedAt: string
  size: number
}

const summary = raw(`l.log_id as id, ${utcSql('l.received_at')} as "collectedAt", l.size`)

export const createDebugLogsStore = (db: Queryable) => ({
  begin: async (log: { id: string; agentId: string; commandId: string; now: Date }): Promise<void> => {
    await db.execute(sql`
      insert into debug_logs (log_id, agent_id, command_id, received_at)
      values (${log.id}, ${log.agentId}, ${log.commandId}, ${log.now})`)
  },

  addChunk: async (id: string, n: number, bytes: Buffer): Promise<void> => {
    await db.execute(sql`insert into debug_log_chunks (log_id, n, bytes) values (${id}, ${n}, ${bytes})`)
  },

  /** Marks a log as complete and deletes the oldest logs of its agent. */
  complete: async (tx: Tx, id: string, agentId: string, size: number): Promise<void> => {
    await tx.execute(sql`update debug_logs l set is_complete = true, size = ${size} where l.log_id = ${id}`)
    await tx.execute(sql`
      delete from debug_logs l where l.agent_id = ${agentId} and l.is_complete and l.log_id not in (
        select k.log_id from debug_logs k where k.agent_id = ${agentId} and k.is_complete
        order by k.received_at desc, k.log_id desc limit ${keptPerAgent}::int)`)
  },

  drop: async (id: string): Promise<void> => {
    await db.execute(sql`delete from debug_logs l where l.log_id = ${id}`)
  },

  /** Deletes uploads that were never completed. */
  dropIncomplete: (before: Date): Promise<number> =>
    db.execute(sql`delete from debug_logs l where not l.is_complete and l.received_at < ${before}`),

  isReceived: async (commandId: string): Promise<boolean> =>
    (await db.query(sql`select 1 from debug_logs l where l.command_id = ${commandId}::uuid and l.is_complete`)).length >
    0,

  /** Returns the logs of agents, newest first. */
  ofAgents: (agentIds: readonly string[]): Promise<(LogSummary & { agentId: string })[]> =>
    db.query(sql`
      select l.agent_id as "agentId", ${summary} from debug_logs l
      where l.agent_id = any(${agentIds}::uuid[]) and l.is_complete
      order by l.received_at desc, l.log_id desc`),

  /** Returns agents with their logs: agents by host name, logs newest first. */
  agents: (): Promise<
    {
      uuid: string
      hostIdentifier: string
      localIpAddress: string
      connectionStatus: 'Connected' | 'Disconnected'
      logs: LogSummary[]
    }[]
  > =>
    db.query(sql`
      select a.agent_id as uuid, a.host as "hostIdentifier", a.address as "localIpAddress",
        case when r.connected then 'Connected' else 'Disconnected' end as "connectionStatus", x.logs
      from (select l.agent_id, jsonb_agg(jsonb_build_object('id', l.log_id, 'collectedAt', ${raw(utcSql('l.received_at'))}, 'size', l.size)
            order by l.received_at desc, l.log_id desc) as logs
          from debug_logs l where l.is_complete group by l.agent_id) x
      join agents a on a.agent_id = x.agent_id join agent_rows r on r.agent_id = x.agent_id order by r.host, a.agent_id`),

  one: async (agentId: string, id: string): Promise<{ host: string; received_at: Date; size: number } | undefined> =>
    (
      await db.query<{ host: string; received_at: Date; size: number }>(sql`
        select a.host, l.received_at, l.size from debug_logs l join agents a on a.agent_id = l.agent_id
        where l.log_id = ${id}::uuid and l.agent_id = ${agentId}::uuid and l.is_complete`)
    )[0],

  chunk: async (id: string, n: number): Promise<Buffer | undefined> =>
    (
      await db.query<{ bytes: Buffer }>(
        sql`select c.bytes from debug_log_chunks c where c.log_id = ${id}::uuid and c.n = ${n}`,
      )
    )[0]?.bytes,
})
