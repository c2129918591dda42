import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createDb } from '@portcullis/platform/server/db/db.ts'
import { migrate } from '@portcullis/platform/server/db/migrate.ts'
import { createLog } from '@portcullis/platform/server/log.ts'
import { startEmbeddedPostgres } from '@portcullis/platform/server/postgres/index.ts'

/**
 * Creates a data directory with PostgreSQL and an empty database of this release. A server starts on a copy of it as on
 * an empty directory, only faster.
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

/** Fills an empty directory with a copy. PostgreSQL's programs, which are never written, are hard links. */
export const copyPreparedDataDir = (prepared: string, to: string): void => {
  const programs = readdirSync(prepared).filter((name) => name.startsWith('postgres-bin-'))
  // Keeps owners, which `fs.cp` does not: the database of a server run by root belongs to another user.
  execFileSync('cp', ['-a', join(prepared, 'postgres'), to])
  execFileSync('cp', ['-al', ...programs.map((name) => join(prepared, name)), to])
}
