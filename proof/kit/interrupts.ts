/** Undoes what a run created on the machine when SIGINT or SIGTERM interrupts it. */
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { postgresOn } from '../../platform/server/postgres/index.ts'

type Undo = () => unknown

const undos = new Set<Undo>()
let isListening = false
let isOver = false

/** Ends the run. A check may create more in the meantime; that is undone as well. */
const interrupt = async (signal: NodeJS.Signals): Promise<void> => {
  // Ignore a second signal: killing the process while it stops a database would leave the database running.
  if (isOver) return
  isOver = true
  process.stderr.write(`${signal}: undoing what this run made\n`)
  for (let undo = [...undos].at(-1); undo !== undefined; undo = [...undos].at(-1)) {
    undos.delete(undo)
    try {
      await undo()
    } catch (error) {
      process.stderr.write(`${(error as Error).stack ?? error}\n`)
    }
  }
  process.exit(128 + constants.signals[signal])
}

/** Registers an undo step, before the resource exists; the newest runs first. The returned function unregisters it. */
export const onInterrupt = (undo: Undo): (() => void) => {
  if (!isListening) for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt)
  isListening = true
  undos.add(undo)
  return () => void undos.delete(undo)
}

/** Returns the result. Never resolves after an interruption, because results are invalid during the undo steps. */
export const unlessInterrupted = <T>(result: T): T | Promise<never> => (isOver ? new Promise<never>(() => {}) : result)

/** Sends a signal to every database process of a cluster. Returns the number of processes. */
export const signalPostgres = (clusterDir: string, signal: NodeJS.Signals): number => {
  const pids = existsSync(clusterDir) ? postgresOn(clusterDir) : []
  for (const pid of pids)
    try {
      process.kill(pid, signal)
    } catch {
      // This backend ended in the meantime.
    }
  return pids.length
}
