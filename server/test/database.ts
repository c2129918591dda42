import { randomBytes } from 'node:crypto'
import { createDb, type Db } from '@portcullis/platform/server/db/db.ts'
import type { Patience } from '@portcullis/platform/server/db/patience.ts'
import { createLog } from '@portcullis/platform/server/log.ts'
import { inject } from 'vitest'

export const templateDatabase = 'portcullis_template'

/** Creates a clock that moves only when a test advances it. */
export const createFakeClock = (start = Date.UTC(2031, 4, 4, 10, 11, 12)) => {
  let now = start
  return {
    now: () => now,
    advance(milliseconds: number): void {
      now += milliseconds
    },
  }
}

/** A loaded machine responds late, and the usual limits would test the machine. */
export const longPatience: Patience = { connectMs: 60_000, statementMs: 60_000, batchMs: 60_000 }

/** Removes a database, also while autovacuum works in it. */
export const dropDatabase = (admin: Db, database: string): Promise<unknown> =>
  admin.withClient((client) =>
    client
      .query(`DROP DATABASE IF EXISTS ${database} WITH (FORCE)`)
      // Only a superuser may end an autovacuum worker in this database by force. Without force, it is asked to stop.
      .catch(() => client.query(`DROP DATABASE IF EXISTS ${database}`)),
  )

/**
 * Clones the migrated template database, for stores and services without the HTTP application. `template` selects
 * another template, such as the empty `template0`.
 */
export const cloneDatabase = async (template = templateDatabase) => {
  const connection = inject('postgres')
  const database = `t_${randomBytes(6).toString('hex')}`
  const log = createLog('silent')
  const admin = createDb({
    connection,
    max: 1,
    name: 'clone',
    log,
    statementTimeoutMs: 0,
    connectTimeoutMs: longPatience.connectMs,
  })
  await admin.withClient((client) =>
    client.query(`CREATE DATABASE ${database} TEMPLATE ${template} STRATEGY file_copy`),
  )
  const db = createDb({
    connection: { ...connection, database },
    max: 8,
    name: 'test',
    log,
    statementTimeoutMs: longPatience.statementMs,
    connectTimeoutMs: longPatience.connectMs,
  })
  return {
    db,
    log,
    close: async () => {
      await db.close()
      await dropDatabase(admin, database)
      await admin.close()
    },
  }
}
