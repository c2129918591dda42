import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { likePattern } from '@portcullis/platform/server/list/columns.ts'
import { listSpec } from '@portcullis/platform/server/list/spec.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'
import { deliveryList } from '#features/contract.ts'

export const deliveriesList = listSpec(deliveryList, {
  name: 'deliveries',
  from: 'deliveries d',
  id: 'd.delivery_id',
  ties: ['d.delivery_id'],
  search: (needle) => {
    const pattern = likePattern(needle)
    return sql`lower(${raw("d.group_name || ' ' || d.destination || ' ' || d.title || ' ' || d.error")}) like ${pattern}::text`
  },
  columns: {
    id: 'd.delivery_id',
    groupName: { select: 'd.group_name', sort: 'lower(d.group_name)' },
    channel: 'd.channel',
    destination: { select: 'd.destination', sort: 'lower(d.destination)' },
    title: { select: 'd.title', sort: 'lower(d.title)' },
    state: 'd.state',
    attempts: 'd.attempts',
    isStuck: "(d.state = 'failed' or d.state = 'waiting' and d.attempts > 0 and d.lease_until is null)",
    createdAt: { select: utcSql('d.created_at'), sort: 'd.created_at' },
    nextAt: { select: `case when d.state = 'waiting' then ${utcSql('d.next_at')} end`, sort: 'd.next_at' },
    endedAt: { select: utcSql('d.ended_at'), sort: 'd.ended_at' },
    error: 'd.error',
  },
  rowJoins: 'join deliveries d on d.delivery_id = ids.id',
})
