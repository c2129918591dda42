import type { Tx } from '@portcullis/platform/server/db/db.ts'

/** The functions that devices need from the policy, a higher capability. */
export interface DecisionsPort {
  /**
   * Recalculates decisions and verdicts of these hosts, because verdicts on their devices changed. Runs in the
   * transaction that changed them, with the hosts locked in id order. Announces the hosts and wakes armed ones at
   * COMMIT, except if only the state of findings changed, which no policy contains.
   */
  reassess(tx: Tx, agentIds: readonly string[], isPolicyChanged?: boolean): Promise<void>
}
