import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDb } from '#platform/db/db.ts'
import { migrate } from '#platform/db/migrate.ts'
import { createLog } from '#platform/log.ts'
import { startEmbeddedPostgres } from '#platform/postgres/index.ts'

/**
 * Makes a data directory with an empty database of this release: PostgreSQL is installed, the schema is there, nothing
 * else. A server on a copy of it starts as on an empty directory, only sooner.
 */
export const makePreparedDataDir = async (): Promise<{ dir: string; remove(): void }> => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-prepared-'))
  const log = createLog('silent')
  const postgres = await startEmbeddedPostgres({ dataDir: dir, log })
  try {
    const db = createDb({ connection: postgres.connection, max: 1, name: 'prepare', log, statementTimeoutMs: 0 })
    await migrate(db, new URL('../migrations', import.meta.url).pathname)
    await db.close()
  } finally {
    await postgres.stop()
  }
  return { dir, remove: () => rmSync(dir, { recursive: true, force: true }) }
}

/** Fills an empty directory with a copy. The programs of PostgreSQL, which nobody writes, are linked. */
export const copyPreparedDataDir = (prepared: string, to: string): void => {
  const programs = readdirSync(prepared).filter((name) => name.startsWith('postgres-bin-'))
  // Owners stay, which `fs.cp` does not keep: the database of a server run by root belongs to another user.
  execFileSync('cp', ['-a', join(prepared, 'postgres'), to])
  execFileSync('cp', ['-al', ...programs.map((name) => join(prepared, name)), to])
}
