/** Runs a PostgreSQL that is independent of the server: it keeps running when servers are killed. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { startEmbeddedPostgres } from '../../platform/server/postgres/index.ts'
import { onInterrupt, signalPostgres } from './interrupts.ts'

const quiet = { info: () => {}, warn: () => {}, error: (...args: unknown[]) => console.error(...args), debug: () => {} }

export interface DatabaseOptions {
  /** Directory of the cluster. If absent, a temporary one is created and removed at the end. */
  dataDir?: string
}

export type TestDatabase = Awaited<ReturnType<typeof startDatabase>>

const folders: string[] = []
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/**
 * Creates a directory that the database can access. It exists until the process ends. If this process is root, the database
 * runs as another user.
 */
export const temporaryFolder = (name: string): string => {
  const folder = mkdtempSync(join(tmpdir(), `portcullis-${name}-`))
  chmodSync(folder, 0o711)
  onInterrupt(() => rmSync(folder, { recursive: true, force: true }))
  folders.push(folder)
  return folder
}

/** Starts the same PostgreSQL that `npm start` runs. It restarts itself after a crash. */
export const startDatabase = async ({ dataDir }: DatabaseOptions = {}) => {
  const folder = dataDir ?? temporaryFolder('database')
  const clusterDir = join(folder, 'data', 'postgres')
  const starting = startEmbeddedPostgres({
    dataDir: join(folder, 'data'),
    log: quiet as never,
    // A rig loads its fleet after the start.
    hasFullBuffers: true,
    onCrash: () => {},
  })
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => {
    stopping ??= starting.then((database) => database.stop())
    return stopping
  }
  const isStopped = onInterrupt(() => {
    // A stopped process does not receive other signals.
    signalPostgres(clusterDir, 'SIGCONT')
    // If it never started, there is nothing to stop.
    return starting.then(stop, () => {})
  })
  const end = async (): Promise<void> => {
    await stop()
    isStopped()
    if (dataDir === undefined) rmSync(folder, { recursive: true, force: true })
  }
  const database = await starting
  const { host, port, user, database: name } = database.connection
  const connection: pg.ClientConfig = { ...database.connection }
  return {
    connection,
    /** The value for `DATABASE_URL`. */
    url: `postgresql://${user}@/${name}?host=${host}&port=${port}`,
    /** Directory of the cluster. */
    clusterDir,
    /** Process id of the postmaster. It changes after a crash. */
    pid: database.pid,
    stop: end,
    [Symbol.asyncDispose]: end,
  }
}
