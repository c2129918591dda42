import { deliveryStates } from '@portcullis/contract'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { contains, isTime, isTrue, likePattern, oneOf } from '@portcullis/platform/server/list/columns.ts'
import type { ListSpec } from '@portcullis/platform/server/list/compile.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'

const anyOf = (column: string, values: readonly string[]) =>
  oneOf(Object.fromEntries(values.map((value) => [value, `${column} = '${value}'`])))
const isStuck = "(d.state = 'failed' or d.state = 'waiting' and d.attempts > 0 and d.lease_until is null)"

export const deliveriesList: ListSpec = {
  name: 'deliveries',
  from: 'deliveries d',
  id: 'd.delivery_id',
  ties: ['d.delivery_id'],
  defaultSort: [{ key: 'createdAt', descending: true }],
  search: (needle) => {
    const pattern = likePattern(needle)
    return sql`lower(${raw("d.group_name || ' ' || d.destination || ' ' || d.title || ' ' || d.error")}) like ${pattern}::text`
  },
  columns: {
    id: { sort: 'd.delivery_id' },
    groupName: { sort: 'lower(d.group_name)', filter: contains('lower(d.group_name)') },
    channel: { sort: 'd.channel', filter: anyOf('d.channel', ['email', 'webhook']) },
    destination: { sort: 'lower(d.destination)', filter: contains('lower(d.destination)') },
    title: { sort: 'lower(d.title)', filter: contains('lower(d.title)') },
    state: { sort: 'd.state', filter: anyOf('d.state', deliveryStates) },
    attempts: { sort: 'd.attempts' },
    isStuck: { sort: isStuck, filter: isTrue(isStuck) },
    createdAt: { sort: 'd.created_at', filter: isTime('d.created_at') },
    nextAt: { sort: 'd.next_at' },
    endedAt: { sort: 'd.ended_at' },
    error: { sort: 'd.error' },
  },
  rowJoins: 'join deliveries d on d.delivery_id = ids.id',
  rowSelect: `d.delivery_id as "id", d.group_name as "groupName", d.channel as "channel", d.destination as "destination",
    d.title as "title", d.state as "state", d.attempts as "attempts", ${isStuck} as "isStuck", ${utcSql('d.created_at')} as "createdAt",
    case when d.state = 'waiting' then ${utcSql('d.next_at')} end as "nextAt", ${utcSql('d.ended_at')} as "endedAt", d.error as "error"`,
}
