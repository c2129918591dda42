import type { RawNode, ReadHub, WindowsScan } from '../inventory.ts'
import { windowsScan } from '../inventory.ts'
import { createTreeOf, type Tree } from './tree.ts'

/** The devices by port and their tree, read at the same moment. */
export interface Snapshot {
  scan: WindowsScan
  tree: Tree
}

export interface SnapshotDeps {
  nodes: () => Iterable<RawNode>
  readHub?: ReadHub | undefined
  clock: { monotonic(): number }
  /** Age in ms after which the devices are read again. Queries for all ports in a row then need only one read. */
  maxAgeMs?: number
}

/** Reads the devices and caches them for a moment. */
export const createSnapshots = ({ nodes, readHub, clock, maxAgeMs = 100 }: SnapshotDeps) => {
  let last: { at: number; snapshot: Snapshot } | undefined
  return {
    get(): Snapshot {
      const now = clock.monotonic()
      if (last !== undefined && now - last.at <= maxAgeMs) return last.snapshot
      const raw = [...nodes()]
      const snapshot = { scan: windowsScan(raw, readHub), tree: createTreeOf(raw) }
      // A read of many devices can take longer than `maxAgeMs`.
      last = { at: clock.monotonic(), snapshot }
      return snapshot
    },
    /** Makes the next call read again. Call it after every change to a device. */
    forget(): void {
      last = undefined
    },
  }
}
export type Snapshots = ReturnType<typeof createSnapshots>
