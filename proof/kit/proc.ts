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

/** Memory of processes in bytes. A page that several processes share counts in equal parts (Pss). */
export interface Memory {
  total: number
  /** Private and shared memory without a file: heaps and stacks, and the shared memory of PostgreSQL. */
  anonymous: number
  /** Number of processes. */
  processes: number
}

/** Returns the ids of a process and of all its descendants. */
const familyOf = (pid: number): number[] => {
  const parents = readdirSync('/proc').flatMap((name) => {
    const stat = /^\d+$/.test(name) ? statOf(Number(name)) : undefined
    return stat === undefined ? [] : [{ pid: Number(name), parent: stat.parent }]
  })
  const below = (one: number): number[] => [
    one,
    ...parents.filter(({ parent }) => parent === one).flatMap((p) => below(p.pid)),
  ]
  return below(pid)
}

/** Returns the CPU seconds of a process and of all its descendants, including ended children. */
export const cpuSecondsOfTree = (pid: number): number => familyOf(pid).reduce((sum, one) => sum + cpuSecondsOf(one), 0)

/** Returns the program and the arguments of a process; empty if it ended. */
const commandOf = (pid: number): string => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
  } catch {
    return ''
  }
}

/** Returns the CPU seconds of a process and its descendants, limited to those whose command matches the filter. */
export const cpuSecondsOfFamilyWhere = (pid: number, isCounted: (command: string) => boolean): number =>
  familyOf(pid)
    .filter((one) => isCounted(commandOf(one)))
    .reduce((sum, one) => sum + cpuSecondsOf(one), 0)

/** Returns the memory of those of a process and its descendants whose command the filter accepts. */
export const memoryOfFamily = (pid: number, isCounted: (command: string) => boolean = () => true): Memory => {
  const sum: Memory = { total: 0, anonymous: 0, processes: 0 }
  for (const one of familyOf(pid)) {
    if (!isCounted(commandOf(one))) continue
    let text: string
    try {
      text = readFileSync(`/proc/${one}/smaps_rollup`, 'utf8')
    } catch {
      continue
    }
    const of = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0) * 1024
    sum.total += of('Pss')
    sum.anonymous += of('Pss_Anon') + of('Pss_Shmem')
    sum.processes += 1
  }
  return sum
}
