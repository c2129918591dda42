/** Reads CPU time and memory of other processes from /proc. */
import { readdirSync, readFileSync } from 'node:fs'

/** Clock ticks per second of /proc: 100 on every Linux that Node runs on (USER_HZ). */
const ticks = 100

const textOf = (pid: number, file: string): string => {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'utf8')
  } catch {
    // The process has ended.
    return ''
  }
}

const statOf = (pid: number) => {
  const text = textOf(pid, 'stat')
  // The command name may contain blanks and parentheses. The fields follow the last parenthesis.
  const fields = text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number)
  const [parent = 0, ...times] = [1, 11, 12, 13, 14].map((i) => fields[i] ?? 0)
  return { parent, cpuSeconds: times.reduce((sum, time) => sum + time, 0) / ticks }
}

/** Returns the CPU seconds of a process and of its ended children. */
export const cpuSecondsOf = (pid: number): number => statOf(pid).cpuSeconds

/** Returns the ids of a process and its descendants, limited to those whose command `isCounted` accepts. */
const treeOf = (pid: number, isCounted: (command: string) => boolean): number[] => {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  const byParent = Map.groupBy(pids.map(Number), (one) => statOf(one).parent)
  const below = (one: number): number[] => [one, ...(byParent.get(one) ?? []).flatMap(below)]
  return below(pid).filter((one) => isCounted(textOf(one, 'cmdline').replaceAll('\0', ' ')))
}

/** Returns the CPU seconds of a process and its descendants, including ended children. */
export const cpuSecondsOfTree = (pid: number, isCounted: (command: string) => boolean = () => true): number =>
  treeOf(pid, isCounted).reduce((sum, one) => sum + cpuSecondsOf(one), 0)

const kilobytesIn = (text: string, name: string): number =>
  Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1] ?? 0)

/** Returns the resident memory of a process in bytes. */
export const residentBytes = (pid: number): number => kilobytesIn(textOf(pid, 'status'), 'VmRSS') * 1024

/** Runs `work`. Returns its result, and by how many bytes the resident memory of a process grew in the meantime. */
export const withMemoryGrowth = async <T>(
  pid: number,
  work: () => Promise<T>,
): Promise<{ result: T; grown: number }> => {
  const before = residentBytes(pid)
  let most = before
  const sampler = setInterval(() => {
    most = Math.max(most, residentBytes(pid))
  }, 20)
  try {
    return { result: await work(), grown: most - before }
  } finally {
    clearInterval(sampler)
  }
}

/** Returns the number of files and sockets that a process has open. */
export const openFiles = (pid: number): number => readdirSync(`/proc/${pid}/fd`).length

/** Returns the process id of the agentless worker that a server started. */
export const ownWorkerOf = (pid: number): number => {
  const [worker] = treeOf(pid, (command) => command.includes('poller/src/main.ts'))
  if (worker === undefined) throw new Error('the server has not started a worker')
  return worker
}

/** Memory of processes in bytes. A page that several processes share counts in equal parts (Pss). */
export interface Memory {
  total: number
  /** Private and shared memory without a file: heaps and stacks, and the shared memory of PostgreSQL. */
  anonymous: number
  /** Number of processes. */
  processes: number
}

/** Returns the memory of a process and its descendants. */
export const memoryOfTree = (pid: number, isCounted: (command: string) => boolean = () => true): Memory => {
  const texts = treeOf(pid, isCounted).map((one) => textOf(one, 'smaps_rollup'))
  const of = (...names: string[]): number =>
    texts.reduce((sum, text) => names.reduce((s, name) => s + kilobytesIn(text, name) * 1024, sum), 0)
  return { total: of('Pss'), anonymous: of('Pss_Anon', 'Pss_Shmem'), processes: texts.filter(Boolean).length }
}
