import { hash } from 'node:crypto'
import type { DeviceChange } from '@portcullis/contract/agent-protocol.ts'

/** A time in a boot of the host. */
interface Moment {
  boot: string
  /** Milliseconds since that boot. */
  elapsed: number
}

/** A time by the host clock, and when that was. `added` is undefined if the boot is unknown. */
export interface SpoolTime {
  at: number
  added?: Moment | undefined
}

/** One change in the spool. */
export interface Entry {
  n: number
  change: DeviceChange
  added: Moment | undefined
  /** Share of the limit of bytes. */
  cost: number
  /** Equal for changes with the same report of the same device. Undefined: the change has no report. */
  identity: string | undefined
  /** No earlier change of the port has this identity. */
  isFirstSight: boolean
  /** Repetitions that were merged into this change. */
  repeated: ({ count: number } & SpoolTime) | undefined
}

/** A line of the file. */
export type Line =
  | { kind: 'change'; n: number; change: DeviceChange; added?: Moment | undefined; repeated?: Entry['repeated'] }
  /** Change `n` counts as a repetition of change `into`. */
  | { kind: 'merge'; n: number; into: number }
  /** Change `n` is superseded by the next one of its port. */
  | { kind: 'forget'; n: number }
  | { kind: 'flight'; bootId: string; seq: number; upTo: number }
  | { kind: 'ack'; upTo: number }
  /** An older agent dropped all changes before. */
  | { kind: 'overflow'; dropped: number }

export interface SpoolLimits {
  maxChanges: number
  maxBytes: number
}

/** Changes per port from which the agent merges: a device that returns is then only counted. */
const exactChanges = 16
/** Oldest changes per port that are the last to be dropped. */
const firstChanges = 8

const portOf = (change: DeviceChange): string => ('device' in change ? change.device.portPath : change.portPath)
/** A device can pretend to be a hub with many ports, so all ports below a root port share one budget. */
const rootPortOf = (portPath: string): string => portPath.split('.', 1)[0] ?? portPath

/**
 * The changes of the spool, in order. A device that returns again and again is counted. If the changes exceed a limit, the
 * root port with the most bytes loses some, so one port never costs another its changes.
 */
export const createSpoolChanges = ({ maxChanges, maxBytes }: SpoolLimits) => {
  const entries = new Map<number, Entry>()
  const ports = new Map<string, Entry[]>()
  /** The newest count of dropped changes by root port. */
  const drops = new Map<string, Entry>()
  const costs = new Map<string, number>()
  const leastCost = maxBytes / maxChanges
  let total = 0
  let nextNumber = 1

  function insert({ n, change, added, repeated }: Extract<Line, { kind: 'change' }>, bytes: number): Entry {
    const identity = 'device' in change ? hash('sha256', JSON.stringify(change.device), 'base64url') : undefined
    const port = portOf(change)
    const isFirstSight =
      identity !== undefined && ports.get(port)?.some((other) => other.identity === identity) !== true
    const entry: Entry = { n, change, added, cost: Math.max(bytes, leastCost), identity, isFirstSight, repeated }
    entries.set(n, entry)
    nextNumber = Math.max(nextNumber, n + 1)
    if (change.op === 'dropped') drops.set(port, entry)
    else {
      const list = ports.get(port)
      if (list === undefined) ports.set(port, [entry])
      else list.push(entry)
      const root = rootPortOf(port)
      costs.set(root, (costs.get(root) ?? 0) + entry.cost)
      total += entry.cost
    }
    return entry
  }

  function remove(entry: Entry): void {
    entries.delete(entry.n)
    const port = portOf(entry.change)
    if (entry.change.op === 'dropped') {
      if (drops.get(port) === entry) drops.delete(port)
      return
    }
    const list = ports.get(port) ?? []
    list.splice(list.indexOf(entry), 1)
    if (list.length === 0) ports.delete(port)
    const root = rootPortOf(port)
    costs.set(root, (costs.get(root) ?? 0) - entry.cost)
    total -= entry.cost
  }

  function merge(entry: Entry, into: Entry): void {
    remove(entry)
    const { count = 0 } = into.repeated ?? {}
    const last = entry.repeated ?? { count: 0, at: entry.change.at, added: entry.added }
    into.repeated = { count: count + 1 + last.count, at: last.at, added: last.added }
  }

  /**
   * Compacts a port after a change was added: the change before it is no longer the newest state of the port. If it repeats
   * an earlier one, it is counted there. A removal after a removal is superfluous.
   */
  function compact(port: string, sentUpTo: number): Line[] {
    const list = (ports.get(port) ?? []).filter(({ n }) => n > sentUpTo)
    const entry = list.at(-2)
    if (list.length <= exactChanges || entry === undefined) return []
    const before = list.slice(0, -2)
    if (entry.identity === undefined) {
      if (before.at(-1)?.identity !== undefined) return []
      remove(entry)
      return [{ kind: 'forget', n: entry.n }]
    }
    const same = before.find(({ identity }) => identity === entry.identity)
    if (same === undefined) return []
    merge(entry, same)
    return [{ kind: 'merge', n: entry.n, into: same.n }]
  }

  /**
   * Returns the change that is to be dropped: of the longest port below the fullest root port, but not the newest.
   * The first sight of an identity comes late, the first changes of a port later, and a check-in that was sent last.
   */
  function victim(sentUpTo: number): Entry | undefined {
    const [root] = [...costs].reduce((most, one) => (one[1] > most[1] ? one : most), ['', 0] as const)
    const lists = [...ports]
      .filter(([port]) => rootPortOf(port) === root)
      .map(([, list]) => list)
      .sort((a, b) => b.length - a.length)
    const choices: ((entry: Entry, at: number) => boolean)[] = [
      ({ n, isFirstSight }, at) => n > sentUpTo && at >= firstChanges && !isFirstSight,
      ({ n }, at) => n > sentUpTo && at >= firstChanges,
      ({ n }) => n > sentUpTo,
      () => true,
    ]
    for (const isChosen of choices)
      for (const list of lists) {
        const found = list.find((entry, at) => at < list.length - 1 && isChosen(entry, at))
        if (found !== undefined) return found
      }
    return lists[0]?.[0]
  }

  /** Drops changes until the limits hold. */
  function limit(sentUpTo: number): { lines: Line[]; dropped: number } {
    const lines: Line[] = []
    let dropped = 0
    while (total > maxBytes) {
      const entry = victim(sentUpTo)
      if (entry === undefined) break
      dropped += 1 + (entry.repeated?.count ?? 0)
      const { n, added, repeated } = entry
      const portPath = rootPortOf(portOf(entry.change))
      const count = drops.get(portPath)
      if (count !== undefined && count.n > sentUpTo) {
        merge(entry, count)
        lines.push({ kind: 'merge', n, into: count.n })
      } else {
        const change = { op: 'dropped' as const, at: entry.change.at, portPath }
        const line = { kind: 'change' as const, n: nextNumber++, change, added, repeated }
        insert(line, 0)
        remove(entry)
        lines.push(line, { kind: 'forget', n })
      }
    }
    return { lines, dropped }
  }

  function forgetUpTo(upTo: number): void {
    for (const entry of entries.values()) {
      if (entry.n > upTo) break
      remove(entry)
    }
    nextNumber = Math.max(nextNumber, upTo + 1)
  }

  return {
    /** Restores what a line of the file did. */
    apply(line: Line, bytes: number): void {
      if (line.kind === 'change') insert(line, bytes)
      else if (line.kind === 'ack') forgetUpTo(line.upTo)
      else if (line.kind === 'overflow') forgetUpTo(nextNumber - 1)
      else if (line.kind !== 'flight') {
        const entry = entries.get(line.n)
        const into = line.kind === 'merge' ? entries.get(line.into) : undefined
        if (entry !== undefined && into !== undefined) merge(entry, into)
        else if (entry !== undefined) remove(entry)
      }
    },
    /**
     * Adds changes. Returns the lines for the file, and how many changes were dropped. Changes up to `sentUpTo` are in a
     * check-in that may be repeated, so nothing is merged into them.
     */
    add(
      changes: readonly DeviceChange[],
      added: Moment | undefined,
      sentUpTo: number,
    ): { lines: Line[]; dropped: number } {
      const lines = changes.flatMap((change): Line[] => {
        const line = { kind: 'change' as const, n: nextNumber++, change, added }
        insert(line, Buffer.byteLength(JSON.stringify(line)))
        return [line, ...compact(portOf(change), sentUpTo)]
      })
      const { lines: drops, dropped } = limit(sentUpTo)
      return { lines: [...lines, ...drops], dropped }
    },
    forgetUpTo,
    /** Returns the unacknowledged changes, oldest first. */
    all: (): Entry[] => [...entries.values()],
    get size(): number {
      return entries.size
    },
  }
}
