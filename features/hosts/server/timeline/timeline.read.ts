import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

/** The hosts, the range and the limit of one read. */
export interface TimelineRange {
  agentId: string
  from: Date
  to: Date
  limit: number
}

/** Replicas with different clocks can store events that are slightly older than the ones before them. */
const clockMarginMs = 300_000

export interface TimelineEvent {
  event_id: number
  at: Date
  uncertainty: number | null
  code: number
  severity: number
  description: string
  details: string
  device_id: string | null
}

export interface TimelineCommand {
  command_id: string
  title: string
  state: string
  created_at: Date
  created_by: string
  ended_at: Date | null
  message: string
}

export interface TimelineAlert {
  notice_id: number
  title: string
  description: string
  severity: number
  since: Date
  dismissed_at: Date | null
  dismissed_by: string
}

export interface TimelineAudit {
  audit_id: number
  created_at: Date
  action: string
  severity: number
  actor: string
  details: string
}

/** Reads the sources of a timeline, each with its newest rows. */
export const createTimelineRead = (db: Queryable) => ({
  exists: async (agentId: string): Promise<boolean> =>
    (await db.prepared(sql`select 1 as one from agents a where a.agent_id = ${agentId}::uuid`)).length > 0,

  /** No event happens after its receipt, and ids grow with the time of receipt, so the first id bounds the scan. */
  events: ({ agentId, from, to, limit }: TimelineRange, exceptCodes: readonly number[]): Promise<TimelineEvent[]> =>
    db.prepared<TimelineEvent>(sql`
      select e.event_id, coalesce(e.occurred_at, e.created_at) as at, e.occurred_uncertainty_ms as uncertainty, e.code,
        e.severity, e.description, e.details, e.device_id
      from events e
      where e.agent_id = ${agentId}::uuid
        and e.event_id >= (select f.event_id from events f where f.created_at >= ${new Date(from.getTime() - clockMarginMs)}::timestamptz
          order by f.created_at, f.event_id limit 1)
        and coalesce(e.occurred_at, e.created_at) >= ${from}::timestamptz
        and coalesce(e.occurred_at, e.created_at) < ${to}::timestamptz
        and not e.code = any(${exceptCodes}::int[])
      order by coalesce(e.occurred_at, e.created_at) desc, e.event_id desc limit ${limit}::int`),

  /** Commands that were queued or ended in the range. */
  commands: ({ agentId, from, to, limit }: TimelineRange): Promise<TimelineCommand[]> =>
    db.prepared<TimelineCommand>(sql`
      select c.command_id, c.title, c.state, c.created_at, c.created_by, c.ended_at, c.message
      from commands c
      where c.agent_id = ${agentId}::uuid and c.created_at < ${to}::timestamptz
        and (c.ended_at is null or c.ended_at >= ${from}::timestamptz)
      order by greatest(c.created_at, c.ended_at) desc limit ${limit}::int`),

  /** Alerts that reached the host in the range, or were closed in it. */
  alerts: ({ agentId, from, to, limit }: TimelineRange): Promise<TimelineAlert[]> =>
    db.prepared<TimelineAlert>(sql`
      select n.notice_id, n.title, n.description, n.severity, h.since, n.dismissed_at, n.dismissed_by
      from notice_hosts h join notices n on n.notice_id = h.notice_id
      where h.agent_id = ${agentId}::uuid
        and (h.since >= ${from}::timestamptz and h.since < ${to}::timestamptz
          or n.dismissed_at >= ${from}::timestamptz and n.dismissed_at < ${to}::timestamptz)
      order by greatest(h.since, n.dismissed_at) desc limit ${limit}::int`),

  /** Audit records that name the host by its id. */
  audit: ({ agentId, from, to, limit }: TimelineRange): Promise<TimelineAudit[]> =>
    db.prepared<TimelineAudit>(sql`
      select i.audit_id, i.created_at, i.action, i.severity, i.actor, coalesce(j.record->>'details', '') as details
      from (
        select x.audit_id, x.created_at, x.action, x.severity, x.actor from audit_index x
        where x.terms @@ ${`'i:host:${agentId}'`}::tsquery
          and x.created_at >= ${from}::timestamptz and x.created_at < ${to}::timestamptz
        order by x.audit_id desc limit ${limit}::int) i
        join audit_records r on r.audit_id = i.audit_id cross join lateral audit_json(r.record) j(record)
      order by i.audit_id desc`),
})
