/** The USB devices of a Windows host, from the properties of its Plug and Play devices. Reads nothing itself. */
import { agentLimits, type DeviceReport } from '@portcullis/contract/agent-protocol.ts'
import { comparePortPaths, provenRemovable, usageDescriptor, windowsReports } from '@portcullis/domain'
import { withinLimits } from '../../collectors/ports.ts'
import { cutText } from '../../collectors/text.ts'
import type { ScannedDevice } from '../platform.ts'
import {
  decodeProperties,
  MAX_INSTANCE_ID,
  type Properties,
  type PropertyName,
  type RawProperty,
} from './properties.ts'

/** A device as Windows lists it, attached or known from earlier. */
export interface RawNode {
  /** Undefined if it is longer than Windows allows. */
  instanceId: string | undefined
  isPresent: boolean
  properties: Partial<Record<PropertyName, RawProperty>>
}

/** The data that a device itself returned, read through its hub. */
export interface HubData extends Pick<DeviceReport, 'manufacturer' | 'product' | 'serial' | 'configuration'> {
  /** Device descriptor and all configurations, as the file `descriptors` of sysfs. */
  descriptors: Buffer
  speedMbps?: number
}

/**
 * Reads a device through the hub with this instance ID. Returns undefined if the hub refuses.
 *
 * @param attachment differs between two attachments; undefined if unknown
 */
export type ReadHub = (hubInstanceId: string, port: number, attachment: string | undefined) => HubData | undefined

export interface WindowsDevice extends ScannedDevice {
  instanceId: string
  /** Instance IDs of the parents up to the root hub, nearest first. */
  parents: string[]
  hasOwnSerial: boolean
  /** Whether a HID function of the device is a keyboard. */
  isKeyboard: boolean
  service?: string
  driver?: string
  /** Problem code (`CM_PROB_`) of a device that does not work. */
  problemCode?: number
}

/** A device that Windows knows but that is not attached. */
export type Phantom = Pick<WindowsDevice, 'instanceId'> & { vid: string; pid: string }

export interface WindowsProblem {
  code:
    | 'node_limit'
    | 'phantom_limit'
    | 'inventory_too_large'
    | 'instance_id_invalid'
    | 'property_type'
    | 'property_too_large'
    | 'parent_cycle'
    | 'descriptors_odd'
  portPath: string
  message: string
}

export interface WindowsScan {
  /** Attached devices by port path, in port order. */
  devices: Map<string, WindowsDevice>
  phantoms: Phantom[]
  problems: WindowsProblem[]
}

export const MAX_NODES = 32_768
export const MAX_PHANTOMS = 4096
const MAX_PROBLEMS = 256
/** USB allows seven tiers. A composite device and its HID functions add three nodes. */
const MAX_PARENTS = 16
const MAX_USAGES = 16

const USB_DEVICE = /^USB\\VID_([0-9A-F]{4})&PID_([0-9A-F]{4})(?:&REV_[0-9A-F]{4})?\\[^\\]+$/i
const USB_INTERFACE = /^USB\\VID_[0-9A-F]{4}&PID_[0-9A-F]{4}(?:&REV_[0-9A-F]{4})?&MI_([0-9A-F]{2})\\/i
const HID_USAGE = /^HID_DEVICE_UP:([0-9A-F]{4})_U:([0-9A-F]{4})$/i
const KEYBOARD = '0001:0006'
const CAPABILITY_REMOVABLE = 4
const STATUS_HAS_PROBLEM = 0x400
const PROBLEM_DISABLED = 22

interface Node {
  id: string
  properties: Properties
}
interface HidFunction {
  interfaceNumber: number
  id: string
  usages: string[]
}

const numbersOf = (usage: string): [page: number, id: number] => {
  const [page = 0, id = 0] = usage.split(':').map((hex) => Number.parseInt(hex, 16))
  return [page, id]
}

/** Returns the attached and known USB devices. Limits or skips invalid data and reports it; never throws for a device. */
export const windowsScan = (raw: Iterable<RawNode>, readHub: ReadHub = () => undefined): WindowsScan => {
  const problems: WindowsProblem[] = []
  const add = (code: WindowsProblem['code'], message: string, portPath = ''): void => {
    if (problems.length < MAX_PROBLEMS) problems.push({ code, portPath, message })
  }
  const nodes = new Map<string, Node>()
  const phantoms: Phantom[] = []
  let read = 0
  let phantomsLeftOut = 0
  for (const { instanceId, isPresent, properties } of raw) {
    if (++read > MAX_NODES) {
      add('node_limit', `Windows lists more than ${MAX_NODES} devices. The agent ignores the others.`)
      break
    }
    if (instanceId === undefined || instanceId === '' || instanceId.length > MAX_INSTANCE_ID) {
      add('instance_id_invalid', `Device ${read} has no instance ID of at most ${MAX_INSTANCE_ID} characters.`)
      continue
    }
    const [, vid, pid] = USB_DEVICE.exec(instanceId) ?? []
    if (!isPresent) {
      if (vid === undefined || pid === undefined) continue
      if (phantoms.length < MAX_PHANTOMS) phantoms.push({ instanceId, vid: vid.toUpperCase(), pid: pid.toUpperCase() })
      else phantomsLeftOut++
      continue
    }
    const key = instanceId.toUpperCase()
    if (nodes.has(key)) continue
    const faulty = new Set<string>()
    const decoded = decodeProperties(properties, (code, name) => {
      // One problem per device and code.
      if (!faulty.has(code)) add(code, `The property ${name} of ${instanceId} is invalid and ignored.`)
      faulty.add(code)
    })
    nodes.set(key, { id: instanceId, properties: decoded })
  }
  if (phantomsLeftOut > 0)
    add('phantom_limit', `The agent omits ${phantomsLeftOut} of the devices that are not attached.`)

  const cyclic = new Set<string>()
  /** Returns the parents of a node, nearest first, up to `MAX_PARENTS` or the first repetition. */
  function parentsOf(node: Node): string[] {
    const found: string[] = []
    const visited = new Set([node.id.toUpperCase()])
    for (let at: Node | undefined = node; at !== undefined && found.length < MAX_PARENTS; ) {
      const parent: string | undefined = at.properties.parent
      if (parent === undefined || parent === '' || parent.length > MAX_INSTANCE_ID) break
      const key = parent.toUpperCase()
      if (visited.has(key)) {
        if (!cyclic.has(node.id)) add('parent_cycle', `The parents of ${node.id} form a cycle.`)
        cyclic.add(node.id)
        break
      }
      visited.add(key)
      found.push(parent)
      if (key.startsWith('USB\\ROOT_HUB')) break
      at = nodes.get(key)
    }
    return found
  }

  const hidByDevice = new Map<string, HidFunction[]>()
  for (const [key, node] of nodes) {
    if (!key.startsWith('HID\\')) continue
    const usages = (node.properties.hardwareIds ?? []).flatMap((id) => {
      const [, page, usage] = HID_USAGE.exec(id) ?? []
      return page !== undefined && usage !== undefined ? [`${page}:${usage}`.toUpperCase()] : []
    })
    let interfaceNumber = 0
    for (const parent of parentsOf(node)) {
      const mi = USB_INTERFACE.exec(parent)?.[1]
      if (mi !== undefined) interfaceNumber = Number.parseInt(mi, 16)
      if (!USB_DEVICE.test(parent)) continue
      const functions = hidByDevice.get(parent.toUpperCase()) ?? []
      functions.push({ interfaceNumber, id: key, usages })
      hidByDevice.set(parent.toUpperCase(), functions)
      break
    }
  }

  const reportDescriptorsOf = (functions: readonly HidFunction[]): string[] => {
    const byInterface = Map.groupBy(
      functions.toSorted((a, b) => a.interfaceNumber - b.interfaceNumber || (a.id < b.id ? -1 : 1)),
      (one) => one.interfaceNumber,
    )
    return [...byInterface.values()]
      .map((group) =>
        usageDescriptor([...new Set(group.flatMap((one) => one.usages))].slice(0, MAX_USAGES).map(numbersOf)),
      )
      .filter((text) => text !== '')
      .slice(0, 16)
  }

  const reports = windowsReports(
    [...nodes.values()].map(({ id, properties }) => ({
      InstanceId: id,
      HardwareID: properties.hardwareIds ?? [],
      CompatibleID: properties.compatibleIds ?? [],
      LocationPaths: properties.locationPaths ?? [],
      ...(properties.capabilities === undefined ? {} : { Capabilities: properties.capabilities }),
      ...(properties.product === undefined ? {} : { BusReportedDeviceDesc: properties.product }),
      ...(properties.parent === undefined ? {} : { Parent: properties.parent }),
    })),
  )
  const found: WindowsDevice[] = []
  for (const { id, report } of reports) {
    const node = nodes.get(id.toUpperCase())
    if (node === undefined) continue
    const { properties } = node
    const parents = parentsOf(node)
    const hub = hubDataOf(node, parents[0], report, readHub, (message) =>
      add('descriptors_odd', message, report.portPath),
    )
    if (hub !== undefined) {
      report.descriptors = hub.descriptors.toString('base64')
      for (const name of ['manufacturer', 'product', 'serial', 'configuration'] as const) {
        delete report[name]
        const value = hub[name]
        if (value !== undefined && value !== '') report[name] = cutText(value, agentLimits.string)
      }
      if (hub.speedMbps !== undefined) report.speedMbps = hub.speedMbps
    }
    if (properties.capabilities !== undefined)
      report.removable = (properties.capabilities & CAPABILITY_REMOVABLE) === 0 ? 'fixed' : 'removable'
    const functions = hidByDevice.get(id.toUpperCase()) ?? []
    const reportDescriptors = reportDescriptorsOf(functions)
    if (reportDescriptors.length > 0) report.reportDescriptors = reportDescriptors
    const hasProblem = properties.status === undefined || (properties.status & STATUS_HAS_PROBLEM) !== 0
    const problemCode = hasProblem && properties.problem ? properties.problem : undefined
    if (properties.status !== undefined) report.authorized = problemCode !== PROBLEM_DISABLED
    found.push({
      report,
      instance: properties.arrival ?? '',
      instanceId: id,
      parents,
      hasOwnSerial: report.serial !== undefined,
      isKeyboard: functions.some(({ usages }) => usages.includes(KEYBOARD)),
      ...(properties.service ? { service: properties.service } : {}),
      ...(properties.driver ? { driver: properties.driver } : {}),
      ...(problemCode === undefined ? {} : { problemCode }),
    })
  }

  const stated = new Map(found.map(({ report }) => [report.portPath, report.removable]))
  for (const { report } of found) {
    const removable = provenRemovable(report, (portPath) => stated.get(portPath))
    if (removable !== undefined) report.removable = removable
  }

  const limited = withinLimits(found.sort((a, b) => comparePortPaths(a.report.portPath, b.report.portPath)))
  return { devices: limited.devices, phantoms, problems: [...problems, ...limited.problems] }
}

/** Returns the data of a device from its hub if it belongs to the same device as the properties. */
const hubDataOf = (
  { id, properties }: Node,
  hubId: string | undefined,
  { portPath }: DeviceReport,
  readHub: ReadHub,
  onOdd: (message: string) => void,
): HubData | undefined => {
  const port = properties.address
  if (hubId === undefined || port === undefined || port < 1 || port > 255) return undefined
  const { arrival } = properties
  const data = readHub(hubId, port, arrival === undefined ? undefined : `${id} ${arrival}`)
  if (data === undefined) return undefined
  const { descriptors } = data
  const hex = (at: number): string => descriptors.readUInt16LE(at).toString(16).toUpperCase().padStart(4, '0')
  const [, vid, pid] = USB_DEVICE.exec(id) ?? []
  const isComplete = descriptors.length >= 18 && descriptors.length <= (agentLimits.descriptors / 4) * 3
  // Another device may have been attached to the port in the meantime.
  if (isComplete && hex(8) === vid?.toUpperCase() && hex(10) === pid?.toUpperCase()) return data
  onOdd(`The hub returned descriptors for port ${portPath} that do not match ${id}.`)
  return undefined
}
