import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedConnection, startEmbeddedPostgres } from './embedded.ts'
import type { LauncherLog } from './log.ts'
import { stopOrphan } from './orphan.ts'
import { startTimeOf } from './processes.ts'

const PREFIX = 'portcullis-test-'
const SILENT: LauncherLog = { info: () => undefined, warn: () => undefined }

/** A database server for one test run. */
export interface TestPostgres {
  /** The role may create databases: one migrated template, and a clone per test file. */
  connection: EmbeddedConnection
  /** Stops the server and removes all its files. */
  stop(): Promise<void>
}

/** Starts a throw-away cluster in the temporary directory, without fsync; one per run, from a globalSetup. */
export async function startTestPostgres(): Promise<TestPostgres> {
  await sweep()
  const dataDir = mkdtempSync(join(tmpdir(), PREFIX))
  writeFileSync(join(dataDir, 'run-by'), `${process.pid} ${startTimeOf(process.pid)}`)
  const postgres = await startEmbeddedPostgres({ dataDir, log: SILENT, durable: false })
  return {
    connection: postgres.connection,
    stop: async () => {
      await postgres.stop()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

/** Removes what killed test runs left, including databases. */
async function sweep(): Promise<void> {
  for (const name of readdirSync(tmpdir())) {
    if (!name.startsWith(PREFIX)) continue
    const dataDir = join(tmpdir(), name)
    try {
      const [pid, ...startedAt] = readFileSync(join(dataDir, 'run-by'), 'utf8').split(' ')
      if (startTimeOf(Number(pid)) === startedAt.join(' ')) continue
      await stopOrphan(join(dataDir, 'postgres'), SILENT)
      rmSync(dataDir, { recursive: true, force: true })
    } catch {
      // Being created, or another user's.
    }
  }
}
