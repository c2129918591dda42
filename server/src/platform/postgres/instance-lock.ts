import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { StartError } from '../start-error.ts'
import { errnoOf } from './errno.ts'
import { startTimeOf } from './processes.ts'

/** Who holds a data directory. `startedAt` is the kernel's start time of the process, so that a reused pid is no holder. */
interface Holder {
  pid: number
  startedAt: string
}

/**
 * Takes the data directory for this process; one server per directory, because each would stop the other's database.
 * @returns the release.
 * @throws StartError naming the process that holds it.
 */
export function lockDataDir(dataDir: string): () => void {
  const path = join(dataDir, 'portcullis.lock')
  const mine = JSON.stringify({ pid: process.pid, startedAt: startTimeOf(process.pid) } satisfies Holder)
  const draft = `${path}.${process.pid}`
  writeFileSync(draft, mine, { mode: 0o644 })
  try {
    // A second round is enough after a dead holder; a third contender within it is told to try again.
    for (let round = 0; round < 3; round++) {
      if (linked(draft, path)) return () => release(path, mine)
      const text = read(path)
      const holder = parse(text)
      if (holder !== undefined && holds(holder)) {
        throw new StartError(
          `Portcullis is already running on ${dataDir} (process ${holder.pid}): ` +
            'stop it, or choose another data directory with PORTCULLIS_DATA_DIR.',
        )
      }
      takeAway(path, text)
    }
  } finally {
    rmSync(draft, { force: true })
  }
  throw new StartError(`Another Portcullis is just starting on ${dataDir}: try again.`)
}

/** The process that runs on this data directory; null when none does. */
export const holderOf = (dataDir: string): number | null => {
  const holder = parse(read(join(dataDir, 'portcullis.lock')))
  return holder !== undefined && holds(holder) ? holder.pid : null
}

/** link() creates the lock with its content in one step, or fails when it exists. */
function linked(draft: string, path: string): boolean {
  try {
    linkSync(draft, path)
    return true
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false
    throw new StartError(`The data directory cannot be locked at ${path} (${errnoOf(error)}).`, { cause: error })
  }
}

/** Removes a dead holder's lock. Whoever renamed a lock that is not the one judged dead puts it back. */
function takeAway(path: string, judged: string | undefined): void {
  const aside = `${path}.stale.${process.pid}`
  try {
    renameSync(path, aside)
  } catch {
    return
  }
  if (read(aside) !== judged) linked(aside, path)
  rmSync(aside, { force: true })
}

const release = (path: string, mine: string): void => {
  if (read(path) === mine) rmSync(path, { force: true })
}

// Our own pid counts: two embedded servers in one process would fight over one cluster as well.
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
