import type { Tx } from '@portcullis/platform/server/db/db.ts'

/** The functions of hosts, a higher capability, that events call. */
export interface LatestEventsPort {
  /** Adds the newest event texts of each host, newest first, before the stored ones. Hosts come in id order. */
  addLatestEvents(tx: Tx, latest: readonly { agentId: string; texts: readonly string[] }[]): Promise<void>
}
