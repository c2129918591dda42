import { hash } from 'node:crypto'
import type { DeviceReport, NicReport } from '@portcullis/contract/agent-reports.ts'
import { mustExist } from '../must-exist.ts'
import { hostFacts, macOf } from './host-facts.ts'
import { cut, failed, MAX_POLLED_DEVICES, type Reading, reading } from './reading.ts'
import { type ClassCode, type SaidOfDevice, syntheticReport } from './synthetic.ts'
import { numberIn, parseJson, type Tree, type TreeObject, textIn, textsIn } from './tree.ts'
import { childrenOf } from './windows-classes.ts'

/** Maximum number of nodes in the device tree. Each device may have several interfaces. */
const MAX_NODES = 8 * MAX_POLLED_DEVICES

/** Maximum number of interfaces per device. In practice, a configuration has at most 32. */
const MAX_FUNCTIONS = 32

/** `USB\VID_046D&PID_C30A&MI_01\7&2BCD78FF&0&0001`: VID, PID, interface number and instance. */
const INSTANCE = /^USB\\VID_([0-9A-F]{4})&PID_([0-9A-F]{4})(?:&REV_[0-9A-F]{4})?(?:&MI_([0-9A-F]{2}))?\\(.+)$/is
const REVISION = /&REV_([0-9A-F]{4})(?:&|$)/i
/** Class of an interface (`Class_`) or device (`DevClass_`), with one, two or all three numbers. */
const CLASS = /^USB\\(Dev)?Class_([0-9A-F]{2})(?:&SubClass_([0-9A-F]{2}))?(?:&Prot_([0-9A-F]{2}))?$/i
/** Capability bit of a device with its own serial number (CM_DEVCAP_UNIQUEID). */
const UNIQUE_ID = 0x10

/** A node of the device tree: a device, or an interface of a composite device. */
interface Node {
  id: string
  vid: number
  pid: number
  /** Number of an interface. Undefined for a device. */
  mi: number | undefined
  instance: string
  said: TreeObject
}

const nodeOf = (said: Tree): Node | undefined => {
  if (typeof said !== 'object' || said === null || Array.isArray(said)) return undefined
  const id = textIn(said, 'InstanceId', 'PNPDeviceID', 'DeviceID')
  // Windows limits IDs to 200 characters (MAX_DEVICE_ID_LEN).
  const [, vid, pid, mi, instance] = INSTANCE.exec(id?.slice(0, 400) ?? '') ?? []
  if (!id || !vid || !pid || !instance) return undefined
  const numberOf = (hex: string): number => Number.parseInt(hex, 16)
  return { id, vid: numberOf(vid), pid: numberOf(pid), mi: mi === undefined ? undefined : numberOf(mi), instance, said }
}

/** Returns the most specific class in the compatible IDs. */
const classOf = (said: TreeObject, ofDevice: boolean): ClassCode | undefined => {
  for (const text of textsIn(said, 'CompatibleID').slice(0, 64)) {
    const match = CLASS.exec(text)
    if (!match || (match[1] !== undefined) !== ofDevice) continue
    const [code, subclass, protocol] = match.slice(2).map((hex) => Number.parseInt(hex ?? '0', 16))
    return [code ?? 0, subclass ?? 0, protocol ?? 0]
  }
  return undefined
}

const revisionOf = (said: TreeObject): number => {
  for (const text of textsIn(said, 'HardwareID').slice(0, 64)) {
    const revision = REVISION.exec(text)?.[1]
    if (revision) return Number.parseInt(revision, 16)
  }
  return 0
}

/**
 * Returns the serial number of a device. Windows generates those with `&`, unless the capabilities show that the device
 * has such a serial number. Some attack tools use one to hide it.
 */
const serialOf = ({ instance, said }: Node): string | undefined => {
  const capabilities = numberIn(said, 'Capabilities', 0xffff_ffff)
  if (!instance.includes('&')) return instance
  return capabilities !== undefined && (capabilities & UNIQUE_ID) !== 0 ? instance : undefined
}

/** Splits `PCIROOT(0)#PCI(1400)#USBROOT(0)#USB(3)#USB(2)` into controller and ports. */
const pathOf = (said: TreeObject): { controller: string; ports: string[] } | undefined => {
  for (const text of textsIn(said, 'LocationPaths').slice(0, 8)) {
    const match = /^([^\s]{1,300}#USBROOT\(\d{1,3}\))((?:#USB\(\d{1,3}\)){1,8})$/.exec(text)
    if (match?.[1] && match[2]) return { controller: match[1], ports: match[2].match(/\d+/g) ?? [] }
  }
  return undefined
}

const hashOf = (text: string): bigint => BigInt(`0x${hash('sha256', text, 'hex').slice(0, 15)}`)

/** Returns three groups of three digits as a hash of a text. */
const digitsOf = (text: string): string[] => {
  const number = hashOf(text) % 1_000_000_000n
  return (
    String(number)
      .padStart(9, '0')
      .match(/.{3}/g)
      ?.map((group) => String(Number(group))) ?? []
  )
}

/**
 * Returns the port paths of devices, and their controllers if known. The bus is a number of the controller alone, from 1 to
 * 999, because other controllers come and go. Without a location path, the port path is bus 0 with stable digits. They
 * represent the hub in the instance ID and its port, or the complete ID.
 */
const placesOf = (devices: readonly Node[]): Map<Node, Pick<DeviceReport, 'portPath' | 'controller'>> => {
  const places = new Map<Node, Pick<DeviceReport, 'portPath' | 'controller'>>()
  const taken = new Set<string>()
  for (const node of devices) {
    const path = pathOf(node.said)
    const [, hub, port] = /^(.+&\d+)&(\d{1,3})$/.exec(node.instance) ?? []
    const bus = path ? 1n + (hashOf(path.controller) % 999n) : 0
    const ports =
      path?.ports ?? (hub && port && serialOf(node) === undefined ? [...digitsOf(hub), port] : digitsOf(node.id))
    let place = `${bus}-${ports.map(Number).join('.')}`
    // Two devices with the same port path are still two devices.
    for (let salt = 1; taken.has(place); salt++) place = `0-${digitsOf(`${node.id} ${salt}`).join('.')}`
    taken.add(place)
    places.set(node, { portPath: place, ...(path === undefined ? {} : { controller: path.controller }) })
  }
  return places
}

type Functions = NonNullable<SaidOfDevice['interfaces']>

/**
 * Returns the interfaces of each device. The interfaces of a composite device are separate nodes below their parent. If
 * the parent is unknown, they count for all devices with the same VID and PID.
 */
const functionsOf = (devices: readonly Node[], parts: readonly Node[]): Map<Node, Functions> => {
  const key = (node: Node): string => `${node.vid} ${node.pid}`
  const byParent = Map.groupBy(parts, (part) => (textIn(part.said, 'Parent') ?? key(part)).toUpperCase())
  // Compute this once per parent: 1,000 devices with the same VID and PID may share 1,000 interfaces.
  const functionsUnder = new Map<string, Functions>()
  for (const [parent, children] of byParent) {
    const functions = new Map<string, Functions[number]>()
    for (const child of children) {
      if (functions.size === MAX_FUNCTIONS) break
      const code = classOf(child.said, false)
      if (code && child.mi !== undefined) functions.set(`${child.mi} ${code}`, { number: child.mi, code })
    }
    functionsUnder.set(
      parent,
      [...functions.values()].sort((a, b) => a.number - b.number),
    )
  }
  const found = new Map<Node, Functions>()
  for (const device of devices) {
    const own = classOf(device.said, false)
    const under = functionsUnder.get(device.id.toUpperCase()) ?? functionsUnder.get(key(device)) ?? []
    found.set(device, own ? [{ number: 0, code: own }] : under)
  }
  return found
}

const objectsIn = (said: TreeObject, key: string, max: number): Tree[] => {
  const value = Object.hasOwn(said, key) ? said[key] : undefined
  // ConvertTo-Json writes a list with one element as the element.
  return value === undefined || value === null ? [] : Array.isArray(value) ? value.slice(0, max) : [value]
}

const nicsOf = (said: TreeObject): NicReport[] =>
  objectsIn(said, 'Nics', 256).flatMap((nic) => {
    if (typeof nic !== 'object' || nic === null || Array.isArray(nic)) return []
    const mac = macOf(textIn(nic, 'MACAddress') ?? '')
    const isUp = Object.hasOwn(nic, 'IPEnabled') && nic.IPEnabled === true
    return mac ? [{ name: textIn(nic, 'Description') ?? '', mac, addresses: textsIn(nic, 'IPAddress'), isUp }] : []
  })

const textOrNumber = (said: TreeObject, key: string): string =>
  textIn(said, key) ?? String(numberIn(said, key, 0xffff) ?? '')

/** A device with the instance ID of its node. */
export interface WindowsReport {
  id: string
  report: DeviceReport
}

/** Adds what nodes below a device say: a keyboard, a mouse or a disk says more than an interface of class HID or none. */
const withChildren = (own: Functions, children: readonly { number: number; compatible: string }[]): Functions => {
  const all = new Map(own.map((one) => [`${one.number} ${one.code}`, one]))
  for (const { number, compatible } of children) {
    const code = classOf({ CompatibleID: compatible }, false)
    if (code !== undefined) all.set(`${number} ${code}`, { number, code })
  }
  const isVague = ({ code: [base, subclass] }: Functions[number]): boolean => base === 3 && subclass === 0
  const exact = new Set([...all.values()].filter((one) => one.code[0] === 3 && !isVague(one)).map((one) => one.number))
  return [...all.values()]
    .filter((one) => !isVague(one) || !exact.has(one.number))
    .sort((a, b) => a.number - b.number)
    .slice(0, MAX_FUNCTIONS)
}

/** Returns the devices of Plug and Play nodes. */
const reportsOf = (nodes: readonly Node[], below: ReturnType<typeof childrenOf> = () => []): WindowsReport[] => {
  const byId = new Map(nodes.map((node) => [node.id.toUpperCase(), node]))
  const devices = [...byId.values()].filter((node) => node.mi === undefined)
  const functions = functionsOf(
    devices,
    [...byId.values()].filter((node) => node.mi !== undefined),
  )
  const places = placesOf(devices)
  return devices.map((node) => {
    const serial = serialOf(node)
    const product = textIn(node.said, 'BusReportedDeviceDesc')
    const interfaces = withChildren(functions.get(node) ?? [], below({ vid: node.vid, pid: node.pid, serial }))
    // Windows lists a device with one interface by the class of that interface. Only hubs have the same class as device class.
    const deviceCode = classOf(node.said, true) ?? interfaces.find((i) => i.code[0] === 9)?.code
    const report = syntheticReport({
      ...mustExist(places.get(node), 'the place of a device'),
      vid: node.vid,
      pid: node.pid,
      bcdDevice: revisionOf(node.said),
      interfaces,
      ...(deviceCode === undefined ? {} : { deviceCode }),
      ...(serial === undefined ? {} : { serial }),
      ...(product === undefined ? {} : { product }),
    })
    return { id: node.id, report }
  })
}

const devicesOf = (nodes: readonly Node[]): DeviceReport[] => reportsOf(nodes).map(({ report }) => report)

/** Returns the devices of Plug and Play nodes with their instance IDs. Nodes below them, such as disks, add interfaces. */
export const windowsReports = (said: readonly TreeObject[]): WindowsReport[] =>
  reportsOf(
    said.flatMap((one) => nodeOf(one) ?? []),
    childrenOf(said),
  )

/** Parses the output of the script on Windows, after the line with the system name. */
export const readWindows = (lines: readonly string[]): Reading => {
  const end = lines.findIndex((line) => line.trim() === 'end')
  if (end < 0) return failed('not-understood', 'the output is truncated')
  const said = parseJson(lines.slice(0, end).join('\n'))
  if (typeof said !== 'object' || said === null || Array.isArray(said))
    return failed('not-understood', 'the output is not a list of devices')
  const nodes = objectsIn(said, 'Devices', MAX_NODES).flatMap((device) => nodeOf(device) ?? [])
  if (nodes.length === 0 && Object.hasOwn(said, 'Denied') && said.Denied === true)
    return failed('not-permitted', 'the user may not ask Windows for its devices')
  const found = devicesOf(nodes)
  const version = textIn(said, 'Version') ?? ''
  const facts = hostFacts({
    hostname: textIn(said, 'Dns', 'Host') ?? '',
    osName: textIn(said, 'Os') ?? 'Windows',
    osVersion: version,
    kernel: version,
    machine: textIn(said, 'Architecture') ?? '',
    vendor: textIn(said, 'Manufacturer') ?? '',
    model: textIn(said, 'Model') ?? '',
    sku: textIn(said, 'Sku') ?? '',
    chassis: textOrNumber(said, 'Chassis'),
    nics: nicsOf(said),
  })
  return reading(facts, found, cut(textIn(said, 'Machine') ?? '', 128))
}
