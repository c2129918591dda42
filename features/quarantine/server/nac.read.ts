import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { contains, likePattern } from '@portcullis/platform/server/list/columns.ts'
import { listSpec } from '@portcullis/platform/server/list/spec.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'
import { quarantineList } from '#features/contract.ts'

const macs = "array_to_string(q.macs, ',')"

export const quarantinesList = listSpec(quarantineList, {
  name: 'quarantines',
  from: 'nac_quarantines q',
  id: 'q.quarantine_id',
  ties: ['q.quarantine_id'],
  search: (needle) => {
    const pattern = likePattern(needle)
    return sql`lower(q.host || ' ' || q.address || ' ' || ${raw(macs)} || ' ' || q.reason || ' ' || q.asked_by || ' ' || q.error) like ${pattern}::text`
  },
  columns: {
    id: 'q.quarantine_id',
    system: 'q.system',
    state: 'q.state',
    isActive: "(q.state not in ('cleared', 'dismissed'))",
    // Either the whole quarantine waits, or only the addresses that the system does not see at the host.
    awaitsApproval:
      "(q.state = 'waiting' or (q.unconfirmed <> '{}' and q.state not in ('clearing', 'cleared', 'dismissed')))",
    uuid: 'q.agent_id',
    hostIdentifier: { select: 'q.host', sort: 'lower(q.host)' },
    ipAddress: 'q.address',
    macs: { select: 'q.macs', sort: macs },
    targets: 'q.targets',
    unconfirmed: 'q.unconfirmed',
    place: 'q.place',
    isMoved: 'q.is_moved',
    policy: { select: 'q.policy', sort: 'lower(q.policy)' },
    reason: { select: 'q.reason', sort: 'lower(q.reason)' },
    isAutomatic: 'q.is_automatic',
    deviceID: { select: "coalesce(q.device_id, '')", sort: 'q.device_id' },
    by: { select: 'q.asked_by', sort: 'lower(q.asked_by)' },
    createdAt: { select: utcSql('q.created_at'), sort: 'q.created_at' },
    updatedAt: { select: utcSql('q.updated_at'), sort: 'q.updated_at' },
    expiresAt: { select: utcSql('q.expires_at'), sort: 'q.expires_at' },
    error: 'q.error',
    attempts: 'q.attempts',
    timeline: "coalesce(timeline.steps, '[]')",
  },
  filters: {
    uuid: contains('q.agent_id::text'),
    ipAddress: contains('lower(q.address)'),
    mac: contains(`lower(${macs})`),
  },
  rowJoins: `join nac_quarantines q on q.quarantine_id = ids.id
    left join lateral (
      select json_agg(json_build_object('at', ${utcSql('n.at')}, 'step', n.step, 'ok', n.is_ok, 'by', n.actor, 'message', n.message)
        order by n.step_id) as steps
      from (select s.* from nac_steps s where s.quarantine_id = q.quarantine_id order by s.step_id desc limit 50) n) timeline on true`,
})
