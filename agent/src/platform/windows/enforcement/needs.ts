import type { HostNeeds } from '../../platform.ts'
import type { Snapshots } from './snapshot.ts'
import { isUsbDevice, type Tree, type TreeNode } from './tree.ts'

export interface WindowsNeedsDeps {
  snapshots: Snapshots
  /** Returns the instance IDs of the disks with the system, the boot files and the page file. */
  systemDisks: () => readonly string[]
}

/** Usages of keyboards and of mice, pens, touch screens and touch pads in the hardware IDs of HID functions. */
const KEYBOARD = /^HID_DEVICE_UP:0001_U:000[67]$/i
const POINTER = /^HID_DEVICE_UP:(0001_U:000[12]|000D_U:000[1245])$/i
/** PS/2 keyboards and mice (Plug and Play IDs PNP03xx and PNP0Fxx). Internal ones of laptops have IDs of vendors too. */
const PS2_KEYBOARD = /^(ACPI\\|\*)PNP03[0-9A-F]{2}$/i
const PS2_POINTER = /^(ACPI\\|\*)PNP0F[0-9A-F]{2}$/i
/** Functions of paired Bluetooth devices: the HID profile (0x1124) and HID over GATT (0x1812). */
const BLUETOOTH_HID = /^(BTHENUM\\\{00001124-|BTHLEDEVICE\\\{00001812-)/i

const hasId = ({ hardwareIds, compatibleIds }: TreeNode, pattern: RegExp): boolean =>
  [...hardwareIds, ...compatibleIds].some((id) => pattern.test(id))

/** Finds the devices that the host needs in the Plug and Play tree. */
export const createWindowsNeeds = ({ snapshots, systemDisks }: WindowsNeedsDeps): HostNeeds => {
  const isBehindUsb = (tree: Tree, { id }: TreeNode): boolean =>
    tree.ancestors(id).some((node) => isUsbDevice(node.id) || /^USB\\ROOT_HUB/i.test(node.id))
  /**
   * Counts working input devices without a USB device above them. Does not count software devices of remote sessions.
   */
  function countOthers(usage: RegExp, ps2: RegExp): number {
    const { tree } = snapshots.get()
    return [...tree.all()].filter(
      (node) =>
        node.isWorking &&
        ((hasId(node, ps2) && /^ACPI\\/i.test(node.id)) || (hasId(node, usage) && isInternal(tree, node))),
    ).length
  }
  /** A HID function counts only if its bus is known, because a remote session also has a keyboard. */
  const isInternal = (tree: Tree, node: TreeNode): boolean =>
    !isBehindUsb(tree, node) && [node, ...tree.ancestors(node.id)].some(({ parent }) => /^(ACPI|PCI)\\/i.test(parent))

  /** Returns the ports of the USB devices above these nodes. */
  function portsAbove(ids: Iterable<string>): Set<string> {
    const { tree, scan } = snapshots.get()
    const above = new Set<string>()
    for (const id of ids) for (const node of [{ id }, ...tree.ancestors(id)]) above.add(node.id.toUpperCase())
    const ports = new Set<string>()
    for (const [portPath, device] of scan.devices) if (above.has(device.instanceId.toUpperCase())) ports.add(portPath)
    return ports
  }

  return {
    otherKeyboards: () => countOthers(KEYBOARD, PS2_KEYBOARD),
    otherPointers: () => countOthers(POINTER, PS2_POINTER),
    bootPorts: () => portsAbove(systemDisks()),
    inputRadios() {
      const { tree } = snapshots.get()
      return portsAbove([...tree.all()].filter(({ id }) => BLUETOOTH_HID.test(id)).map(({ id }) => id))
    },
  }
}
