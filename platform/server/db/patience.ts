/** How long requests wait for the database, in milliseconds. */
export interface Patience {
  /** For a connection of the pool. */
  connectMs: number
  /** For a statement. */
  statementMs: number
  /** For the batch of a check-in, including both. */
  batchMs: number
}

/**
 * No request waits for longer than five seconds, whatever the database does. A run of a batch may wait first for a
 * connection and then for a statement; 5.9 s were measured.
 */
export const usualPatience: Patience = { connectMs: 4_000, statementMs: 4_000, batchMs: 4_500 }
