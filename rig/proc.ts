/** Reads CPU time and memory of other processes from /proc. */
import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks per second of /proc: 100 on every Linux that Node runs on (USER_HZ). */
const ticks = 100

interface Stat {
  parent: number
  own: number
  children: number
}

const statOf = (pid: number): Stat | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // The command name may contain blanks and parentheses. The fields follow the last parenthesis.
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number)
    const [parent = 0, utime = 0, stime = 0, cutime = 0, cstime = 0] = [1, 11, 12, 13, 14].map((i) => fields[i])
    return { parent, own: (utime + stime) / ticks, children: (cutime + cstime) / ticks }
  } catch {
    return undefined
  }
}

/** Returns the CPU seconds of a process and of its ended children. */
export const cpuSecondsOf = (pid: number): number => {
  const stat = statOf(pid)
  return stat === undefined ? 0 : stat.own + stat.children
}

/** Returns the CPU seconds of a process and all its children, including ended ones. */
export const cpuSecondsOfFamily = (pid: number): number => {
  let sum = cpuSecondsOf(pid)
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = statOf(Number(name))
    if (stat?.parent === pid) sum += stat.own
  }
  return sum
}

/** Returns the resident memory of a process in bytes. */
export const residentBytes = (pid: number): number => {
  const match = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))
  return Number(match?.[1] ?? 0) * 1024
}

/** Returns the number of files and sockets that a process has open. */
export const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length

/** Returns the process id of the agentless worker that a server started. */
export const ownWorkerOf = (pid: number): number => {
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || statOf(Number(name))?.parent !== pid) continue
    try {
      if (readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('poller/src/main.ts')) return Number(name)
    } catch {}
  }
  throw new Error('the server has not started a worker')
}
