import type { Tx } from '#platform/db/db.ts'

/** What peripherals need of the policy, which is a higher feature. */
export interface DecisionsPort {
  /**
   * Makes decisions and verdicts of these hosts anew: verdicts on their devices changed. Called in the transaction that
   * judges, with the hosts locked in id order; announces the hosts and wakes armed ones at COMMIT.
   */
  reassess(tx: Tx, agentIds: readonly string[]): Promise<void>
}
