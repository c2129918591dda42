import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from '../start-error.ts'
import type { LauncherLog } from './log.ts'
import { postgresOn } from './processes.ts'

// Fast shutdown rolls back transactions and writes a checkpoint; immediate shutdown leaves recovery to the next start.
const ROUNDS = [
  { signal: 'SIGINT', waitMs: 30_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
] as const

/**
 * Stops the database that a killed server left running, so that this one can start on the directory. Only the holder of the
 * instance lock may call it.
 * @throws StartError if it cannot be stopped (another user's process)
 */
export async function stopOrphan(clusterDir: string, log: LauncherLog): Promise<void> {
  const [first] = postgresOn(clusterDir)
  if (first !== undefined) {
    log.info({ pid: first }, 'stopping the database left by an earlier server')
    await stopAll(clusterDir)
  }
  // No process uses the cluster now. Its pid file may name an unrelated process (pids are reused), for which PostgreSQL
  // would refuse to start.
  rmSync(join(clusterDir, 'postmaster.pid'), { force: true })
}

async function stopAll(clusterDir: string): Promise<void> {
  for (const { signal, waitMs } of ROUNDS) {
    const [postmaster, ...backends] = postgresOn(clusterDir)
    if (postmaster === undefined) return
    signalTo(postmaster, signal)
    // Backends end with their postmaster, except after SIGKILL.
    if (signal === 'SIGKILL') for (const pid of backends) signalTo(pid, signal)
    if (await gone(clusterDir, waitMs)) return
  }
  throw new StartError(
    `Cannot stop the database left running on ${clusterDir} (process ${postgresOn(clusterDir)[0]}). Stop it by hand.`,
  )
}

async function gone(clusterDir: string, waitMs: number): Promise<boolean> {
  const end = performance.now() + waitMs
  while (performance.now() < end) {
    if (postgresOn(clusterDir).length === 0) return true
    await sleep(20)
  }
  return false
}

function signalTo(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process ended, or belongs to another user: the caller's wait finds out.
  }
}
