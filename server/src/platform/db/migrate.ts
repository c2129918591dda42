import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../start-error.ts'
import type { Db } from './db.ts'

interface Migration {
  version: number
  name: string
  text: string
  checksum: string
}

/** Migrations of a folder, `NNNN_name.sql`, in order. Forward only: a release runs on the schema of its successor. */
export const readMigrations = (folder: string): Migration[] =>
  readdirSync(folder)
    .filter((file) => /^\d{4}_[a-z0-9_]+\.sql$/.test(file))
    .sort()
    .map((file) => {
      const text = readFileSync(join(folder, file), 'utf8')
      return {
        version: Number(file.slice(0, 4)),
        name: file.slice(5, -4),
        text,
        checksum: createHash('sha256').update(text).digest('hex'),
      }
    })

/** Any constant: keeps two replicas from migrating at once. */
const lockId = 7_205_759

/**
 * Brings the database to this release's schema, all or nothing; refuses a newer one. Returns the schema version.
 * @param upTo the last version to apply, for a backup of an older release
 */
export const migrate = async (db: Db, folder: string, upTo = Number.MAX_SAFE_INTEGER): Promise<number> => {
  const migrations = readMigrations(folder).filter(({ version }) => version <= upTo)
  const newest = migrations.at(-1)?.version ?? 0
  return db.withClient(async (client) => {
    await client.query('BEGIN')
    try {
      await client.query('SELECT pg_advisory_xact_lock($1)', [lockId])
      await client.query(
        'CREATE TABLE IF NOT EXISTS schema_migrations (version int PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())',
      )
      const { rows } = await client.query<{ version: number; checksum: string; name: string }>(
        'SELECT version, name, checksum FROM schema_migrations ORDER BY version',
      )
      const present = rows.at(-1)?.version ?? 0
      if (present > newest)
        throw new StartError(
          `The database has schema version ${present}, this release knows ${newest}. Start the release that wrote it, or a newer one.`,
        )
      for (const row of rows) {
        const own = migrations.find((m) => m.version === row.version)
        if (own !== undefined && own.checksum !== row.checksum)
          throw new StartError(
            `Migration ${row.version} (${row.name}) of the database differs from this release's. The checkout is not the release that made this database.`,
          )
      }
      const applied = new Set(rows.map((row) => row.version))
      for (const migration of migrations) {
        if (applied.has(migration.version)) continue
        await client.query(migration.text)
        await client.query('INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, $3)', [
          migration.version,
          migration.name,
          migration.checksum,
        ])
      }
      await client.query('COMMIT')
      return newest
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {})
      throw error
    }
  })
}
