import type { Audit } from '#features/system/audit/index.ts'
import type { Tx } from '#platform/db/db.ts'
import type { Actor } from '#platform/http/actor.ts'

/**
 * Number of hosts that get one audit record each. For more hosts, each record names as many as fit its details (ids of
 * 37 characters).
 */
const singly = 20
const idsPerRecord = 200

/**
 * Records which hosts got an order, inside the transaction that gave it. Call it last, because it locks the head of the
 * trail.
 */
export const recordOrder = async (
  audit: Audit,
  tx: Tx,
  actor: Actor,
  order: string,
  hosts: readonly { agent_id: string; host: string; address: string }[],
): Promise<void> => {
  if (hosts.length <= singly) {
    for (const { agent_id, host, address } of hosts)
      await audit.write(tx, actor, {
        action: 'command.ordered',
        entity: `${host} (${address})`,
        details: `${order}: agent ${agent_id}`,
      })
    return
  }
  for (let at = 0; at < hosts.length; at += idsPerRecord) {
    const some = hosts.slice(at, at + idsPerRecord)
    await audit.write(tx, actor, {
      action: 'command.ordered',
      entity: `${some.length} hosts`,
      details: `${order}: ${some.map((h) => h.agent_id).join(',')}`,
    })
  }
}
