/** A PostgreSQL of its own, apart from the server: it outlives the servers that are killed above it. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type pg from 'pg'
import { startEmbeddedPostgres } from '../server/src/platform/postgres/index.ts'
import { signalPostgres, undoAtBreak } from './leftovers.ts'

const quiet = { info: () => {}, warn: () => {}, error: (...args: unknown[]) => console.error(...args), debug: () => {} }

export interface DatabaseOptions {
  /** Folder of the cluster; made, and removed at the end, when absent. */
  dataDir?: string
  /** The database ended by itself, and is started again. */
  onCrash?(): void
}

export type RigDatabase = Awaited<ReturnType<typeof startDatabase>>

/** A folder that the database may pass through: it runs as another user when this is root. */
export const temporaryFolder = (name: string): string => {
  const folder = mkdtempSync(join(tmpdir(), `portcullis-${name}-`))
  chmodSync(folder, 0o711)
  undoAtBreak(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

/** Starts the same PostgreSQL that `npm start` runs; it restarts itself after a crash. */
export const startDatabase = async ({ dataDir, onCrash }: DatabaseOptions = {}) => {
  const folder = dataDir ?? temporaryFolder('database')
  const clusterDir = join(folder, 'data', 'postgres')
  const starting = startEmbeddedPostgres({
    dataDir: join(folder, 'data'),
    log: quiet as never,
    onCrash: () => onCrash?.(),
  })
  let stopping: Promise<void> | undefined
  const stop = (): Promise<void> => {
    stopping ??= starting.then((database) => database.stop())
    return stopping
  }
  const isStopped = undoAtBreak(() => {
    // One that stands still hears nothing.
    signalPostgres(clusterDir, 'SIGCONT')
    // One that never came up has nothing to stop.
    return starting.then(stop, () => {})
  })
  const database = await starting
  const { host, port, user, database: name } = database.connection
  const connection: pg.ClientConfig = { ...database.connection }
  return {
    connection,
    /** As `DATABASE_URL` names it. */
    url: `postgresql://${user}@/${name}?host=${host}&port=${port}`,
    /** Folder of the cluster. */
    clusterDir,
    version: database.version,
    /** Of the postmaster; another one after a crash. */
    pid: database.pid,
    stop: async (): Promise<void> => {
      await stop()
      isStopped()
      if (dataDir === undefined) rmSync(folder, { recursive: true, force: true })
    },
  }
}
