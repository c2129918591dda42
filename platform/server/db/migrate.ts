import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../start-error.ts'
import { type Db, isPgError } from './db.ts'
import { migrationLock } from './locks.ts'

interface Migration {
  version: number
  name: string
  text: string
  checksum: string
  /** Releases that know this schema version can run after the migration; 0: all earlier ones. */
  runsWith: number
}

/**
 * Reads the migrations of a folder, `NNNN_name.sql`, in order. Migrations only go forward: a release runs on the schema
 * of its successor. One that removes something names the releases that can still run, in a line `-- runs-with: NNNN`
 * (ADR 0026).
 */
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
        runsWith: Number(/^-- runs-with: (\d{4})$/m.exec(text)?.[1] ?? 0),
      }
    })

/** Longest wait for a table lock, because all other statements queue up behind it. */
const lockTimeoutMs = 2_000
const tries = 10

/** Selects the schema version that a release must know to run on a database changed by a newer one. */
export const floorSql =
  "SELECT coalesce(substring(obj_description('schema_migrations'::regclass) from '^runs-with (\\d+)$'), '0')::int AS floor"

const migrateOnce = (db: Db, migrations: readonly Migration[]): Promise<number> =>
  db.withClient(async (client) => {
    const newest = migrations.at(-1)?.version ?? 0
    await client.query('BEGIN')
    try {
      await client.query('SELECT pg_advisory_xact_lock($1)', [migrationLock])
      await client.query("SELECT set_config('lock_timeout', $1, true)", [String(lockTimeoutMs)])
      await client.query(
        'CREATE TABLE IF NOT EXISTS schema_migrations (version int PRIMARY KEY, name text NOT NULL, checksum text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now())',
      )
      const { rows } = await client.query<{ version: number; checksum: string; name: string }>(
        'SELECT version, name, checksum FROM schema_migrations ORDER BY version',
      )
      const floor = (await client.query<{ floor: number }>(floorSql)).rows[0]?.floor ?? 0
      const present = rows.at(-1)?.version ?? 0
      if (present > newest && floor > newest)
        throw new StartError(
          `The database has schema version ${present}, which needs a release that knows version ${floor}; this one knows ${newest}. Start the release that wrote it or a newer one.`,
        )
      for (const row of rows) {
        const own = migrations.find((m) => m.version === row.version)
        if (own !== undefined && own.checksum !== row.checksum)
          throw new StartError(
            `Migration ${row.version} (${row.name}) of the database differs from the one in this release. Another release created this database.`,
          )
      }
      const applied = new Set(rows.map((row) => row.version))
      const open = migrations.filter(({ version }) => !applied.has(version))
      for (const { text, version, name, checksum } of open) {
        await client.query(text)
        await client.query('INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, $3)', [
          version,
          name,
          checksum,
        ])
      }
      const left = Math.max(0, ...open.map(({ runsWith }) => runsWith))
      if (left > floor) await client.query(`COMMENT ON TABLE schema_migrations IS 'runs-with ${left}'`)
      await client.query('COMMIT')
      return Math.max(newest, present)
    } catch (error) {
      await client.query('ROLLBACK').catch(() => {})
      throw error
    }
  })

/**
 * Migrates the database to this release's schema, completely or not at all. Keeps a newer schema, or throws if that removed
 * something this release needs. Returns the schema version.
 * @param upTo the last version to apply, for a backup of an older release
 */
export const migrate = async (db: Db, folder: string, upTo = Number.MAX_SAFE_INTEGER): Promise<number> => {
  const migrations = readMigrations(folder).filter(({ version }) => version <= upTo)
  for (let left = tries; ; left--) {
    try {
      return await migrateOnce(db, migrations)
    } catch (error) {
      // A long read of another replica holds the table; the statements behind us go first now.
      if (!isPgError(error, '55P03') || left <= 1) throw error
    }
  }
}
