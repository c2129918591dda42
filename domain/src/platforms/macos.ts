import type { NicReport } from '@portcullis/contract/agent-reports.ts'
import { hostFacts, macOf, parseUname } from './host-facts.ts'
import { failed, type Reading, reading } from './reading.ts'
import { type ClassCode, type SaidOfDevice, syntheticReport } from './synthetic.ts'
import { numberIn, objectsOf, parseJson, parsePlist, type Tree, type TreeObject, textIn } from './tree.ts'

const SECTION = /^<portcullis ([a-z]+)>$/
/** Splits the output into sections. Returns null if the last one is missing. */
const sectionsOf = (lines: readonly string[]): Map<string, string[]> | null => {
  const sections = new Map<string, string[]>()
  let current: string[] = []
  for (const line of lines) {
    const name = SECTION.exec(line)?.[1]
    if (name === 'end') return sections
    if (name === undefined) current.push(line)
    else {
      current = []
      sections.set(name, current)
    }
  }
  return null
}

/** Parses a location of 32 bits from a number, 64-bit digits or `0x14330000 / 6`. Undefined if it is missing. */
const locationOf = (value: Tree | undefined): number | undefined => {
  if (typeof value === 'number') return Number.isInteger(value) ? value >>> 0 : undefined
  if (typeof value !== 'string') return undefined
  const hex = /^\s*0x([0-9a-f]{1,8})\b/i.exec(value)?.[1]
  if (hex) return Number.parseInt(hex, 16)
  return /^-?\d{1,20}$/.test(value) ? Number(BigInt.asUintN(32, BigInt(value))) : undefined
}

/** Returns the port path of a location on macOS: the bus in the top byte, then a port in each of six nibbles. A bus has none. */
export const macosPortPath = (location: number | undefined): string | undefined => {
  if (location === undefined) return undefined
  const ports = (location & 0xff_ffff)
    .toString(16)
    .padStart(6, '0')
    .replace(/0{1,6}$/, '')
  if (ports === '') return undefined
  return `${location >>> 24}-${[...ports].map((digit) => Number.parseInt(digit, 16)).join('.')}`
}

const hexIn = (text: string | undefined): number | undefined => {
  const digits = /^\s*0x([0-9a-f]{1,4})\b/i.exec(text ?? '')?.[1]
  return digits === undefined ? undefined : Number.parseInt(digits, 16)
}

const APPLE = 0x05ac

const bcdOf = (text: string | undefined): number | undefined => {
  const [, major, minor] = /^\s*([0-9a-f]{1,2})\.([0-9a-f]{2})\s*$/i.exec(text ?? '') ?? []
  return major && minor ? Number.parseInt(`${major}${minor}`, 16) : hexIn(text)
}

const speedNames: Readonly<Record<string, number>> = {
  low_speed: 1.5,
  full_speed: 12,
  high_speed: 480,
  super_speed: 5_000,
  super_speed_plus: 10_000,
}

const speedOf = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  if (Object.hasOwn(speedNames, text)) return speedNames[text]
  const [, amount, unit] = /^([\d.]{1,8})\s*([GM])b\/s/i.exec(text) ?? []
  const mbps = Number(amount) * (unit?.toUpperCase() === 'G' ? 1_000 : 1)
  return mbps > 0 && mbps <= 1_000_000 ? mbps : undefined
}

/** Names that macOS gives to devices without a product string. */
const NO_NAME = /^(?:[a-z]+(?:_[a-z]+)*_device|Unnamed Device)$/
const HUB: ClassCode = [9, 0, 0]

const known = <T>(key: string, value: T | undefined): Record<string, T> => (value === undefined ? {} : { [key]: value })

const removableOf = (fixed: boolean, removable: boolean): SaidOfDevice['removable'] =>
  fixed ? 'fixed' : removable ? 'removable' : undefined

/** Removes the ordering prefix of keys that system_profiler added before macOS 10.15 (`c_bcd_device`, `g_location_id`). */
const LETTERED = /^[a-z]_(?=[a-z]+_[a-z]+|manufacturer$)/
const withoutLetters = (said: TreeObject): TreeObject =>
  Object.keys(said).some((key) => LETTERED.test(key))
    ? Object.fromEntries(Object.entries(said).map(([key, value]) => [key.replace(LETTERED, ''), value]))
    : said

/** Returns true if an object describes a USB product by any key, but has no readable location. */
const isUnread = (said: TreeObject): boolean =>
  Object.keys(said).some((key) => /product_?id|idProduct/i.test(key)) &&
  locationOf(said.location_id ?? said.USBKeyLocationID ?? said.locationID) === undefined

/** Reads a device from system_profiler (SPUSBDataType or SPUSBHostDataType). Undefined for buses, media and volumes. */
const profiledDevice = (said: TreeObject): SaidOfDevice | undefined => {
  const portPath = macosPortPath(locationOf(said.location_id ?? said.USBKeyLocationID))
  const pid = hexIn(textIn(said, 'product_id', 'USBDeviceKeyProductID'))
  if (portPath === undefined || pid === undefined) return undefined
  const vendor = textIn(said, 'vendor_id', 'USBDeviceKeyVendorID')
  const name = textIn(said, '_name')
  const serial = textIn(said, 'serial_num', 'USBDeviceKeySerialNumber')
  const hardware = textIn(said, 'USBKeyHardwareType')
  return {
    portPath,
    vid: vendor === 'apple_vendor_id' ? APPLE : (hexIn(vendor) ?? 0),
    pid,
    bcdDevice: bcdOf(textIn(said, 'bcd_device', 'USBDeviceKeyProductVersion')) ?? 0,
    ...known('deviceCode', name === 'hub_device' ? HUB : undefined),
    ...known('manufacturer', textIn(said, 'manufacturer', 'USBDeviceKeyVendorName')),
    ...known('product', name !== undefined && NO_NAME.test(name) ? undefined : name),
    ...known('serial', serial === 'Not Provided' ? undefined : serial),
    ...known('speedMbps', speedOf(textIn(said, 'device_speed', 'USBDeviceKeyLinkSpeed'))),
    ...known(
      'removable',
      removableOf(
        hardware === 'Built-in' || hardware === 'Non-removable' || textIn(said, 'Built-in_Device') === 'Yes',
        hardware === 'Removable',
      ),
    ),
  }
}

/** `USBSpeed` since macOS 10.11, and `Device Speed` before (IOUSBHostFamily, IOUSBFamily). */
const usbSpeeds: readonly (number | undefined)[] = [undefined, 12, 1.5, 480, 5_000, 10_000, 20_000]
const deviceSpeeds: readonly (number | undefined)[] = [1.5, 12, 480, 5_000, 10_000]

const codeIn = (said: TreeObject, prefix: 'bDevice' | 'bInterface'): ClassCode | undefined => {
  const code = numberIn(said, `${prefix}Class`, 255)
  if (code === undefined) return undefined
  return [code, numberIn(said, `${prefix}SubClass`, 255) ?? 0, numberIn(said, `${prefix}Protocol`, 255) ?? 0]
}

/** Reads a device from the registry: an object with VID, PID, a location with a port, and a device class. */
const registryDevice = (said: TreeObject): SaidOfDevice | undefined => {
  const portPath = macosPortPath(locationOf(said.locationID))
  const vid = numberIn(said, 'idVendor', 0xffff)
  const pid = numberIn(said, 'idProduct', 0xffff)
  const deviceCode = codeIn(said, 'bDevice')
  if (portPath === undefined || vid === undefined || pid === undefined || deviceCode === undefined) return undefined
  const speed = usbSpeeds[numberIn(said, 'USBSpeed', 6) ?? 0] ?? deviceSpeeds[numberIn(said, 'Device Speed', 4) ?? 5]
  const isFixed = textIn(said, 'non-removable')
  return {
    portPath,
    vid,
    pid,
    bcdDevice: numberIn(said, 'bcdDevice', 0xffff) ?? 0,
    deviceCode,
    ...known('manufacturer', textIn(said, 'kUSBVendorString', 'USB Vendor Name')),
    ...known('product', textIn(said, 'kUSBProductString', 'USB Product Name')),
    ...known('serial', textIn(said, 'kUSBSerialNumberString', 'USB Serial Number')),
    ...known('speedMbps', speed),
    ...known('removable', removableOf(isFixed === 'yes', isFixed === 'no')),
  }
}

type Function = NonNullable<SaidOfDevice['interfaces']>[number]

/** Reads the interfaces by the location of their device, sorted by number. */
const functionsOf = (objects: readonly TreeObject[]): Map<string, Function[]> => {
  const found = new Map<string, Function[]>()
  for (const said of objects) {
    const place = macosPortPath(locationOf(said.locationID))
    const number = numberIn(said, 'bInterfaceNumber', 255)
    const code = codeIn(said, 'bInterface')
    if (place === undefined || number === undefined || code === undefined) continue
    const functions = found.get(place) ?? []
    functions.push({ number, code })
    found.set(place, functions)
  }
  for (const functions of found.values()) functions.sort((a, b) => a.number - b.number)
  return found
}

/** Parses the network interfaces in the output of `ifconfig -a`. */
const nicsOf = (lines: readonly string[]): NicReport[] => {
  const nics: NicReport[] = []
  let current: (Omit<NicReport, 'mac'> & { mac?: string }) | undefined
  function close(): void {
    if (current?.mac !== undefined) nics.push({ ...current, mac: current.mac })
  }
  for (const line of lines.slice(0, 10_000)) {
    const [, name, flags = ''] = /^([A-Za-z0-9_.]{1,32}): flags=[0-9a-f]+<([^>]*)>/.exec(line) ?? []
    if (name !== undefined) {
      close()
      current = { name, addresses: [], isUp: flags.split(',').includes('RUNNING') }
    }
    const [, key, value = ''] = /^\s+(ether|inet6?|status:) (\S{1,64})/.exec(line) ?? []
    if (!current || key === undefined) continue
    if (key === 'ether') {
      const mac = macOf(value)
      if (mac) current.mac = mac
    } else if (key === 'status:') current.isUp = value === 'active'
    else if (current.addresses.length < 32) current.addresses.push(value.replace(/%.*/, ''))
  }
  close()
  return nics
}

/** Parses the output of the script on macOS, after the line with the system name. */
export const readMacos = (lines: readonly string[]): Reading => {
  const sections = sectionsOf(lines)
  if (!sections) return failed('not-understood', 'the output is truncated')
  const text = (name: string): string => (sections.get(name) ?? []).join('\n').trim()
  const profiled = parseJson(text('profiler')) ?? parsePlist(text('profiler'))
  const registry = parsePlist(text('registry'))
  if (profiled === undefined && registry === undefined)
    return text('profiler') === '' && text('registry') === ''
      ? failed('not-permitted', 'neither system_profiler nor ioreg printed anything')
      : failed('not-understood', 'neither system_profiler nor ioreg printed what can be read')
  const objects = objectsOf(registry)
  const functions = functionsOf([...objects, ...objectsOf(parsePlist(text('interfaces')))])
  const devices = new Map<string, SaidOfDevice>()
  const profiledObjects = objectsOf(profiled).map(withoutLetters)
  for (const object of profiledObjects) {
    const device = profiledDevice(object)
    if (device) devices.set(device.portPath, device)
  }
  // The registry contains the numbers and the original texts of the device.
  for (const object of objects) {
    const device = registryDevice(object)
    if (device) devices.set(device.portPath, { ...devices.get(device.portPath), ...device })
  }
  // The output mentions devices but none can be read. An empty inventory would look like a host without devices.
  if (devices.size === 0 && [...profiledObjects, ...objects].some(isUnread))
    return failed('not-understood', 'the output lists USB products, but no device location can be read')
  const [uname = '', version = '', model = '', ...network] = sections.get('host') ?? []
  const facts = hostFacts({
    ...parseUname(uname),
    osName: `macOS ${version}`.trim(),
    osVersion: version,
    vendor: 'Apple Inc.',
    model,
    nics: nicsOf(network),
  })
  return reading(
    facts,
    [...devices.values()].map((device) =>
      syntheticReport({ ...device, interfaces: functions.get(device.portPath) ?? [] }),
    ),
  )
}
