import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { lock, locks } from '@portcullis/platform/server/db/locks.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

export const createSealingStore = () => ({
  /** Returns whether such a job runs or waits, and keeps others from starting one until the transaction ends. */
  isUnderWay: async (tx: Tx, kind: string): Promise<boolean> => {
    await lock(tx, locks.sealing(kind))
    return (await tx.query(sql`select 1 from jobs j where j.kind = ${kind} and j.state = 'running'`)).length > 0
  },
})
