import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { StartError } from '../start-error.ts'
import type { LauncherLog } from './log.ts'
import { postgresOn } from './processes.ts'

// Fast shutdown rolls transactions back and writes a checkpoint; immediate leaves recovery to the next start.
const ROUNDS = [
  { signal: 'SIGINT', waitMs: 30_000 },
  { signal: 'SIGQUIT', waitMs: 5_000 },
  { signal: 'SIGKILL', waitMs: 5_000 },
] as const

/**
 * Stops the database that a killed server left behind, so that this one starts on a quiet directory.
 * To be called by the holder of the instance lock only.
 * @throws StartError when it cannot be stopped (another user's process).
 */
export async function stopOrphan(clusterDir: string, log: LauncherLog): Promise<void> {
  const [first] = postgresOn(clusterDir)
  if (first !== undefined) {
    log.info({ pid: first }, 'stopping the database that an earlier server left running')
    await stopAll(clusterDir)
  }
  // Nobody works on the cluster now. Its pid file may name a process that has nothing to do with it by now
  // (pids are reused), and PostgreSQL would refuse to start for it.
  rmSync(join(clusterDir, 'postmaster.pid'), { force: true })
}

async function stopAll(clusterDir: string): Promise<void> {
  for (const { signal, waitMs } of ROUNDS) {
    const [postmaster, ...backends] = postgresOn(clusterDir)
    if (postmaster === undefined) return
    signalTo(postmaster, signal)
    // Backends follow their postmaster by themselves, except when it is killed outright.
    if (signal === 'SIGKILL') for (const pid of backends) signalTo(pid, signal)
    if (await gone(clusterDir, waitMs)) return
  }
  throw new StartError(
    `The database left running on ${clusterDir} (process ${postgresOn(clusterDir)[0]}) cannot be stopped.`,
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
    // Gone in between, or not ours: the wait that follows tells which.
  }
}
