import type { Clock } from '../../../clock.ts'
import type { Gate, HostNeeds } from '../../platform.ts'
import type { RawNode, ReadHub } from '../inventory.ts'
import type { Registry } from '../registry.ts'
import type { DeviceCalls } from './device-calls.ts'
import { createWindowsGate } from './gate.ts'
import { createWindowsNeeds } from './needs.ts'
import { createSnapshots, type Snapshots } from './snapshot.ts'

export interface WindowsEnforcementDeps {
  registry: Registry
  calls: DeviceCalls
  clock: Clock
  /** Reads the USB devices and their HID functions. */
  nodes: () => Iterable<RawNode>
  /** Reads also the devices that carry disks and input devices (`NEEDED_ENUMERATORS`). */
  neededNodes: () => Iterable<RawNode>
  readHub?: ReadHub | undefined
  /** Returns the instance IDs of the disks that Windows runs from. */
  systemDisks: () => readonly string[]
}

/** Creates the enforcement of a Windows host (preview). The inventory shares its snapshots. */
export const createWindowsEnforcement = ({
  registry,
  calls,
  clock,
  nodes,
  neededNodes,
  readHub,
  systemDisks,
}: WindowsEnforcementDeps): { gate: Gate; needs: HostNeeds; snapshots: Snapshots } => {
  const snapshots = createSnapshots({ nodes, readHub, clock })
  return {
    gate: createWindowsGate({ registry, calls, snapshots, clock }),
    needs: createWindowsNeeds({ snapshots: createSnapshots({ nodes: neededNodes, clock }), systemDisks }),
    snapshots,
  }
}
