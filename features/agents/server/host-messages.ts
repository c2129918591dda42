import type { Bus } from '@portcullis/platform/server/db/bus.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'

/** Topics of the bus for the replica that holds the socket of a host: the host must check in now, or it was removed. */
export const hostTopics = { wake: 'wake', removed: 'agents-removed' } as const

/** A message holds about 200 ids (bus.ts, payloadLimit). */
const idsPerMessage = 150

/** Notifies, at COMMIT, the replicas that hold the sockets. */
export const createHostMessages = (bus: Bus) => {
  const about =
    (topic: string) =>
    async (tx: Tx, ids: readonly string[]): Promise<void> => {
      for (let at = 0; at < ids.length; at += idsPerMessage)
        await bus.publish(tx, topic, { ids: ids.slice(at, at + idsPerMessage) })
    }
  return { wake: about(hostTopics.wake), removed: about(hostTopics.removed) }
}
