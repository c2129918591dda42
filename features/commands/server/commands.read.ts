import { agentCommandKinds, commandStates } from '@portcullis/contract'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { contains, isTime, likePattern, oneOf } from '@portcullis/platform/server/list/columns.ts'
import type { ListSpec } from '@portcullis/platform/server/list/compile.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'

const anyOf = (column: string, values: readonly string[]) =>
  oneOf(Object.fromEntries(values.map((value) => [value, `${column} = '${value}'`])))

export const commandsList: ListSpec = {
  name: 'commands',
  from: 'commands c',
  id: 'c.command_id',
  ties: ['c.command_id'],
  defaultSort: [{ key: 'createdAt', descending: true }],
  search: (needle) => {
    const pattern = likePattern(needle)
    return sql`(lower(c.host) like ${pattern}::text or lower(c.title) like ${pattern}::text
      or lower(c.created_by) like ${pattern}::text or lower(c.message) like ${pattern}::text)`
  },
  columns: {
    id: { sort: 'c.command_id' },
    uuid: { sort: 'c.agent_id', filter: contains('c.agent_id::text'), names: ['hostUuid'] },
    hostIdentifier: { sort: 'lower(c.host)', filter: contains('lower(c.host)') },
    kind: { sort: 'c.kind', filter: anyOf('c.kind', agentCommandKinds) },
    title: { sort: 'c.title' },
    state: { sort: 'c.state', filter: anyOf('c.state', commandStates) },
    createdAt: { sort: 'c.created_at', filter: isTime('c.created_at') },
    createdBy: { sort: 'lower(c.created_by)' },
    expiresAt: { sort: 'c.expires_at' },
    deliveredAt: { sort: 'c.delivered_at' },
    endedAt: { sort: 'c.ended_at' },
    message: { sort: 'c.message' },
    jobId: { sort: 'c.job_id', filter: contains('c.job_id::text') },
  },
  rowJoins: 'join commands c on c.command_id = ids.id',
  rowSelect: `c.command_id as "id", c.agent_id as "uuid", c.host as "hostIdentifier", c.kind, c.title, c.state,
    ${utcSql('c.created_at')} as "createdAt", c.created_by as "createdBy", ${utcSql('c.expires_at')} as "expiresAt",
    ${utcSql('c.delivered_at')} as "deliveredAt", ${utcSql('c.ended_at')} as "endedAt", c.message, c.job_id as "jobId"`,
}

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
