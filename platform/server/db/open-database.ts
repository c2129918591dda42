import type pg from 'pg'
import type { Config } from '../config.ts'
import type { Log } from '../log.ts'
import { assertDatabaseFitness, startEmbeddedPostgres } from '../postgres/index.ts'
import { StartError } from '../start-error.ts'
import { clusterOf, createClient } from './connection.ts'
import { migrationLock } from './locks.ts'

export interface OpenDatabase {
  connection: pg.PoolConfig
  stop(): Promise<void>
}

/** Opens the external database if one is configured, after checks, else the embedded one. */
export const openDatabase = async (config: Config, log: Log): Promise<OpenDatabase> => {
  if (config.databaseUrl === null) {
    const embedded = await startEmbeddedPostgres({
      dataDir: config.dataDir,
      log,
      onCrash: (crash) => log.error({ crash }, 'the database stopped; restarting it'),
    })
    return { connection: { ...embedded.connection }, stop: embedded.stop }
  }
  const address = config.databaseUrl.reveal()
  const cluster = clusterOf(address, log)
  const connection = cluster?.connection ?? { connectionString: address }
  const client = createClient({ ...connection, connectionTimeoutMillis: 10_000 })
  client.on('error', () => {})
  try {
    await client.connect()
    // Two servers that start at once on an empty database both find it missing; IF NOT EXISTS alone fails the second.
    await client.query('BEGIN')
    await client.query('SELECT pg_advisory_xact_lock($1)', [migrationLock])
    await client.query('CREATE EXTENSION IF NOT EXISTS pg_trgm')
    await client.query('COMMIT')
    await assertDatabaseFitness(client)
  } catch (error) {
    if (error instanceof StartError) throw error
    throw new StartError(`The database of DATABASE_URL cannot be used: ${(error as Error).message}.`)
  } finally {
    await client.end().catch(() => {})
  }
  const watch = cluster?.watch()
  return { connection, stop: async () => watch?.stop() }
}
