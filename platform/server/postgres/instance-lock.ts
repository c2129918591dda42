import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../start-error.ts'
import { errnoOf } from './errno.ts'
import { startTimeOf } from './processes.ts'

/**
 * The process that holds a data directory. `startedAt` is its kernel start time, so that a reused pid does not count.
 */
interface Holder {
  pid: number
  startedAt: string
}

const alreadyRuns = (dataDir: string, pid: number): StartError =>
  new StartError(
    `Portcullis is already running on ${dataDir} (process ${pid}). ` +
      'Stop it first. To run a second server, set PORTCULLIS_DATA_DIR to another directory.',
  )

/**
 * Throws if another process runs on this data directory. Changes nothing.
 * @throws StartError
 */
export const assertDataDirFree = (dataDir: string): void => {
  const pid = holderOf(dataDir)
  if (pid !== null) throw alreadyRuns(dataDir, pid)
}

/**
 * Locks the data directory for this process: two servers on one directory would stop each other's database.
 * @returns the function that releases the lock
 * @throws StartError with the process that holds the lock
 */
export function lockDataDir(dataDir: string): () => void {
  const path = join(dataDir, 'portcullis.lock')
  const mine = JSON.stringify({ pid: process.pid, startedAt: startTimeOf(process.pid) } satisfies Holder)
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, mine, { mode: 0o644 })
    // A dead holder needs a second round; a third contender in that time gets an error.
    for (let round = 0; round < 3; round++) {
      if (linked(draft, path)) return () => release(path, mine)
      const text = read(path)
      const holder = parse(text)
      if (holder !== undefined && holds(holder)) {
        throw alreadyRuns(dataDir, holder.pid)
      }
      takeAway(path, text)
    }
  } finally {
    rmSync(draft, { force: true })
  }
  throw new StartError(`Another Portcullis is starting on ${dataDir}. Try again.`)
}

/** Returns the process that runs on this data directory; null: none. */
export const holderOf = (dataDir: string): number | null => {
  const holder = parse(read(join(dataDir, 'portcullis.lock')))
  return holder !== undefined && holds(holder) ? holder.pid : null
}

/** Creates the lock with its content atomically by link(). Returns false if it exists. */
function linked(draft: string, path: string): boolean {
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw new StartError(`Cannot lock the data directory at ${path} (${errnoOf(error)}).`, { cause: error })
  }
}

/** Removes a dead holder's lock. If the lock changed in the meantime, puts it back. */
function takeAway(path: string, expected: string | undefined): void {
  const aside = `${path}.stale.${process.pid}`
  try {
    renameSync(path, aside)
  } catch {
    return
  }
  if (read(aside) !== expected) linked(aside, path)
  rmSync(aside, { force: true })
}

const release = (path: string, mine: string): void => {
  if (read(path) === mine) rmSync(path, { force: true })
}

// Our own pid counts too: two embedded servers in one process would use the same cluster.
const holds = (holder: Holder): boolean => holder.startedAt !== '' && startTimeOf(holder.pid) === holder.startedAt

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}

function parse(text: string | undefined): Holder | undefined {
  try {
    const value = JSON.parse(text ?? '') as Partial<Holder>
    return Number.isInteger(value.pid) && typeof value.startedAt === 'string' ? (value as Holder) : undefined
  } catch {
    return undefined
  }
}
