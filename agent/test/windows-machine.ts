/**
 * A stand-in for Windows with its Plug and Play tree, written from documentation. It installs devices on arrival under
 * the Device Installation Restrictions of the registry (Policy CSP DeviceInstallation) and remembers detached devices.
 * Its `DeviceCalls` can refuse, veto, need a restart, or report success without an effect, as the real ones do. It
 * shares no code with the enforcement that it tests.
 */
import type { DeviceReport } from '@portcullis/contract/agent-protocol.ts'
import type { CallResult, DeviceCalls } from '../src/platform/windows/enforcement/device-calls.ts'
import type { HubData, RawNode } from '../src/platform/windows/inventory.ts'
import { PROPERTY_TYPES } from '../src/platform/windows/properties.ts'
import { dwordOf, type RawRegistry, type RegistryKey, textOf } from '../src/platform/windows/registry.ts'
import { hubDataFor, rawNode, windowsNodes } from './windows-nodes.ts'

/** Ways in which a device or Windows misbehaves. */
export interface Quirks {
  /** `restart` and `veto`: the device works until the next restart. `lie`: success without an effect. */
  uninstall?: 'restart' | 'veto' | 'lie' | 'denied'
  /** `refused`: no DN_DISABLEABLE, as with many keyboards. */
  disable?: 'refused' | 'veto' | 'restart' | 'lie'
  install?: 'lie'
  /** No driver of Windows matches. */
  hasNoDriver?: boolean
}

export interface MachineOptions {
  raw: RawRegistry
  /** When Windows reads changed restrictions: at each installation, or at its restart (Policy_RebootTime). */
  reads?: 'at-each-installation' | 'at-restart'
  /** Whether Windows treats the functions of a removable device as removable too. Documentation does not say. */
  areChildrenRemovable?: boolean
  /** Called before each change, so that a test can kill the agent there. */
  beforeCall?: () => void
}

interface DevNode {
  id: string
  parent: string
  template: RawNode
  ids: string[]
  isRemovable: boolean
  portPath: string
  isInstalled: boolean
  isPresent: boolean
  isDisabled: boolean
  /** Windows removes it at the next restart. */
  isDoomed: boolean
  arrival: number
}

interface Physical {
  report: DeviceReport
  nodes: RawNode[]
  quirks: Quirks
  /** Uninstalled, and not reported by its hub since. */
  isHidden: boolean
}

const KEY: RegistryKey = 'HKLM\\Software\\Policies\\Microsoft\\Windows\\DeviceInstall\\Restrictions'
const ROOT_HUB = 'USB\\ROOT_HUB30\\4&1A2B3C4D&0&0'
const WORKING = 0x180200a
const FAILED = 0x1802400
const up = (text: string): string => text.toUpperCase()

interface Restrictions {
  isLayered: boolean
  deniesRemovable: boolean
  deniesRest: boolean
  lists: Record<'allowInstances' | 'denyInstances' | 'allowDevices' | 'denyDevices', ReadonlySet<string>>
}

/** Reads the restrictions as Windows does: a list counts only if its switch is on. */
const readRestrictions = (raw: RawRegistry): Restrictions => {
  const isOn = (name: string): boolean => {
    const { value } = raw.query(KEY, name)
    return value !== undefined && dwordOf(value) === 1
  }
  const list = (name: string): ReadonlySet<string> =>
    new Set(isOn(name) ? raw.values(`${KEY}\\${name}`).values.map((value) => up(textOf(value) ?? '')) : [])
  return {
    isLayered: isOn('AllowDenyLayered'),
    deniesRemovable: isOn('DenyRemovableDevices'),
    deniesRest: isOn('DenyUnspecified'),
    lists: {
      allowInstances: list('AllowInstanceIDs'),
      denyInstances: list('DenyInstanceIDs'),
      allowDevices: list('AllowDeviceIDs'),
      denyDevices: list('DenyDeviceIDs'),
    },
  }
}

const mayInstall = (policy: Restrictions, node: DevNode): boolean => {
  const { allowInstances, denyInstances, allowDevices, denyDevices } = policy.lists
  const named = (list: ReadonlySet<string>): boolean => node.ids.some((id) => list.has(up(id)))
  const is = { allowed: allowInstances.has(up(node.id)), denied: denyInstances.has(up(node.id)) }
  if (policy.isLayered) {
    if (is.denied) return false
    if (is.allowed) return true
    if (named(denyDevices)) return false
    if (named(allowDevices)) return true
    return !(policy.deniesRemovable && node.isRemovable)
  }
  if (is.denied || named(denyDevices) || (policy.deniesRemovable && node.isRemovable)) return false
  return is.allowed || named(allowDevices) || !policy.deniesRest
}

const textsOf = (node: RawNode, name: 'hardwareIds' | 'compatibleIds' | 'parent'): string[] =>
  Buffer.from(node.properties[name]?.data ?? [])
    .toString('utf16le')
    .split('\0')
    .filter((text) => text !== '')

const parentPort = (portPath: string): string | undefined => {
  const at = portPath.lastIndexOf('.')
  return at < 0 ? undefined : portPath.slice(0, at)
}

const done: CallResult = { code: 0 }

/** Creates a machine without USB devices. */
export const createWindowsMachine = ({
  raw,
  reads = 'at-each-installation',
  areChildrenRemovable = false,
  beforeCall = () => undefined,
}: MachineOptions) => {
  const known = new Map<string, DevNode>()
  const physical = new Map<string, Physical>()
  let atBoot = readRestrictions(raw)
  let arrivals = 0
  /** Instance IDs of nodes that got a driver from an installation, in order. */
  const installed: string[] = []
  /** IDs of devices that started with a driver after they arrived, whether installed now or earlier. */
  const started: string[] = []

  const restrictions = (): Restrictions => (reads === 'at-restart' ? atBoot : readRestrictions(raw))
  const works = (node: DevNode | undefined): boolean => node?.isPresent === true && node.isInstalled && !node.isDisabled
  const deviceNode = (portPath: string): DevNode | undefined =>
    known.get(up(physical.get(portPath)?.nodes[0]?.instanceId ?? ''))
  const hubId = (portPath: string): string => {
    const parent = parentPort(portPath)
    return parent === undefined ? ROOT_HUB : (physical.get(parent)?.nodes[0]?.instanceId ?? ROOT_HUB)
  }
  const below = (id: string): DevNode[] => {
    const children = [...known.values()].filter((node) => up(node.parent) === up(id))
    return children.flatMap((child) => [child, ...below(child.id)])
  }
  const quirksOf = (node: DevNode): Quirks => physical.get(node.portPath)?.quirks ?? {}

  function install(node: DevNode): void {
    if (node.isInstalled || quirksOf(node).hasNoDriver === true || !mayInstall(restrictions(), node)) return
    node.isInstalled = true
    installed.push(node.id)
  }

  /** Reports a device and, if it works, its functions and the devices behind it, as its hub does on arrival. */
  function enumerate(portPath: string): void {
    const device = physical.get(portPath)
    if (device === undefined || device.isHidden) return
    const parent = parentPort(portPath)
    if (parent !== undefined && !works(deviceNode(parent))) return
    arrivals++
    for (const [index, template] of device.nodes.entries()) {
      const id = template.instanceId ?? ''
      const parentId = index === 0 ? hubId(portPath) : (textsOf(template, 'parent')[0] ?? '')
      if (index > 0 && !works(known.get(up(parentId)))) continue
      const capabilities = Buffer.from(template.properties.capabilities?.data ?? Buffer.alloc(4)).readUInt32LE()
      const node = known.get(up(id)) ?? {
        id,
        parent: parentId,
        template,
        ids: [...textsOf(template, 'hardwareIds'), ...textsOf(template, 'compatibleIds')],
        isRemovable: index === 0 ? (capabilities & 4) !== 0 : areChildrenRemovable,
        portPath,
        ...{ isInstalled: false, isPresent: false, isDisabled: false, isDoomed: false, arrival: 0 },
      }
      Object.assign(node, { portPath, parent: parentId, template })
      known.set(up(id), node)
      if (!node.isPresent) node.arrival = arrivals
      node.isPresent = true
      install(node)
      if (index === 0 && works(node)) started.push(node.id)
    }
    for (const other of [...physical.keys()].sort()) if (parentPort(other) === portPath) enumerate(other)
  }

  function vanish(portPath: string): void {
    for (const other of physical.keys()) if (parentPort(other) === portPath) vanish(other)
    for (const node of known.values()) if (node.portPath === portPath) node.isPresent = false
    // A removal that was waiting for the device to stop is complete.
    for (const node of [...known.values()]) if (node.portPath === portPath && node.isDoomed) known.delete(up(node.id))
  }

  /** Removes a node with everything below it. */
  function drop(node: DevNode): void {
    const device = physical.get(node.portPath)
    const ids = new Set([node, ...below(node.id)].map(({ id }) => up(id)))
    for (const other of physical.values()) if (ids.has(up(other.nodes[0]?.instanceId ?? ''))) other.isHidden = true
    if (device !== undefined && up(device.nodes[0]?.instanceId ?? '') === up(node.id)) device.isHidden = true
    for (const id of ids) known.delete(id)
  }

  const portOf = (id: string): string => known.get(up(id))?.portPath ?? ''

  const calls: DeviceCalls = {
    uninstall(instanceId) {
      beforeCall()
      const node = known.get(up(instanceId))
      // ERROR_NO_SUCH_DEVINST
      if (node === undefined) return { code: 0xe000020b }
      const quirk = quirksOf(node).uninstall
      if (quirk === 'denied') return { code: 5 }
      if (quirk === 'lie') return done
      if ((quirk === 'restart' || quirk === 'veto') && works(node)) {
        for (const one of [node, ...below(node.id)]) one.isDoomed = true
        return { code: 0, needsRestart: true }
      }
      drop(node)
      return done
    },
    disable(instanceId) {
      beforeCall()
      const node = known.get(up(instanceId))
      if (node === undefined) return { code: 0x0d }
      const quirk = quirksOf(node).disable
      if (quirk === 'refused') return { code: 0x28 }
      if (quirk === 'veto') return { code: 0x17, veto: 'HID\\stand-in' }
      if (quirk === 'restart') return { code: 0x22 }
      if (quirk === 'lie') return done
      node.isDisabled = true
      for (const child of below(node.id)) child.isPresent = false
      return done
    },
    enable(instanceId) {
      beforeCall()
      const node = known.get(up(instanceId))
      if (node === undefined) return { code: 0x0d }
      node.isDisabled = false
      enumerate(node.portPath)
      return done
    },
    install(instanceId) {
      beforeCall()
      const node = known.get(up(instanceId))
      if (node === undefined) return { code: 0x0d }
      if (quirksOf(node).install === 'lie') return done
      install(node)
      enumerate(node.portPath)
      return done
    },
    rescan(instanceId) {
      beforeCall()
      for (const [portPath, device] of [...physical].sort(([a], [b]) => (a < b ? -1 : 1))) {
        const isBelow = up(instanceId) === up(ROOT_HUB) || portPath.startsWith(`${portOf(instanceId)}.`)
        if (!isBelow) continue
        device.isHidden = false
        if (deviceNode(portPath)?.isPresent !== true) enumerate(portPath)
      }
      return done
    },
    cyclePort(hubInstanceId, port) {
      beforeCall()
      for (const portPath of physical.keys()) {
        if (up(hubId(portPath)) !== up(hubInstanceId) || Number(portPath.split(/[-.]/).at(-1)) !== port) continue
        vanish(portPath)
        for (const [other, device] of physical)
          if (other === portPath || other.startsWith(`${portPath}.`)) device.isHidden = false
        enumerate(portPath)
      }
      return done
    },
  }

  const instanceIdOf = (portPath: string): string => physical.get(portPath)?.nodes[0]?.instanceId ?? ''

  return {
    calls,
    installed,
    started,
    /** Attaches a device. Its hub must be attached. */
    plug(report: DeviceReport, quirks: Quirks = {}): void {
      const { portPath } = report
      const nodes = windowsNodes(report, hubId(portPath))
      physical.set(portPath, { report, nodes, quirks, isHidden: false })
      enumerate(portPath)
    },
    unplug(portPath: string): void {
      vanish(portPath)
      for (const other of [...physical.keys()])
        if (other === portPath || other.startsWith(`${portPath}.`)) physical.delete(other)
    },
    restart(): void {
      atBoot = readRestrictions(raw)
      for (const portPath of physical.keys()) if (parentPort(portPath) === undefined) vanish(portPath)
      for (const node of [...known.values()]) if (node.isDoomed) known.delete(up(node.id))
      for (const device of physical.values()) device.isHidden = false
      for (const portPath of [...physical.keys()].sort()) if (parentPort(portPath) === undefined) enumerate(portPath)
    },
    /** Makes Windows know a device that is not attached. */
    addPhantom(report: DeviceReport): void {
      const before = installed.length
      this.plug(report)
      for (const node of known.values()) if (node.portPath === report.portPath) node.isInstalled = true
      enumerate(report.portPath)
      installed.length = before
      this.unplug(report.portPath)
    },
    instanceIdOf,
    /** Returns whether a device or one of its functions works. */
    works: (portPath: string): boolean => [...known.values()].some((node) => node.portPath === portPath && works(node)),
    /** Returns the instance IDs of installed devices that are not attached. */
    phantoms: (): string[] =>
      [...known.values()].filter((node) => !node.isPresent && node.isInstalled).map(({ id }) => id),
    /** Returns the nodes as SetupAPI lists them. */
    nodes: (): RawNode[] => [
      rawNode(ROOT_HUB, { status: WORKING, problem: 0 }),
      ...[...known.values()].map((node) => {
        if (!node.isPresent) return { instanceId: node.id, isPresent: false, properties: {} }
        const problem = node.isDisabled ? 22 : node.isInstalled ? 0 : 28
        const arrival = Buffer.alloc(8)
        arrival.writeBigUInt64LE(BigInt(node.arrival))
        return {
          ...node.template,
          instanceId: node.id,
          properties: {
            ...node.template.properties,
            ...rawNode(node.id, { status: problem === 0 ? WORKING : FAILED, problem, parent: node.parent }).properties,
            arrival: { type: PROPERTY_TYPES.fileTime, data: arrival },
          },
        }
      }),
    ],
    readHub: (hub: string, port: number): HubData | undefined => {
      for (const [portPath, { report }] of physical)
        if (up(hubId(portPath)) === up(hub) && Number(portPath.split(/[-.]/).at(-1)) === port) return hubDataFor(report)
      return undefined
    },
  }
}
