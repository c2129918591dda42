import { linkSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { cannotStart, errnoOf } from './exit.ts'
import { parseJson, readIfThere, removeIfThere } from './files.ts'
import type { Processes } from './platform/platform.ts'

/** The process that holds the state directory. A pid can be reused, so the start time and the boot identify it too. */
interface Holder {
  pid: number
  startedAt: string
  boot: string
}

const parse = (text: string | undefined): Holder | undefined => {
  const { pid, startedAt = '', boot = '' } = (parseJson(text) ?? {}) as Partial<Holder>
  return typeof pid === 'number' ? { pid, startedAt, boot } : undefined
}

const isAlive = (holder: Holder, processes: Processes): boolean =>
  holder.boot === processes.boot() && holder.startedAt !== '' && processes.startTime(holder.pid) === holder.startedAt

/** Returns the pid of the agent that runs with a state directory, or undefined. */
export const holderOf = (stateDir: string, processes: Processes): number | undefined => {
  const holder = parse(readIfThere(join(stateDir, 'lock')))
  return holder && isAlive(holder, processes) ? holder.pid : undefined
}

/**
 * Locks the state directory for this process. Returns a function that unlocks it.
 *
 * @throws AgentExit(1) if a running agent holds it
 */
export const acquireLock = (stateDir: string, processes: Processes): (() => void) => {
  const path = join(stateDir, 'lock')
  const mine = `${path}.${process.pid}`
  const refuse = (pid: number) =>
    cannotStart(`The agent with process ID ${pid} already uses the state directory ${stateDir}. Stop it first.`)
  const self = { pid: process.pid, startedAt: processes.startTime(process.pid), boot: processes.boot() }
  writeFileSync(mine, JSON.stringify(self), { mode: 0o600 })
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
      if (holder && isAlive(holder, processes)) throw refuse(holder.pid)
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
        throw refuse(parse(readIfThere(path))?.pid ?? 0)
      }
      removeIfThere(aside)
    }
    throw cannotStart(`Several agents are starting with the state directory ${stateDir}. Start only one.`)
  } finally {
    removeIfThere(mine)
  }
}
