import { createHash } from 'node:crypto'
import { revertText } from '@portcullis/domain'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { hostsText } from '#features/agents/server/index.ts'
import type { Audit, AuditTarget } from '#features/audit/server/index.ts'
import type { BulkAction } from '#features/contract.ts'
import { actionTitles } from './possible.ts'

/** Number of hosts of one record: as many ids of 37 characters fit its details. */
const idsPerRecord = 200

/**
 * Records which hosts got an order, inside the transaction that gave it. Call it last, because it locks the head of the
 * trail.
 */
export const recordOrder = async (
  audit: Audit,
  tx: Tx,
  actor: Actor,
  action: BulkAction,
  hosts: readonly { agent_id: string; host: string; address: string }[],
  revertMinutes = 0,
): Promise<void> => {
  const order = `${actionTitles[action]}${revertText(revertMinutes)}`
  const targets = hosts.map(({ agent_id, host }): AuditTarget => ({ kind: 'host', id: agent_id, name: host }))
  const [only] = hosts
  if (only !== undefined && hosts.length === 1) {
    await audit.write(tx, actor, {
      action: 'command.ordered',
      entity: `${only.host} (${only.address})`,
      details: `${order}: agent ${only.agent_id}`,
      variant: action,
      objects: targets,
    })
    return
  }
  for (let at = 0; at < hosts.length; at += idsPerRecord) {
    const some = hosts.slice(at, at + idsPerRecord)
    await audit.write(tx, actor, {
      action: 'command.ordered',
      entity: `${some.length} hosts`,
      details: `${order}: ${some.map((h) => h.agent_id).join(',')}`,
      variant: action,
      count: some.length,
      objects: targets.slice(at, at + idsPerRecord),
    })
  }
}

/**
 * Records that a job was created for an order, in the transaction that created it. The steps of the job record each
 * host. The digest of the ordered list shows later whether the steps followed the order.
 */
export const recordJob = async (
  audit: Audit,
  tx: Tx,
  actor: Actor,
  job: {
    action: BulkAction
    uuids: readonly string[]
    jobId: string
    /** How the hosts were selected. */
    selection: string
    revertMinutes?: number | undefined
    reason?: string
    tags?: readonly string[]
  },
): Promise<void> => {
  const { action, uuids, jobId, selection, revertMinutes = 0, reason = '', tags = [] } = job
  const digest = createHash('sha256')
    .update([...uuids].sort().join('\n'))
    .digest('hex')
  await audit.write(tx, actor, {
    action: 'bulk.ordered',
    entity: hostsText(uuids.length),
    details: `${actionTitles[action]}${revertText(revertMinutes)}, job ${jobId}, ${selection}, SHA-256 of the host ids ${digest}${reason === '' ? '' : `, reason: ${reason}`}`,
    variant: action,
    count: uuids.length,
    reason,
    objects: tags.map((name) => ({ kind: 'tag' as const, name })),
  })
}
