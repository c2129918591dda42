import type { Tx } from '#platform/db/db.ts'

/** What events need of hosts, which are a higher feature. */
export interface LatestEventsPort {
  /** Puts the newest event texts of each host, newest first, before those that it has. Hosts come in id order. */
  addLatestEvents(tx: Tx, latest: readonly { agentId: string; texts: readonly string[] }[]): Promise<void>
}
