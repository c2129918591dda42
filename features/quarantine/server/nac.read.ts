import { nacSystems, quarantineStates } from '@portcullis/contract'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { contains, isTime, isTrue, likePattern, oneOf } from '@portcullis/platform/server/list/columns.ts'
import type { ListSpec } from '@portcullis/platform/server/list/compile.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'

const anyOf = (column: string, values: readonly string[]) =>
  oneOf(Object.fromEntries(values.map((value) => [value, `${column} = '${value}'`])))
const isActive = "(q.state not in ('cleared', 'dismissed'))"
/** All of it, or addresses that the system does not see at the host. */
const awaitsApproval =
  "(q.state = 'waiting' or (q.unconfirmed <> '{}' and q.state not in ('clearing', 'cleared', 'dismissed')))"
const macs = "array_to_string(q.macs, ',')"

export const quarantinesList: ListSpec = {
  name: 'quarantines',
  from: 'nac_quarantines q',
  id: 'q.quarantine_id',
  ties: ['q.quarantine_id'],
  defaultSort: [{ key: 'createdAt', descending: true }],
  search: (needle) => {
    const pattern = likePattern(needle)
    return sql`lower(q.host || ' ' || q.address || ' ' || ${raw(macs)} || ' ' || q.reason || ' ' || q.asked_by || ' ' || q.error) like ${pattern}::text`
  },
  columns: {
    id: { sort: 'q.quarantine_id' },
    system: { sort: 'q.system', filter: anyOf('q.system', nacSystems) },
    state: { sort: 'q.state', filter: anyOf('q.state', quarantineStates) },
    isActive: { sort: isActive, filter: isTrue(isActive) },
    awaitsApproval: { sort: awaitsApproval, filter: isTrue(awaitsApproval) },
    uuid: { sort: 'q.agent_id', filter: contains('q.agent_id::text') },
    hostIdentifier: { sort: 'lower(q.host)', filter: contains('lower(q.host)') },
    ipAddress: { sort: 'q.address', filter: contains('lower(q.address)') },
    macs: { sort: macs, filter: contains(`lower(${macs})`), names: ['mac'] },
    targets: {},
    unconfirmed: {},
    place: { sort: 'q.place' },
    isMoved: { sort: 'q.is_moved' },
    policy: { sort: 'lower(q.policy)' },
    reason: { sort: 'lower(q.reason)' },
    isAutomatic: { sort: 'q.is_automatic', filter: isTrue('q.is_automatic') },
    deviceID: { sort: 'q.device_id' },
    by: { sort: 'lower(q.asked_by)', filter: contains('lower(q.asked_by)') },
    createdAt: { sort: 'q.created_at', filter: isTime('q.created_at') },
    updatedAt: { sort: 'q.updated_at' },
    expiresAt: { sort: 'q.expires_at' },
    error: { sort: 'q.error' },
    attempts: { sort: 'q.attempts' },
    timeline: {},
  },
  rowJoins: `join nac_quarantines q on q.quarantine_id = ids.id
    left join lateral (
      select json_agg(json_build_object('at', ${utcSql('n.at')}, 'step', n.step, 'ok', n.is_ok, 'by', n.actor, 'message', n.message)
        order by n.step_id) as steps
      from (select s.* from nac_steps s where s.quarantine_id = q.quarantine_id order by s.step_id desc limit 50) n) timeline on true`,
  rowSelect: `q.quarantine_id as "id", q.system as "system", q.state as "state", ${isActive} as "isActive", ${awaitsApproval} as "awaitsApproval", q.agent_id as "uuid",
    q.host as "hostIdentifier", q.address as "ipAddress", q.macs as "macs", q.targets as "targets", q.unconfirmed as "unconfirmed", q.place as "place",
    q.is_moved as "isMoved", q.policy as "policy",
    q.reason as "reason", q.is_automatic as "isAutomatic", coalesce(q.device_id, '') as "deviceID", q.asked_by as "by",
    ${utcSql('q.created_at')} as "createdAt", ${utcSql('q.updated_at')} as "updatedAt", ${utcSql('q.expires_at')} as "expiresAt",
    q.error as "error", q.attempts as "attempts", coalesce(timeline.steps, '[]') as "timeline"`,
}
