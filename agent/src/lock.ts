import { linkSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cannotStart, errnoOf } from './exit.ts'
import { readIfThere, removeIfThere } from './files.ts'

/** Who holds the state directory: a pid alone may be reused, so its start time and the machine's boot go with it. */
interface Holder {
  pid: number
  startedAt: string
  boot: string
}

const readOr = (path: string, other: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return other
  }
}

/**
 * Field 22 of /proc/<pid>/stat; the command name before it may hold blanks and parentheses, so count from the last `)`.
 * Empty for a process that has ended, also while nobody has taken note of it (state Z).
 */
const startTimeOf = (pid: number): string => {
  const stat = readOr(`/proc/${pid}/stat`, '')
  const [state, ...more] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return state === 'Z' || state === 'X' ? '' : (more[18] ?? '')
}

const bootOf = (): string => readOr('/proc/sys/kernel/random/boot_id', '').trim()

const parse = (text: string): Holder | undefined => {
  try {
    const value = JSON.parse(text) as Partial<Holder>
    return typeof value.pid === 'number'
      ? { pid: value.pid, startedAt: value.startedAt ?? '', boot: value.boot ?? '' }
      : undefined
  } catch {
    return undefined
  }
}

const isAlive = (holder: Holder): boolean =>
  holder.boot === bootOf() && holder.startedAt !== '' && startTimeOf(holder.pid) === holder.startedAt

/** The pid of the running agent of a state directory, or undefined. */
export const holderOf = (stateDir: string): number | undefined => {
  const holder = parse(readIfThere(join(stateDir, 'lock')) ?? '')
  return holder && isAlive(holder) ? holder.pid : undefined
}

/**
 * Takes the state directory for this process and gives back what releases it.
 *
 * @throws AgentExit(1) when a running agent holds it
 */
export const acquireLock = (stateDir: string): (() => void) => {
  const path = join(stateDir, 'lock')
  const mine = `${path}.${process.pid}`
  const refuse = (pid: number) =>
    cannotStart(`The state directory ${stateDir} is in use by the agent with process id ${pid}.`)
  writeFileSync(mine, JSON.stringify({ pid: process.pid, startedAt: startTimeOf(process.pid), boot: bootOf() }), {
    mode: 0o600,
  })
  try {
    for (let attempt = 0; attempt < 5; attempt++) {
      try {
        // link() fails when the name exists and shows whole content at once: no reader sees a half-written lock.
        linkSync(mine, path)
        return () => removeIfThere(path)
      } catch (error) {
        if (errnoOf(error) !== 'EEXIST') throw error
      }
      const seen = readIfThere(path)
      if (seen === undefined) continue
      const holder = parse(seen)
      if (holder && isAlive(holder)) throw refuse(holder.pid)
      // Two starts may both see the dead lock: only what was judged dead may go, so it is moved aside and looked at again.
      const aside = `${mine}.stale`
      try {
        renameSync(path, aside)
      } catch (error) {
        if (errnoOf(error) === 'ENOENT') continue
        throw error
      }
      if (readIfThere(aside) !== seen) {
        linkSync(aside, path)
        removeIfThere(aside)
        throw refuse(parse(readIfThere(path) ?? '')?.pid ?? 0)
      }
      removeIfThere(aside)
    }
    throw cannotStart(`The state directory ${stateDir} is contended by several starting agents.`)
  } finally {
    removeIfThere(mine)
  }
}
