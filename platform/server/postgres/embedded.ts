import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { prepareDataDir } from '../data-dir.ts'
import { writeAccess } from './access.ts'
import { binariesVersion, installBinaries, removeOtherBinaries } from './binaries.ts'
import { assertClusterVersion, dataBytesOf, ensureCluster, SUPERUSER } from './cluster.ts'
import { assertDatabaseFitness } from './fitness.ts'
import { giveCluster } from './give-cluster.ts'
import { holderOf, lockDataDir } from './instance-lock.ts'
import { letThrough } from './let-through.ts'
import type { LauncherLog } from './log.ts'
import { openLogFile } from './log-file.ts'
import { stopOrphan } from './orphan.ts'
import { chooseOwner } from './owner.ts'
import { type Postmaster, startPostmaster } from './postmaster.ts'
import { serverArguments } from './settings.ts'
import { makeSocketDir, PORT, socketDirOf } from './socket-dir.ts'

// Doubles with each attempt; after a minute of operation it restarts at the first delay.
const FIRST_DELAY_MS = 100
const LAST_DELAY_MS = 30_000
const STABLE_AFTER_MS = 60_000

/** The database ended unexpectedly and is being restarted. */
export interface DatabaseCrash {
  /** Readable reason why it ended, or why a restart failed. */
  reason: string
  /** Restart attempts since it last ran stably, including this one. */
  attempt: number
  /** Delay of the restart in milliseconds. */
  retryInMs: number
}

export interface EmbeddedPostgresOptions {
  dataDir: string
  log: LauncherLog
  /** Called for every crash and every failed restart. Connections are lost by then; the pool opens new ones. */
  onCrash?: (crash: DatabaseCrash) => void
  /** False only for throw-away test clusters: nothing is synced to disk, and the role may create databases. */
  durable?: boolean
  /** True for databases that grow a lot after the start. Their buffers get the maximum size. */
  hasFullBuffers?: boolean
}

/** Connection options for `new pg.Pool(…)`. The role owns the database and is not a superuser. */
export interface EmbeddedConnection {
  host: string
  port: number
  user: string
  database: string
}

export interface EmbeddedPostgres {
  connection: EmbeddedConnection
  /** Version of PostgreSQL, for example `18.4`. */
  version: string
  /** Returns the process id of the current server; a restart changes it. */
  pid(): number
  /** Stops the database and releases the data directory. Close all pools before. */
  stop(): Promise<void>
}

const PRODUCT = 'portcullis'

/**
 * Runs PostgreSQL from the npm packages on `dataDir`, without a port or password, on a socket that only the database user
 * and root can open.
 * @throws StartError
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const dataDir = prepareDataDir(options.dataDir)
  const unlock = lockDataDir(dataDir)
  try {
    return await startLocked(dataDir, options, unlock)
  } catch (error) {
    unlock()
    throw error
  }
}

/** Returns how to connect to the database that another process runs on `dataDir`; null if none does. */
export const runningEmbedded = (dataDir: string): { pid: number; connection: EmbeddedConnection } | null => {
  const pid = holderOf(dataDir)
  return pid === null
    ? null
    : { pid, connection: { host: socketDirOf(dataDir), port: PORT, user: PRODUCT, database: PRODUCT } }
}

async function startLocked(
  dataDir: string,
  { log, onCrash, durable = true, hasFullBuffers = false }: EmbeddedPostgresOptions,
  unlock: () => void,
): Promise<EmbeddedPostgres> {
  const clusterDir = join(dataDir, 'postgres')
  const owner = chooseOwner(clusterDir)
  if (owner.drop) letThrough(dataDir, owner)
  // Checked first, because a start that is refused must not add files.
  assertClusterVersion(clusterDir, binariesVersion().major)
  const binaries = installBinaries(dataDir)
  if (existsSync(clusterDir)) await stopOrphan(clusterDir, log)
  giveCluster(clusterDir, owner, log)
  const access = writeAccess(dataDir, owner)
  await ensureCluster(clusterDir, binaries, owner, access)
  const socketDir = makeSocketDir(dataDir, owner)
  const logPath = join(dataDir, 'postgres.log')
  const logFile = openLogFile(logPath)
  const start = (): Promise<Postmaster> =>
    startPostmaster({
      program: binaries.postgres,
      args: serverArguments({
        clusterDir,
        socketDir: socketDir.path,
        access,
        durable,
        ...(hasFullBuffers ? {} : { dataBytes: dataBytesOf(clusterDir) }),
      }),
      clusterDir,
      socketDir: socketDir.path,
      owner,
      logFile,
      logPath,
      log,
    })
  function cleanUp(): void {
    logFile.close()
    socketDir.remove()
  }
  const connection = { host: socketDir.path, port: PORT, user: PRODUCT, database: PRODUCT }

  let postmaster: Postmaster | undefined
  try {
    postmaster = await start()
    const version = await prepareDatabase(connection, durable)
    removeOtherBinaries(dataDir, binaries)
    const supervisor = supervise(postmaster, { start, quiet: () => stopOrphan(clusterDir, log), onCrash })
    return {
      connection,
      version,
      pid: supervisor.pid,
      stop: async () => {
        await supervisor.stop()
        cleanUp()
        unlock()
      },
    }
  } catch (error) {
    await postmaster?.stop()
    cleanUp()
    throw error
  }
}

/** Creates the product's role and database once, and checks that the database is fit for use. */
async function prepareDatabase(connection: EmbeddedConnection, durable: boolean): Promise<string> {
  const superuser = { ...connection, user: SUPERUSER, database: 'postgres' }
  const version = await withClient(superuser, async (client) => {
    const role = await client.query('SELECT FROM pg_roles WHERE rolname = $1', [PRODUCT])
    if (role.rowCount === 0) await client.query(`CREATE ROLE ${PRODUCT} LOGIN ${durable ? '' : 'CREATEDB'}`)
    const database = await client.query('SELECT FROM pg_database WHERE datname = $1', [PRODUCT])
    if (database.rowCount === 0) await client.query(`CREATE DATABASE ${PRODUCT} OWNER ${PRODUCT}`)
    const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
    return rows[0]?.server_version ?? ''
  })
  await withClient(connection, (client) => assertDatabaseFitness(client, { durable }))
  return version
}

async function withClient<T>(config: EmbeddedConnection, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(config)
  client.on('error', () => undefined)
  await client.connect()
  try {
    return await work(client)
  } finally {
    await client.end()
  }
}

interface Supervised {
  start: () => Promise<Postmaster>
  /** Ensures that no process of the crashed server still uses the cluster. */
  quiet: () => Promise<void>
  onCrash: ((crash: DatabaseCrash) => void) | undefined
}

function supervise(first: Postmaster, { start, quiet, onCrash }: Supervised) {
  const stopping = new AbortController()
  let current = first
  let attempt = 0

  async function restart(reason: string): Promise<Postmaster | undefined> {
    for (let why = reason; !stopping.signal.aborted; ) {
      const retryInMs = Math.min(FIRST_DELAY_MS * 2 ** attempt++, LAST_DELAY_MS)
      onCrash?.({ reason: why, attempt, retryInMs })
      try {
        await sleep(retryInMs, undefined, { signal: stopping.signal })
        await quiet()
        return await start()
      } catch (error) {
        why = error instanceof Error ? error.message : String(error)
      }
    }
    return undefined
  }

  async function watch(): Promise<void> {
    for (;;) {
      const since = performance.now()
      const reason = await current.ended
      if (stopping.signal.aborted) return
      if (performance.now() - since > STABLE_AFTER_MS) attempt = 0
      const next = await restart(reason)
      if (next === undefined) return
      current = next
      // stop() came during the restart: it waits for this loop, the only one that knows the new process.
      if (stopping.signal.aborted) return current.stop()
    }
  }
  const watching = watch()

  return {
    pid: () => current.pid,
    stop: async (): Promise<void> => {
      stopping.abort()
      await current.stop()
      await watching
    },
  }
}
