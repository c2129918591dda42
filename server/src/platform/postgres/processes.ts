import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, join } from 'node:path'
import { errnoOf } from './errno.ts'

/** True when the process exists, ours or not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errnoOf(error) === 'EPERM'
  }
}

/** When the process started, as the kernel writes it (opaque text); empty when it is gone. */
export function startTimeOf(pid: number): string {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Field 22 of proc(5). The second field is the name in parentheses and may itself hold spaces and parentheses.
    const ticks = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
    return `${boot}/${ticks}`
  } catch {
    if (process.platform === 'linux') return ''
    return spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim()
  }
}

/**
 * The processes of the PostgreSQL that runs on this cluster: the postmaster first, when it is among them.
 * Every PostgreSQL process works in its data directory, which tells ours from any other on the machine, and
 * a reused pid from a database.
 */
export function postgresOn(clusterDir: string): number[] {
  const postmaster = readPostmasterPid(clusterDir)
  const found = process.platform === 'linux' ? inProc(clusterDir) : inPs(clusterDir, postmaster)
  return found.sort((a, b) => Number(b === postmaster) - Number(a === postmaster))
}

function readPostmasterPid(clusterDir: string): number | undefined {
  try {
    const pid = Number(readFileSync(join(clusterDir, 'postmaster.pid'), 'utf8').split('\n')[0])
    return Number.isInteger(pid) && pid > 1 ? pid : undefined
  } catch {
    return undefined
  }
}

function inProc(clusterDir: string): number[] {
  const dir = realpathSync(clusterDir)
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && link(pid, 'cwd') === dir && isPostgres(link(pid, 'exe')))
}

// The kernel appends " (deleted)" when the program was removed or replaced under the running process.
const isPostgres = (exe: string): boolean => basename(exe.replace(/ \(deleted\)$/, '')) === 'postgres'

function link(pid: number, name: 'cwd' | 'exe'): string {
  try {
    return readlinkSync(`/proc/${pid}/${name}`)
  } catch {
    return ''
  }
}

function inPs(clusterDir: string, postmaster: number | undefined): number[] {
  if (postmaster === undefined) return []
  const command = spawnSync('ps', ['-o', 'command=', '-p', String(postmaster)], { encoding: 'utf8' }).stdout
  return command.includes(clusterDir) ? [postmaster] : []
}
