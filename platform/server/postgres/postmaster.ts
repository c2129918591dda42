import { type ChildProcess, spawn } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { StartError } from '../start-error.ts'
import { CHILD_ENV, SUPERUSER, startCureOf } from './cluster.ts'
import { errnoOf } from './errno.ts'
import type { LauncherLog } from './log.ts'
import type { LogFile } from './log-file.ts'
import { asOwner, type Owner } from './owner.ts'
import { PORT } from './socket-dir.ts'

// Recovery after a crash replays up to max_wal_size; a slow disk may need minutes.
const READY_WITHIN_MS = 10 * 60_000
const STOP_WITHIN_MS = 30_000
/** The code of a refused connection; another attempt gets it again. */
const INVALID_AUTHORIZATION = '28000'

export interface PostmasterOptions {
  program: string
  args: string[]
  clusterDir: string
  socketDir: string
  owner: Owner
  logFile: LogFile
  logPath: string
  log: LauncherLog
}

/** A running PostgreSQL server process. */
export interface Postmaster {
  pid: number
  /** Resolves with the reason when the process ends; never rejects. */
  ended: Promise<string>
  /** Rolls open transactions back, writes a checkpoint and ends. */
  stop(): Promise<void>
}

/**
 * Starts the server and waits until it answers.
 * @throws StartError if it ends before that
 */
export async function startPostmaster(options: PostmasterOptions): Promise<Postmaster> {
  const mark = options.logFile.mark()
  const child = spawn(options.program, options.args, {
    ...asOwner(options.owner),
    cwd: '/',
    env: CHILD_ENV,
    stdio: ['ignore', options.logFile.fd, options.logFile.fd],
    // A separate session, so that Ctrl+C in the terminal reaches only our server, which shuts down in order.
    detached: true,
  })
  const ended = endOf(child)
  let failure: string | undefined
  ended.then((how) => (failure = how))
  const end = performance.now() + READY_WITHIN_MS
  let nextNotice = performance.now() + 10_000
  const stopAndThrow = async (error: unknown): Promise<never> => {
    await stop(child, ended)
    throw error
  }
  while (!(await answers(options).catch(stopAndThrow))) {
    if (failure !== undefined) {
      const said = fatalLine(options.logFile.since(mark))
      throw new StartError(
        `The database did not start: ${said || failure}.${startCureOf(said)} See its log ${options.logPath}`,
      )
    }
    if (performance.now() > nextNotice) {
      options.log.info({ log: options.logPath }, 'waiting for the database, which may be recovering')
      nextNotice += 10_000
    }
    if (performance.now() > end) {
      await stop(child, ended)
      throw new StartError(`The database did not answer within ten minutes. See its log ${options.logPath}`)
    }
    await sleep(20)
  }
  return { pid: child.pid ?? 0, ended, stop: () => stop(child, ended) }
}

const endOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve) => {
    child.once('error', (error) => resolve(`it cannot run (${errnoOf(error)})`))
    child.once('exit', (code, signal) =>
      resolve(signal === null ? `it exited with code ${code}` : `it was ended by ${signal}`),
    )
  })

/**
 * Only a connection proves that the server is ready: the log is localised, and a socket file may be stale.
 * @throws StartError if the server refuses this process's user
 */
async function answers({ socketDir, clusterDir }: PostmasterOptions): Promise<boolean> {
  const client = new pg.Client({
    host: socketDir,
    port: PORT,
    user: SUPERUSER,
    database: 'postgres',
    connectionTimeoutMillis: 5_000,
  })
  client.on('error', () => undefined)
  try {
    await client.connect()
    const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory')
    return rows[0]?.data_directory === clusterDir
  } catch (error) {
    if ((error as { code?: string }).code === INVALID_AUTHORIZATION)
      throw new StartError('The database does not recognise the user of this process. See its log.')
    return false
  } finally {
    await client.end().catch(() => undefined)
  }
}

async function stop(child: ChildProcess, ended: Promise<string>): Promise<void> {
  for (const [signal, waitMs] of [
    ['SIGINT', STOP_WITHIN_MS],
    ['SIGQUIT', 5_000],
    ['SIGKILL', 5_000],
  ] as const) {
    child.kill(signal)
    const timer = new AbortController()
    const late = sleep(waitMs, 'late', { signal: timer.signal }).catch(() => 'aborted')
    const first = await Promise.race([ended, late])
    timer.abort()
    if (first !== 'late') return
  }
}

const fatalLine = (text: string): string =>
  text
    .split('\n')
    .filter((line) => /FATAL|PANIC|could not|error while/.test(line))
    .at(-1)
    ?.replace(/^.*?(FATAL|PANIC):\s*/, '')
    .trim() ?? ''
