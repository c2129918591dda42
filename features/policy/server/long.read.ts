import type { Db, Tx } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

/**
 * Runs a read of many devices on the pool of long reads, so that it takes no connection from sign-ins and lists. The
 * pool has no default timeout, so each statement gets one.
 */
export const createLongRead =
  (exportDb: Db) =>
  <T>(work: (tx: Tx) => Promise<T>): Promise<T> =>
    exportDb.transaction(async (tx) => {
      await tx.execute(sql`set local statement_timeout = '20s'`)
      return work(tx)
    })

export type LongRead = ReturnType<typeof createLongRead>
