import type { DeviceReport } from '@portcullis/contract'
import { type Interface, isBootKeyboard, type ParsedDescriptors } from './descriptors.ts'
import { type HidFunctions, hidFunctions, noFunctions } from './hid.ts'
import { type CapabilityKind, capabilityKinds, iconOf, type Kind, kindPrecedence } from './icons.ts'
import {
  isApplePhone,
  isFingerprintReader,
  isModemVendor,
  isSecurityKey,
  isTabletVendor,
  kindByWords,
} from './known-kinds.ts'
import { cameraVendors, phoneVendors, vendorSpecificKind } from './vendor-kinds.ts'

/** The classification of a device by the capabilities of its interfaces. */
export interface Classification {
  /** Icon number in the interface. */
  icon: number
  /** Main kind of the device. */
  kind: Kind
  /** The main kind, then all other kinds, without duplicates. `['Unknown']` if there are none. */
  kinds: Kind[]
  /** Capabilities of its interfaces, whatever its name. Rules use these. */
  capabilities: CapabilityKind[]
  /** True if an interface does not declare its function: it is vendor-specific, or its class has no kind. */
  hasMore: boolean
  /** bInterfaceClass, -SubClass and -Protocol of the interface that determined the kind, otherwise of the device. */
  classCode: number
  subclassCode: number
  protocolCode: number
  /** True if a report descriptor contains a FIDO authenticator. */
  isSecurityKey: boolean
}

const CDC_DATA = 0x0a
const VENDOR_SPECIFIC = 0xff
const HID_MOUSE = 2
const MTP_WORDS = /\bMTP\b|phone|android/i
const CAMERA_WORDS = /camera|powershot|\beos\b|coolpix|lumix/i

const hidKind = (i: Interface, functions: HidFunctions | undefined): CapabilityKind => {
  if (isBootKeyboard(i) || functions?.keyboard) return 'Keyboard'
  if (i.protocol === HID_MOUSE || functions?.mouse) return 'Mouse'
  return 'HID'
}

const imageKind = (i: Interface, parsed: ParsedDescriptors, report: DeviceReport): CapabilityKind => {
  // PTP and MTP share 06:01:01. Cameras have a telling name or a camera vendor. All others are phones and tablets.
  const isPtp = i.subclass === 1 && i.protocol === 1
  const isCamera = cameraVendors.has(parsed.vid) || CAMERA_WORDS.test(report.product ?? '')
  return isPtp && !isCamera ? 'Phone' : 'Imaging'
}

const isNetwork = (i: Interface): boolean => {
  if (i.class === 0x02) {
    const { subclass } = i
    // ECM 06, EEM 0c, NCM 0d, MBIM 0e. RNDIS by Microsoft is 02:02:ff.
    return subclass === 6 || (subclass >= 0x0c && subclass <= 0x0e) || (subclass === 2 && i.protocol === 0xff)
  }
  return (
    (i.class === 0xe0 && i.subclass === 1 && i.protocol === 3) ||
    (i.class === 0xef && i.subclass === 4 && i.protocol === 1)
  )
}

const vendorKind = (i: Interface, parsed: ParsedDescriptors, report: DeviceReport): CapabilityKind => {
  // ff:42:01 is the Android Debug Bridge, :03 its boot loader, ff:fe:02 Apple's multiplexer.
  if (i.subclass === 0x42 && (i.protocol === 1 || i.protocol === 3)) return 'Phone'
  if (i.subclass === 0xfe && i.protocol === 2 && parsed.vid === '05AC') return 'Phone'
  const isMtpShaped = i.subclass === 0xff && i.protocol === 0
  if (isMtpShaped && (phoneVendors.has(parsed.vid) || MTP_WORDS.test(report.product ?? ''))) return 'Phone'
  if (i.subclass === 0x5d && i.protocol === 1) return 'HID'
  return vendorSpecificKind(parsed.vid, parsed.pid) ?? 'Unknown'
}

const interfaceKind = (
  i: Interface,
  parsed: ParsedDescriptors,
  report: DeviceReport,
  functions: HidFunctions | undefined,
): CapabilityKind => {
  if (isNetwork(i)) return 'Network'
  switch (i.class) {
    case 0x01:
      return 'Audio'
    case 0x02:
    case 0x0a:
      return 'Communication'
    case 0x03:
      return hidKind(i, functions)
    case 0x06:
      return imageKind(i, parsed, report)
    case 0x07:
      return 'Printer'
    case 0x08:
      return 'Mass Storage'
    case 0x09:
      return 'Hub'
    case 0x0b:
      return 'Smart Card'
    case 0x0e:
    case 0x10:
      return 'Video'
    case 0x11:
      return 'Billboard'
    case 0x58:
      return 'HID'
    case 0xfe:
      return i.subclass === 1 ? 'Firmware Update' : 'Unknown'
    case 0xe0:
      return 'Wireless'
    case 0xff:
      return vendorKind(i, parsed, report)
    default:
      return 'Unknown'
  }
}

/**
 * Returns the kind that an interface claims in the setting for which the kernel selects a driver: alternate 0, otherwise
 * the first (`usb_set_configuration` in drivers/usb/core/message.c). Undefined if the interface does not exist.
 */
export const interfaceKinds = (
  parsed: ParsedDescriptors,
  report: DeviceReport,
  configuration: number,
  number: number,
): { kinds: CapabilityKind[]; isVendorSpecific: boolean } | undefined => {
  const interfaces = parsed.configurations.filter((c) => c.value === configuration).flatMap((c) => c.interfaces)
  const settings = interfaces.filter((i) => i.number === number)
  const setting = settings.find((i) => i.alternate === 0) ?? settings[0]
  if (setting === undefined) return undefined
  const kind = interfaceKind(setting, parsed, report, undefined)
  // The data interface of a network adapter has the class of a serial port.
  const isNetworkData = setting.class === CDC_DATA && interfaces.some(isNetwork)
  return { kinds: isNetworkData ? ['Network', kind] : [kind], isVendorSpecific: setting.class === VENDOR_SPECIFIC }
}

const reportOrder = ['fido', 'pen', 'touchscreen', 'game', 'power', 'sensor', 'barcode', 'consumer'] as const
const reportKinds: Readonly<Record<(typeof reportOrder)[number], Kind>> = {
  fido: 'Security Key',
  pen: 'Tablet',
  touchscreen: 'Touchscreen',
  game: 'Game Controller',
  power: 'UPS',
  sensor: 'Sensor',
  barcode: 'Barcode Scanner',
  consumer: 'Media Control',
}

/** Returns the kinds that a report descriptor adds to an interface. Media keys count only if they are alone. */
const kindsOfReport = (f: HidFunctions): Kind[] => {
  const found = reportOrder.filter((key) => f[key]).map((key) => reportKinds[key])
  const isMore = f.keyboard || f.mouse || found.length > 1
  return [...(f.mouse ? ['Mouse' as const] : []), ...found.filter((kind) => kind !== 'Media Control' || !isMore)]
}

/** Assigns report descriptors to HID interfaces in order. If the numbers differ, the assignment is unknown. */
export const functionsByInterface = (hid: Interface[], report: DeviceReport): Map<Interface, HidFunctions> => {
  const all = (report.reportDescriptors ?? []).map((text) => hidFunctions(Buffer.from(text, 'base64')))
  const found = new Map<Interface, HidFunctions>()
  if (all.length === 0) return found
  const numbers = [...new Set(hid.map((i) => i.number))]
  const union = { ...noFunctions }
  for (const f of all) for (const key of Object.keys(union) as (keyof HidFunctions)[]) union[key] ||= f[key]
  for (const i of hid) found.set(i, all.length === numbers.length ? (all[numbers.indexOf(i.number)] ?? union) : union)
  return found
}

const isAtModem = (i: Interface): boolean => i.class === 0x02 && i.subclass === 2 && i.protocol >= 1 && i.protocol <= 6
const isMbim = (i: Interface): boolean => i.class === 0x02 && i.subclass === 0x0e
/** Linux gadgets that combine a network interface and a serial port are not modems. */
const gadgetVendors: ReadonlySet<string> = new Set(['0525', '1D6B'])

/** Derives kinds from VID, PID and the set of interfaces. They are added to other kinds and never replace them. */
const namesOf = (parsed: ParsedDescriptors, interfaces: readonly Interface[], kinds: ReadonlySet<Kind>): Kind[] => {
  const { vid, pid } = parsed
  const names: Kind[] = []
  const has = (code: number): boolean => interfaces.some((i) => i.class === code)
  const isOwn = has(VENDOR_SPECIFIC) || has(CDC_DATA) || has(0x02)
  if (isSecurityKey(vid, pid) && (has(0x03) || has(0x0b))) names.push('Security Key')
  if (isTabletVendor(vid, pid) && has(0x03)) names.push('Tablet')
  if (isApplePhone(vid, pid) || kinds.has('Phone')) names.push('Phone')
  if (isFingerprintReader(vid, pid) && isOwn && !kinds.has('Smart Card')) names.push('Biometric')
  const isModemSet = kinds.has('Network') && interfaces.some(isAtModem) && !gadgetVendors.has(vid)
  const isModem = interfaces.some(isMbim) || isModemSet || (isModemVendor(vid, pid) && (isOwn || kinds.has('Network')))
  if (isModem && !names.includes('Phone') && !names.includes('Biometric')) names.push('Modem')
  return names
}

/** Kinds that name a device only if no configuration has another kind. */
const sayLittle: ReadonlySet<Kind> = new Set(['HID', 'Media Control', 'Billboard', 'Firmware Update', 'Unknown'])

/** Derives a kind from the texts of a device if its interfaces, VID and PID do not identify it. */
const vague: ReadonlySet<Kind> = new Set(['Unknown', 'HID', 'Communication', 'Media Control'])
const nameByWords = (report: DeviceReport, knownName: string): Kind | undefined =>
  kindByWords(report.product ?? '') ?? kindByWords(knownName)

/**
 * Classifies a device by the interfaces of all its configurations, never by the device class alone. The kernel treats a
 * device that claims to be a hub but has a keyboard interface as a keyboard. The device class counts only if the device
 * has no interfaces. The main kind is that of the first configuration, which the kernel selects.
 *
 * @param knownName product name in the knowledge; used if the interfaces do not identify the device
 */
export const classify = (parsed: ParsedDescriptors, report: DeviceReport, knownName = ''): Classification => {
  const interfaces = parsed.configurations.flatMap((c) => c.interfaces)
  const functions = functionsByInterface(
    interfaces.filter((i) => i.class === 0x03),
    report,
  )
  const by = new Map<Kind, Interface>()
  const able = new Set<CapabilityKind>()
  function add(kind: Kind, i: Interface): void {
    if (!by.has(kind)) by.set(kind, i)
  }
  for (const i of interfaces) {
    const f = functions.get(i)
    const kind = interfaceKind(i, parsed, report, f)
    able.add(kind)
    const more = f === undefined ? [] : kindsOfReport(f)
    if (kind !== 'HID' || more.length === 0) add(kind, i)
    for (const other of more) add(other, i)
  }
  // The data interface belongs to its control interface. A vendor-specific interface does not count if there are others.
  const hasMore = by.has('Unknown')
  if (by.size > 1) by.delete('Unknown')
  if (by.has('Network') && by.get('Communication')?.class === 0x0a) by.delete('Communication')
  if (by.size === 0 && parsed.deviceClass === 0x09)
    by.set('Hub', { ...nothing, class: 9, subclass: parsed.deviceSubclass, protocol: parsed.deviceProtocol })
  for (const kind of ['Unknown', 'Communication'] as const) if (!by.has(kind)) able.delete(kind)
  if (by.has('Hub')) able.add('Hub')
  const capabilities = capabilityKinds.filter((kind) => able.has(kind))
  const found = new Set(by.keys())
  const first = parsed.configurations[0]?.interfaces ?? []
  const [deciding] = interfaces
  for (const name of namesOf(parsed, interfaces, found)) add(name, by.get(name) ?? deciding ?? nothing)
  if ([...by.keys()].every((kind) => vague.has(kind))) {
    const name = nameByWords(report, knownName)
    if (name !== undefined && !by.has(name)) {
      by.set(name, deciding ?? nothing)
      by.delete('Unknown')
    }
  }
  const all = kindPrecedence.filter((kind) => by.has(kind))
  const isFirst = (kind: Kind): boolean => first.includes(by.get(kind) ?? nothing)
  const named = all.find(isFirst)
  const kind = (named !== undefined && !sayLittle.has(named) ? named : all[0]) ?? 'Unknown'
  const from = by.get(kind)
  return {
    icon: iconOf(kind),
    kind,
    kinds: [kind, ...all.filter((other) => other !== kind)],
    capabilities: capabilities.length > 0 ? capabilities : ['Unknown'],
    hasMore,
    classCode: from?.class ?? parsed.deviceClass,
    subclassCode: from?.subclass ?? parsed.deviceSubclass,
    protocolCode: from?.protocol ?? parsed.deviceProtocol,
    isSecurityKey: [...functions.values()].some((f) => f.fido),
  }
}

/** Returns the warning for a device that says it is a security key, can type, and has the ids of no known security key. */
export const poseWarning = ({ vid, pid }: ParsedDescriptors, kinds: readonly Kind[]): string[] =>
  kinds.includes('Security Key') && kinds.includes('Keyboard') && !isSecurityKey(vid, pid)
    ? ['Says that it is a security key and can type, but its ids are not those of a known security key']
    : []

const nothing: Interface = { number: 0, alternate: 0, class: 0, subclass: 0, protocol: 0, endpoints: [] }
