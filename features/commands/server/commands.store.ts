import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import type { AgentCommandKind, CommandState } from '#features/contract.ts'

/** The command has not ended. */
const active = raw(`c.state in ('queued', 'delivered')`)

export interface NewCommand {
  id: string
  agentId: string
  host: string
  kind: AgentCommandKind
  title: string
  counter: number
  payload: string
  signature: string
  keyNumber: number
  expiresAt: Date
  jobId: string | null
}

export interface EndedCommand {
  agent_id: string
  kind: AgentCommandKind
  title: string
  state: CommandState
  was: CommandState
  message: string
  job_id: string | null
}

/** The result that a host reports for a command. */
export interface Ack {
  agentId: string
  commandId: string
  confirmed: boolean
  message: string
}

/** Selects active commands. */
export interface ActiveOf {
  agentIds: readonly string[]
  kind?: AgentCommandKind
  jobId?: string
  /** Mode that the command sets, for the kind `configure`. */
  mode?: 'Armed'
}

export interface DeliveredCommand {
  agent_id: string
  payload: string
  signature: string
  /** Numbers of the key that signed it and of the key that its host holds now. */
  key_number: number
  command_key: number
}

/** Limits of the commands in one check-in answer. */
const perAnswer = { commands: 16, bytes: 48 * 1024 }

export const createCommandsStore = (db: Queryable) => ({
  insert: async (tx: Tx, now: Date, by: string, rows: readonly NewCommand[]): Promise<void> => {
    await tx.prepared(sql`
      insert into commands (command_id, agent_id, host, kind, title, counter, payload, signature, key_number, expires_at, job_id, created_at, created_by)
      select u.*, ${now}, ${by} from ${unnestOf([
        [rows.map((r) => r.id), 'uuid[]'],
        [rows.map((r) => r.agentId), 'uuid[]'],
        [rows.map((r) => r.host), 'text[]'],
        [rows.map((r) => r.kind), 'text[]'],
        [rows.map((r) => r.title), 'text[]'],
        [rows.map((r) => r.counter), 'bigint[]'],
        [rows.map((r) => r.payload), 'text[]'],
        [rows.map((r) => r.signature), 'text[]'],
        [rows.map((r) => r.keyNumber), 'int[]'],
        [rows.map((r) => r.expiresAt), 'timestamptz[]'],
        [rows.map((r) => r.jobId), 'uuid[]'],
      ])} u`)
  },

  /**
   * Returns the pending commands of these agents by counter, up to the limits of one answer, and marks them as
   * delivered. Every answer contains a command until its host has ended it, because answers may be lost. Hosts
   * recognise a repeated command by its id.
   *
   * The dates identify queued commands. With `state = 'queued'`, a plan made on an empty table reads all active
   * commands through a partial index. That takes 10 ms per response after an order to 10,000 hosts.
   */
  deliver: (now: Date, agentIds: readonly string[]): Promise<DeliveredCommand[]> =>
    db.prepared<DeliveredCommand>(sql`
      with due as materialized (
        select d.command_id, d.agent_id, d.counter, d.payload, d.signature, d.key_number, d.state from (
          select c.command_id, c.agent_id, c.counter, c.payload, c.signature, c.key_number, c.state,
            row_number() over w as n, sum(octet_length(c.payload) + octet_length(c.signature)) over w as bytes
          from commands c where c.agent_id = any(${agentIds}::uuid[]) and ${active} and c.expires_at > ${now}
          window w as (partition by c.agent_id order by c.counter)) d
        where d.n <= ${perAnswer.commands} and (d.n = 1 or d.bytes <= ${perAnswer.bytes})),
      marked as (
        update commands c set state = 'delivered', delivered_at = ${now} from due
        where due.state = 'queued' and c.command_id = due.command_id and c.delivered_at is null and c.ended_at is null)
      select due.agent_id, due.payload, due.signature, due.key_number, h.command_key
      from due join agent_heartbeats h on h.agent_id = due.agent_id order by due.agent_id, due.counter`),

  /** Stores the outcomes of commands; ignores unknown and repeated ones. A confirmation wins over a cancellation. */
  acknowledge: (tx: Tx, now: Date, acks: readonly Ack[]): Promise<EndedCommand[]> =>
    tx.prepared<EndedCommand>(sql`
      with a as materialized (
        select c.command_id, c.state as was, u.confirmed, u.message
        from commands c join ${unnestOf([
          [acks.map((a) => a.agentId), 'uuid[]'],
          [acks.map((a) => a.commandId), 'uuid[]'],
          [acks.map((a) => a.confirmed), 'boolean[]'],
          [acks.map((a) => a.message), 'text[]'],
        ])} u(agent_id, command_id, confirmed, message) on u.command_id = c.command_id and u.agent_id = c.agent_id
        where ${active} or u.confirmed and c.state in ('cancelled', 'expired')
        order by c.command_id for update of c)
      update commands c set state = case when a.confirmed then 'confirmed' else 'failed' end, ended_at = ${now},
        message = case when a.was in ('cancelled', 'expired') then 'Confirmed by the host after it was ' || a.was || '.' else a.message end
      from a where c.command_id = a.command_id
      returning c.agent_id, c.kind, c.title, c.state, a.was, c.message, c.job_id`),

  end: (tx: Tx, now: Date, state: 'cancelled' | 'expired', message: string, of: ActiveOf): Promise<EndedCommand[]> => {
    const ofKind = of.kind === undefined ? sql`` : sql`and c.kind = ${of.kind}`
    const ofJob = of.jobId === undefined ? sql`` : sql`and c.job_id = ${of.jobId}::uuid`
    const ofMode = of.mode === undefined ? sql`` : sql`and c.payload::jsonb ->> 'mode' = ${of.mode}`
    const due = state === 'expired' ? sql`and c.expires_at <= ${now}` : sql``
    return tx.prepared<EndedCommand>(sql`
      with e as materialized (
        select c.command_id, c.state as was from commands c where c.agent_id = any(${of.agentIds}::uuid[]) and ${active} ${ofKind} ${ofJob} ${ofMode} ${due} order by c.command_id for update)
      update commands c set state = ${state}, ended_at = ${now}, message = ${message} from e where c.command_id = e.command_id
      returning c.agent_id, c.kind, c.title, c.state, e.was, c.message, c.job_id`)
  },

  /** Returns the given agents that still have active commands. */
  waiting: async (tx: Tx, agentIds: readonly string[]): Promise<Set<string>> =>
    new Set(
      (
        await tx.prepared<{ agent_id: string }>(
          sql`select distinct c.agent_id from commands c where c.agent_id = any(${agentIds}::uuid[]) and ${active}`,
        )
      ).map((row) => row.agent_id),
    ),

  /** Returns agents with overdue commands. */
  overdue: async (now: Date, limit: number): Promise<string[]> =>
    (
      await db.prepared<{ agent_id: string }>(sql`
        select distinct c.agent_id from commands c where ${active} and c.expires_at <= ${now} limit ${limit}::int`)
    ).map((row) => row.agent_id),

  /** Returns agents with active commands of a job. */
  agentsOfJob: async (jobId: string, limit: number): Promise<string[]> =>
    (
      await db.query<{ agent_id: string }>(sql`
        select distinct c.agent_id from commands c where c.job_id = ${jobId}::uuid and ${active} limit ${limit}::int`)
    ).map((row) => row.agent_id),

  /** Returns whether this command asked a host to collect its logs and is still active. */
  isCollecting: async (agentId: string, commandId: string): Promise<boolean> =>
    (
      await db.query(sql`
        select 1 from commands c where c.command_id = ${commandId}::uuid and c.agent_id = ${agentId}::uuid
          and c.kind = 'collect-logs' and c.state = 'delivered'`)
    ).length > 0,

  forget: (before: Date): Promise<number> =>
    db.execute(sql`delete from commands c where c.ended_at < ${before} and not (${active})`),
})
