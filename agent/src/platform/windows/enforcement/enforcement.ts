import type { Clock } from '../../../clock.ts'
import { type Gate, type HostNeeds, type Inventory, observeOnly } from '../../platform.ts'
import type { RawNode, ReadHub } from '../inventory.ts'
import type { Registry } from '../registry.ts'
import type { DeviceCalls } from './device-calls.ts'
import { createWindowsGate } from './gate.ts'
import { createWindowsNeeds } from './needs.ts'
import { createSnapshots } from './snapshot.ts'

export interface WindowsEnforcementDeps {
  registry: Registry
  /** Undefined on Wine, which can only be monitored. */
  calls: DeviceCalls | undefined
  clock: Clock
  /** Reads the USB devices and their HID functions. */
  nodes: () => Iterable<RawNode>
  /** Also reads the devices between USB devices and disks or input devices (`NEEDED_ENUMERATORS`). */
  neededNodes: () => Iterable<RawNode>
  readHub?: ReadHub | undefined
  stamp: () => string
  /** Returns the instance IDs of the disks that Windows runs from. */
  systemDisks: () => readonly string[]
}

/** Creates the inventory and the enforcement (preview) of a Windows host. Both read the devices together. */
export const createWindowsEnforcement = (
  deps: WindowsEnforcementDeps,
): { gate: Gate; needs: HostNeeds; inventory: Inventory } => {
  const { registry, calls, clock, nodes, neededNodes, readHub, stamp, systemDisks } = deps
  const snapshots = createSnapshots({ nodes, readHub, clock })
  const gate =
    calls === undefined
      ? observeOnly('Wine cannot block devices.')
      : createWindowsGate({ registry, calls, snapshots, clock })

  /** Returns the devices as the gate sees them: on an armed host, a device without a driver is blocked. */
  function devices(): ReturnType<Inventory['scan']> {
    const { scan } = snapshots.get()
    if (gate.switches().some((name) => gate.default(name) !== '1'))
      for (const { report } of scan.devices.values()) {
        const isAuthorized = gate.isAuthorized(report.portPath)
        if (isAuthorized !== undefined) report.authorized = isAuthorized
      }
    return scan
  }

  return {
    gate,
    needs: createWindowsNeeds({ snapshots: createSnapshots({ nodes: neededNodes, clock }), systemDisks }),
    inventory: {
      scan() {
        snapshots.forget()
        return devices()
      },
      ports: () => [...snapshots.get().scan.devices.keys()],
      read: (portPath) => devices().devices.get(portPath),
      stamp,
    },
  }
}
