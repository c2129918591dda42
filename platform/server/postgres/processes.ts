import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, join } from 'node:path'

/**
 * Returns the start time of a process as the kernel writes it, which identifies it despite reused pids; empty if it is
 * dead. A zombie counts as dead: pid 1 of a container may never reap it.
 */
export function startTimeOf(pid: number): string {
  if (process.platform !== 'linux') {
    return spawnSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim()
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The name (second field of proc(5)) is in parentheses and may itself contain spaces and parentheses.
    const [state = '', ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if ('ZX'.includes(state)) return ''
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${fields[18]}`
  } catch {
    return ''
  }
}

/**
 * Returns the PostgreSQL processes on this cluster, the postmaster first. Every PostgreSQL process works in its data
 * directory, which distinguishes ours from others, and a database from a process with a reused pid.
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

// The kernel appends " (deleted)" if the program was removed or replaced while it ran.
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
