import { spawnSync } from 'node:child_process'
import { linkSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cannotStart, errnoOf } from './exit.ts'
import { readIfThere, removeIfThere } from './files.ts'

/** The process that holds the state directory. A pid can be reused, so the start time and the boot identify it too. */
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

/** macOS has no /proc. The output must not depend on the language or time zone of the caller. */
const startTimeOnMac = (pid: number): string =>
  spawnSync('/bin/ps', ['-o', 'lstart=', '-p', `${pid}`], {
    env: { LC_ALL: 'C', TZ: 'UTC' },
    encoding: 'utf8',
  }).stdout?.trim() ?? ''

/**
 * Returns field 22 of /proc/<pid>/stat. The command name before it may contain blanks and parentheses, so the count
 * starts at the last `)`. Empty for a process that has ended, including a zombie (state Z).
 */
const startTimeOf = (pid: number): string => {
  if (process.platform === 'darwin') return startTimeOnMac(pid)
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

/** Returns the pid of the agent that runs with a state directory, or undefined. */
export const holderOf = (stateDir: string): number | undefined => {
  const holder = parse(readIfThere(join(stateDir, 'lock')) ?? '')
  return holder && isAlive(holder) ? holder.pid : undefined
}

/**
 * Locks the state directory for this process. Returns a function that unlocks it.
 *
 * @throws AgentExit(1) if a running agent holds it
 */
export const acquireLock = (stateDir: string): (() => void) => {
  const path = join(stateDir, 'lock')
  const mine = `${path}.${process.pid}`
  const refuse = (pid: number) =>
    cannotStart(`The agent with process ID ${pid} already uses the state directory ${stateDir}. Stop it first.`)
  writeFileSync(mine, JSON.stringify({ pid: process.pid, startedAt: startTimeOf(process.pid), boot: bootOf() }), {
    mode: 0o600,
  })
  try {
    for (let attempt = 0; attempt < 5; attempt++) {
      try {
        // link() fails if the name exists, and no reader sees a partly written lock.
        linkSync(mine, path)
        return () => removeIfThere(path)
      } catch (error) {
        if (errnoOf(error) !== 'EEXIST') throw error
      }
      const seen = readIfThere(path)
      if (seen === undefined) continue
      const holder = parse(seen)
      if (holder && isAlive(holder)) throw refuse(holder.pid)
      // Two agents may find the same stale lock. Each moves it aside and removes it only if it is still the stale one.
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
    throw cannotStart(`Several agents are starting with the state directory ${stateDir}. Start only one.`)
  } finally {
    removeIfThere(mine)
  }
}
