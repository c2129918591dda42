import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { prepareDataDir } from '../data-dir.ts'
import { installBinaries, removeOtherBinaries } from './binaries.ts'
import { ensureCluster, SUPERUSER } from './cluster.ts'
import { assertDatabaseFitness } from './fitness.ts'
import { holderOf, lockDataDir } from './instance-lock.ts'
import { letThrough } from './let-through.ts'
import type { LauncherLog } from './log.ts'
import { openLogFile } from './log-file.ts'
import { stopOrphan } from './orphan.ts'
import { chooseOwner } from './owner.ts'
import { type Postmaster, startPostmaster } from './postmaster.ts'
import { serverArguments } from './settings.ts'
import { makeSocketDir, PORT, socketDirOf } from './socket-dir.ts'

// Doubled from one try to the next; a database that ran a minute starts over at the first delay.
const FIRST_DELAY_MS = 100
const LAST_DELAY_MS = 30_000
const STABLE_AFTER_MS = 60_000

/** The database ended by itself; it is being restarted. */
export interface DatabaseCrash {
  /** How it ended, or why a restart failed, for a person. */
  reason: string
  /** Restarts tried since it last ran stably, this one included. */
  attempt: number
  /** The restart is tried after this many milliseconds. */
  retryInMs: number
}

export interface EmbeddedPostgresOptions {
  dataDir: string
  log: LauncherLog
  /** Called for every crash and every failed restart. Connections are lost by then; the pool opens new ones. */
  onCrash?: (crash: DatabaseCrash) => void
  /** False only for throw-away test clusters: nothing is synced to the disk, and the role may create databases. */
  durable?: boolean
}

/** How to connect; fits `new pg.Pool(…)`. The role owns the database and is no superuser. */
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
  /** Process id of the server now running; changes with a restart. */
  pid(): number
  /** Stops the database and gives the data directory free. Pools must be closed before. */
  stop(): Promise<void>
}

const PRODUCT = 'portcullis'

/**
 * Runs the real PostgreSQL of the npm packages on `dataDir`: no port, no password, reachable through a socket that
 * only the database user and root can enter.
 * @throws StartError with one sentence for a person.
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

/** How to connect to the database that another process runs on `dataDir`; null when none does. */
export const runningEmbedded = (dataDir: string): { pid: number; connection: EmbeddedConnection } | null => {
  const pid = holderOf(dataDir)
  return pid === null
    ? null
    : { pid, connection: { host: socketDirOf(dataDir), port: PORT, user: PRODUCT, database: PRODUCT } }
}

async function startLocked(
  dataDir: string,
  { log, onCrash, durable = true }: EmbeddedPostgresOptions,
  unlock: () => void,
): Promise<EmbeddedPostgres> {
  const clusterDir = join(dataDir, 'postgres')
  const owner = chooseOwner(clusterDir)
  if (owner.drop) letThrough(dataDir, owner)
  const binaries = installBinaries(dataDir)
  if (existsSync(clusterDir)) await stopOrphan(clusterDir, log)
  await ensureCluster(clusterDir, binaries, owner)
  const socketDir = makeSocketDir(dataDir, owner)
  const logPath = join(dataDir, 'postgres.log')
  const logFile = openLogFile(logPath)
  const start = (): Promise<Postmaster> =>
    startPostmaster({
      program: binaries.postgres,
      args: serverArguments({ clusterDir, socketDir: socketDir.path, durable }),
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

/** Role and database of the product, made once; then the checks that make a silently wrong database impossible. */
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
  /** Makes sure that nothing of the crashed server works on the cluster any more. */
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
      // Stopped while it was coming up: stop() waits for this loop, and nobody else knows the new process.
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
