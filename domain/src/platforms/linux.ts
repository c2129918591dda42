import type { DeviceReport, NicReport } from '@portcullis/contract/agent-reports.ts'
import { hostFacts, macOf, parseOsRelease, parseUname, type SaidOfHost } from './host-facts.ts'
import { linuxController } from './linux-controller.ts'
import { cut, deviceText, failed, type Reading, reading } from './reading.ts'

/** A port path, as in the contract. `usbN` (root hubs) and `1-3:1.0` (interfaces) do not match. */
const PORT_PATH = /^[0-9]{1,3}-[0-9]{1,3}(\.[0-9]{1,3}){0,7}$/
const INTERFACE = /^[0-9.-]{1,48}:[0-9]{1,3}\.([0-9]{1,3})$/
const HEX_LINE = /^[0-9a-f ]*$/

/** Bytes of a device descriptor, and the maximum in a report (16,384 and 5,464 Base64 characters). */
const bytes = { device: 18, descriptors: 12_288, reportDescriptor: 4_096 }
const MAX_REPORT_DESCRIPTORS = 16
/** Maximum bytes and number of values. Real hosts have far fewer. */
const MAX_VALUE_BYTES = 8 * 1024 * 1024
const MAX_VALUES = 32_768

/** The output of `od` below a heading. */
interface Block {
  /** Heading. Empty for the values, `= 1-3` for descriptors, `+ 1-3:1.0` for a report descriptor. */
  heading: string
  hex: string[]
}

/** Splits the output at its headings. Returns null if a line is neither hex nor a heading, or if the end is missing. */
const blocksOf = (lines: readonly string[]): Block[] | null => {
  let current: Block = { heading: '', hex: [] }
  const blocks = [current]
  for (const line of lines) {
    if (line === 'end') return blocks
    if (line.startsWith('= ') || line.startsWith('+ ')) {
      current = { heading: line, hex: [] }
      blocks.push(current)
    } else if (HEX_LINE.test(line)) current.hex.push(line)
    else return null
  }
  return null
}

const bytesOf = (block: Block, max: number): Buffer =>
  Buffer.from(cut(block.hex.join('').replaceAll(' ', ''), max * 2), 'hex')

/** Decodes a value from the shell: all lines of the file with their line ends. */
const withoutLineEnd = (value: string): string => (value.endsWith('\n') ? value.slice(0, -1) : value)

const nicOf = (name: string, address: string, state: string): NicReport | undefined => {
  const mac = macOf(address)
  return mac === undefined ? undefined : { name, mac, addresses: [], isUp: state === 'up' || state === 'unknown' }
}

/** Reads the devices by name, without descriptors. Values are in the order of the attributes in the script. */
const deviceOf = (values: readonly string[]): Omit<DeviceReport, 'portPath' | 'descriptors'> => {
  const [authorized, speed, removable, ...texts] = values.map(withoutLineEnd)
  const device: Omit<DeviceReport, 'portPath' | 'descriptors'> = {}
  const [manufacturer, product, serial, configuration] = texts.map(deviceText)
  if (manufacturer !== undefined) device.manufacturer = manufacturer
  if (product !== undefined) device.product = product
  if (serial !== undefined) device.serial = serial
  if (configuration !== undefined) device.configuration = configuration
  const mbps = Number(speed?.trim() || Number.NaN)
  if (mbps >= 0 && mbps <= 1_000_000) device.speedMbps = mbps
  if (removable === 'removable' || removable === 'fixed' || removable === 'unknown') device.removable = removable
  if (authorized === '0' || authorized === '1') device.authorized = authorized === '1'
  return device
}

/** Reads the values in the order of the script. It counts them, so that no value can pass as another. */
const valuesOf = (text: string) => {
  const values = text.split('\0', MAX_VALUES)
  const [uname = '', osRelease = '', debian = '', vendor = '', model = '', chassis = '', sku = '', machineId = ''] =
    values.map(withoutLineEnd)
  const nics: NicReport[] = []
  const devices = new Map<string, ReturnType<typeof deviceOf>>()
  for (let at = 8; at < values.length; ) {
    const name = values[at + 1] ?? ''
    if (values[at] === 'n') {
      const nic = nicOf(name, values[at + 2] ?? '', withoutLineEnd(values[at + 3] ?? ''))
      if (nic) nics.push(nic)
      at += 4
    } else if (values[at] === 'd') {
      if (PORT_PATH.test(name)) devices.set(name, deviceOf(values.slice(at + 2, at + 9)))
      at += 9
    } else if (values[at] === 'c') {
      const device = devices.get(name)
      const controller = linuxController(deviceText(values[at + 2]) ?? '', Number.parseFloat(values[at + 3] ?? '') >= 3)
      if (device && controller !== undefined) device.controller = controller
      at += 4
    } else break
  }
  const os = parseOsRelease(osRelease)
  // VERSION_ID of Debian is only the major version. The point release is in a separate file.
  const isPoint = os.get('ID') === 'debian' && /^\d+(\.\d+)+$/.test(debian)
  const said: SaidOfHost = {
    ...parseUname(uname),
    osName: os.get('PRETTY_NAME') ?? os.get('NAME') ?? 'Linux',
    osVersion: isPoint ? debian : (os.get('VERSION_ID') ?? ''),
    vendor,
    model,
    chassis,
    sku,
    nics,
  }
  return { said, devices, machineId: cut(machineId.trim(), 128) }
}

/** Reads descriptors and report descriptors by device, the latter in interface order. */
const descriptorsOf = (blocks: readonly Block[]) => {
  const found = new Map<string, { descriptors: Buffer; hid: [number: number, text: string][] }>()
  let current: { descriptors: Buffer; hid: [number, string][] } | undefined
  for (const block of blocks) {
    const name = block.heading.slice(2)
    if (block.heading.startsWith('= ')) {
      current = { descriptors: bytesOf(block, bytes.descriptors), hid: [] }
      if (PORT_PATH.test(name) && !found.has(name)) found.set(name, current)
    } else {
      const number = INTERFACE.exec(name)?.[1]
      const report = bytesOf(block, bytes.reportDescriptor)
      if (number !== undefined && report.length > 0) current?.hid.push([Number(number), report.toString('base64')])
    }
  }
  return found
}

/** Parses the output of the script on Linux, after the line with the system name. */
export const readLinux = (lines: readonly string[]): Reading => {
  if (lines.includes('error denied')) return failed('not-permitted', '/sys/bus/usb/devices cannot be read')
  if (lines[0] === 'error od') return failed('not-understood', 'the host has no command od')
  const blocks = blocksOf(lines)
  if (!blocks) return failed('not-understood', 'the output is truncated or mixed with other output')
  const [values, ...rest] = blocks
  const { said, devices, machineId } = valuesOf(bytesOf(values as Block, MAX_VALUE_BYTES).toString('utf8'))
  const found: DeviceReport[] = []
  let unreadable = 0
  for (const [portPath, { descriptors, hid }] of descriptorsOf(rest)) {
    const device = devices.get(portPath)
    // The device was attached or removed between the two reads, or its descriptors are not readable.
    if (!device) continue
    if (descriptors.length < bytes.device) {
      unreadable++
      continue
    }
    const report: DeviceReport = { portPath, descriptors: descriptors.toString('base64'), ...device }
    const functions = hid.sort(([a], [b]) => a - b).slice(0, MAX_REPORT_DESCRIPTORS)
    if (functions.length > 0) report.reportDescriptors = functions.map(([, text]) => text)
    found.push(report)
  }
  if (found.length === 0 && unreadable > 0)
    return failed('not-permitted', 'the descriptors of the devices cannot be read')
  return reading(hostFacts(said), found, machineId)
}
