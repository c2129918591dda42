import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'

/** One endpoint of an interface (USB 2.0, 9.6.6). */
export interface Endpoint {
  /** bEndpointAddress; bit 7 set means IN (towards the host). */
  address: number
  /** bmAttributes; the low two bits are the transfer type (0 control, 1 isochronous, 2 bulk, 3 interrupt). */
  attributes: number
  /** wMaxPacketSize, including the high-bandwidth bits. */
  maxPacketSize: number
  /** bInterval, in frames or as an exponent, depending on the speed. */
  interval: number
}

/** One alternate setting of an interface (USB 2.0, 9.6.5). */
export interface Interface {
  number: number
  alternate: number
  class: number
  subclass: number
  protocol: number
  endpoints: Endpoint[]
  /** HID class descriptor (HID 1.11, 6.2.1), if the interface has one. */
  hid?: { bcdHid: number; countryCode: number; reportDescriptorLength: number }
}

/** A configuration with all alternate settings of its interfaces, in the order of the descriptors. */
export interface Configuration {
  value: number
  /** Current drawn from the bus in mA: bMaxPower times 2, times 8 at SuperSpeed (USB 3.2, 9.6.3). */
  maxPowerMa: number
  attributes: number
  iConfiguration: number
  interfaces: Interface[]
}

/** The parsed descriptors of a device. `problems` lists all irregularities. */
export interface ParsedDescriptors {
  bcdUsb: number
  deviceClass: number
  deviceSubclass: number
  deviceProtocol: number
  /** bMaxPacketSize0 in bytes. Since USB 3.0, the descriptor contains the exponent of 2. */
  maxPacketSize0: number
  /** idVendor, four upper-case hex digits. */
  vid: string
  /** idProduct, four upper-case hex digits. */
  pid: string
  bcdDevice: number
  iManufacturer: number
  iProduct: number
  iSerial: number
  numConfigurations: number
  configurations: Configuration[]
  /**
   * True if all descriptors were read. False if a kernel may know an interface that is missing here. This happens if
   * descriptors have impossible lengths, are too many or lack configurations, or if the file has the maximum length.
   * Also false for descriptors that were built from the output of macOS or Windows (`isSynthetic`).
   */
  isComplete: boolean
  /** Irregularities as text, at most 16. Empty for a well-formed device. */
  problems: string[]
}

const TYPE_DEVICE = 1
const TYPE_CONFIGURATION = 2
const TYPE_INTERFACE = 4
const TYPE_ENDPOINT = 5
const TYPE_HID = 0x21

const DEVICE_LENGTH = 18
const SUPER_SPEED = 5_000
/** Limits of stored descriptors. Linux keeps 8 configurations, 32 interfaces each, 30 endpoints per interface (drivers/usb/core/config.c). */
const limits = { problems: 16, configurations: 8, interfaces: 512, endpoints: 32, bytes: 12_288 }

/** Formats a 16-bit number as four upper-case hex digits, for VID, PID and bcdDevice. */
export const hex4 = (value: number): string => value.toString(16).toUpperCase().padStart(4, '0')

const emptyDevice = (problems: string[]): ParsedDescriptors => ({
  bcdUsb: 0,
  deviceClass: 0,
  deviceSubclass: 0,
  deviceProtocol: 0,
  maxPacketSize0: 0,
  vid: '0000',
  pid: '0000',
  bcdDevice: 0,
  iManufacturer: 0,
  iProduct: 0,
  iSerial: 0,
  numConfigurations: 0,
  configurations: [],
  isComplete: false,
  problems,
})

/**
 * Parses the sysfs file `descriptors`: the device descriptor, then every configuration. Accepts any bytes and never
 * throws. It advances by bLength and ignores wTotalLength, because the kernel documents that it cannot be trusted
 * (Documentation/ABI/stable/sysfs-bus-usb).
 *
 * @param speedMbps decides the unit of bMaxPower, as in the kernel; if unknown, the USB version does
 */
export const parseDescriptors = (bytes: Uint8Array, speedMbps?: number): ParsedDescriptors => {
  const problems: string[] = []
  function problem(text: string) {
    if (problems.length < limits.problems) problems.push(text)
  }
  const u8 = (at: number): number => bytes[at] ?? 0
  const u16 = (at: number): number => u8(at) | (u8(at + 1) << 8)
  if (bytes.length < DEVICE_LENGTH) problem(`device descriptor has ${bytes.length} of ${DEVICE_LENGTH} bytes`)
  if (bytes.length === 0) return emptyDevice(problems)
  if (u8(1) !== TYPE_DEVICE) problem(`first descriptor has type ${u8(1)} instead of ${TYPE_DEVICE}`)
  if (u8(0) < DEVICE_LENGTH) problem(`device descriptor says it has ${u8(0)} bytes`)

  const bcdUsb = u16(2)
  const isUsb3 = bcdUsb >= 0x0300
  const powerUnit = (speedMbps === undefined ? isUsb3 : speedMbps >= SUPER_SPEED) ? 8 : 2
  const device: ParsedDescriptors = {
    bcdUsb,
    deviceClass: u8(4),
    deviceSubclass: u8(5),
    deviceProtocol: u8(6),
    maxPacketSize0: isUsb3 && u8(7) <= 16 ? 2 ** u8(7) : u8(7),
    vid: hex4(u16(8)),
    pid: hex4(u16(10)),
    bcdDevice: u16(12),
    iManufacturer: u8(14),
    iProduct: u8(15),
    iSerial: u8(16),
    numConfigurations: u8(17),
    configurations: [],
    isComplete: bytes.length >= DEVICE_LENGTH && bytes.length < limits.bytes,
    problems,
  }

  let configuration: Configuration | undefined
  let current: Interface | undefined
  let interfaces = 0
  function missing(text: string): void {
    device.isComplete = false
    problem(text)
  }
  // A configuration descriptor may be in the wrong position. Like the kernel, continue and add to the last configuration.
  function openConfiguration(opened: Configuration): Configuration | undefined {
    if (device.configurations.length >= limits.configurations) {
      missing(`more than ${limits.configurations} configurations`)
      return device.configurations.at(-1)
    }
    device.configurations.push(opened)
    return opened
  }
  function readInterface(at: number): void {
    current = undefined
    // A kernel ignores an interface outside a configuration. Keep it, so that a device cannot hide an interface this way.
    if (!configuration) {
      problem('interface outside a configuration')
      configuration = openConfiguration({ value: 0, maxPowerMa: 0, attributes: 0, iConfiguration: 0, interfaces: [] })
    }
    if (!configuration) return
    if (interfaces >= limits.interfaces) {
      missing(`more than ${limits.interfaces} interfaces`)
      return
    }
    interfaces++
    current = {
      number: u8(at + 2),
      alternate: u8(at + 3),
      class: u8(at + 5),
      subclass: u8(at + 6),
      protocol: u8(at + 7),
      endpoints: [],
    }
    configuration.interfaces.push(current)
  }
  function readEndpoint(at: number): void {
    if (!current) {
      problem('endpoint outside an interface')
      return
    }
    if (current.endpoints.length >= limits.endpoints) {
      problem(`more than ${limits.endpoints} endpoints`)
      return
    }
    current.endpoints.push({
      address: u8(at + 2),
      attributes: u8(at + 3),
      maxPacketSize: u16(at + 4),
      interval: u8(at + 6),
    })
  }

  for (let at = Math.max(DEVICE_LENGTH, u8(0)); at < bytes.length; ) {
    const length = u8(at)
    const type = u8(at + 1)
    if (length < 2) {
      missing(`descriptor of length ${length} at byte ${at}: the rest cannot be read`)
      break
    }
    if (at + length > bytes.length) {
      missing(`descriptor at byte ${at} is cut off`)
      break
    }
    if (type === TYPE_CONFIGURATION && length >= 9) {
      current = undefined
      configuration = openConfiguration({
        value: u8(at + 5),
        maxPowerMa: u8(at + 8) * powerUnit,
        attributes: u8(at + 7),
        iConfiguration: u8(at + 6),
        interfaces: [],
      })
    } else if (type === TYPE_INTERFACE && length >= 9) readInterface(at)
    else if (type === TYPE_ENDPOINT && length >= 7) readEndpoint(at)
    else if (type === TYPE_HID && length >= 9 && current?.class === 3)
      current.hid = { bcdHid: u16(at + 2), countryCode: u8(at + 4), reportDescriptorLength: u16(at + 7) }
    else if (type === TYPE_CONFIGURATION || type === TYPE_INTERFACE || type === TYPE_ENDPOINT)
      problem(`descriptor of type ${type} has only ${length} bytes`)
    at += length
  }
  if (device.configurations.length === 0 && device.numConfigurations === 0) problem('no configuration')
  else if (device.configurations.length === 0) missing('no configuration')
  else if (device.configurations.length < Math.min(device.numConfigurations, limits.configurations))
    missing(`${device.configurations.length} of ${device.numConfigurations} configurations are there`)
  if (isSynthetic(device)) device.isComplete = false
  return device
}

/**
 * Returns true if the descriptors were built from the output of macOS or Windows: no USB version, no control packet size,
 * no endpoint. A device that forges this has no endpoint to act through and is never complete. The interfaces may be
 * incomplete; if there are none, they are unknown.
 */
export const isSynthetic = (parsed: ParsedDescriptors): boolean =>
  parsed.maxPacketSize0 === 0 &&
  parsed.bcdUsb === 0 &&
  parsed.problems.length === 0 &&
  parsed.configurations.length === 1 &&
  parsed.configurations.every((c) => c.interfaces.every((i) => i.endpoints.length === 0))

/** Parses the descriptors of a report. */
export const parseReport = ({
  descriptors,
  speedMbps,
}: Pick<DeviceReport, 'descriptors' | 'speedMbps'>): ParsedDescriptors =>
  parseDescriptors(Buffer.from(descriptors, 'base64'), speedMbps === 0 ? undefined : speedMbps)

/** Returns the active configuration. If the host does not report it, the first one, which the kernel usually selects. */
export const activeConfiguration = (
  { configurations }: ParsedDescriptors,
  { configurationValue }: Pick<DeviceReport, 'configurationValue'>,
): Configuration | undefined => configurations.find((c) => c.value === configurationValue) ?? configurations[0]

/** Returns true if the device declares or reports a serial number, whatever its value. */
export const hasSerial = (parsed: ParsedDescriptors, report: Pick<DeviceReport, 'serial'>): boolean =>
  parsed.iSerial !== 0 || (report.serial ?? '') !== ''

/** Returns true for a boot keyboard. Protocol 1 means nothing in other subclasses (HID 1.11, 4.3). */
export const isBootKeyboard = (i: Pick<Interface, 'class' | 'subclass' | 'protocol'>): boolean =>
  i.class === 3 && i.subclass === 1 && i.protocol === 1

/** Returns class, subclass and protocol of an interface in lower-case hex, as usbguard and lsusb do (`03:01:01`). */
export const interfaceCode = (i: Pick<Interface, 'class' | 'subclass' | 'protocol'>): string =>
  `${hex2[i.class]}:${hex2[i.subclass]}:${hex2[i.protocol]}`

const hex2 = Array.from({ length: 256 }, (_, value) => value.toString(16).padStart(2, '0'))

/** Maximum number of interfaces in the canonical text. The text is a key and must be short, so it counts the rest. */
const MAX_SET = 32

const codesOf = (configuration: Configuration): string[] => {
  // An interface number counts once per distinct code: the ten alternate settings of a camera stream are one function.
  const seen = new Set<string>()
  const codes: string[] = []
  for (const i of configuration.interfaces) {
    const code = interfaceCode(i)
    const key = `${i.number} ${code}`
    if (seen.has(key)) continue
    seen.add(key)
    codes.push(code)
  }
  return codes.sort()
}

/**
 * Returns the canonical text of a device's functions: the sorted codes of its interfaces, with equal alternate settings
 * counted once (`03:00:00 03:01:01`). Configurations that differ are separated by ` | `.
 */
export const interfaceSet = (parsed: ParsedDescriptors): string => {
  const sets = new Set<string>()
  for (const configuration of parsed.configurations) {
    const codes = codesOf(configuration)
    const rest = codes.length - MAX_SET
    sets.add(rest > 0 ? `${codes.slice(0, MAX_SET).join(' ')} +${rest}` : codes.join(' '))
  }
  return [...sets].filter((set) => set !== '').join(' | ')
}
