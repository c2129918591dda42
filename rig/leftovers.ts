/** What a run makes on the machine, and how it is undone when the run is broken off by SIGINT or SIGTERM. */
import { existsSync } from 'node:fs'
import { constants } from 'node:os'
import { postgresOn } from '../server/src/platform/postgres/index.ts'

type Undo = () => unknown

const undos = new Set<Undo>()
let isListening = false
let isOver = false

/** Ends the run. What a check does meanwhile may make more: it is undone as well. */
const breakOff = async (signal: NodeJS.Signals): Promise<void> => {
  // A second signal changes nothing: killing who is stopping a database would leave it behind.
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

/** The newest is undone first. Register it before what is made is there; call what is answered when it is gone. */
export const undoAtBreak = (undo: Undo): (() => void) => {
  if (!isListening) for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, breakOff)
  isListening = true
  undos.add(undo)
  return () => void undos.delete(undo)
}

/** The same result; none, ever, of a run that is broken off: what it says by then is of what is being undone. */
export const unlessBrokenOff = <T>(result: T): T | Promise<never> => (isOver ? new Promise<never>(() => {}) : result)

/** Signals every process of the database on a cluster; answers how many. */
export const signalPostgres = (clusterDir: string, signal: NodeJS.Signals): number => {
  const pids = existsSync(clusterDir) ? postgresOn(clusterDir) : []
  for (const pid of pids)
    try {
      process.kill(pid, signal)
    } catch {
      // A backend that ended in between.
    }
  return pids.length
}
