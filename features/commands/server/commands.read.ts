import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { contains, likePattern } from '@portcullis/platform/server/list/columns.ts'
import { listSpec } from '@portcullis/platform/server/list/spec.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'
import { commandList } from '#features/contract.ts'

export const commandsList = listSpec(commandList, {
  name: 'commands',
  from: 'commands c',
  id: 'c.command_id',
  ties: ['c.command_id'],
  search: (needle) => {
    const pattern = likePattern(needle)
    return sql`(lower(c.host) like ${pattern}::text or lower(c.title) like ${pattern}::text
      or lower(c.created_by) like ${pattern}::text or lower(c.message) like ${pattern}::text)`
  },
  columns: {
    id: 'c.command_id',
    uuid: 'c.agent_id',
    hostIdentifier: { select: 'c.host', sort: 'lower(c.host)' },
    kind: 'c.kind',
    title: 'c.title',
    state: 'c.state',
    createdAt: { select: utcSql('c.created_at'), sort: 'c.created_at' },
    createdBy: { select: 'c.created_by', sort: 'lower(c.created_by)' },
    expiresAt: { select: utcSql('c.expires_at'), sort: 'c.expires_at' },
    deliveredAt: { select: utcSql('c.delivered_at'), sort: 'c.delivered_at' },
    endedAt: { select: utcSql('c.ended_at'), sort: 'c.ended_at' },
    message: 'c.message',
    jobId: 'c.job_id',
  },
  filters: { hostUuid: contains('c.agent_id::text'), jobId: contains('c.job_id::text') },
  rowJoins: 'join commands c on c.command_id = ids.id',
})

/** A command on the page of its agent. */
export interface PendingCommand {
  id: string
  kind: string
  state: string
  createdAt: string
}

export const createCommandsRead = (db: Queryable) => ({
  /** Returns the active commands of an agent, in the order in which they are delivered. */
  pendingOf: (agentId: string): Promise<PendingCommand[]> =>
    db.prepared<PendingCommand>(sql`
      select c.command_id as id, c.kind, c.state, ${raw(utcSql('c.created_at'))} as "createdAt"
      from commands c where c.agent_id = ${agentId}::uuid and c.state in ('queued', 'delivered') order by c.counter`),
})
