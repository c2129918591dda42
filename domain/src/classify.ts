import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
import { activeConfiguration, type Interface, isBootKeyboard, type ParsedDescriptors } from './descriptors.ts'
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
import { cameraVendors, isPhoneMaker, phoneVendors, SERIAL_MAKER, vendorSpecificKind } from './vendor-kinds.ts'

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

/** Interfaces of game controllers for Xbox 360 and Xbox One (drivers/input/joystick/xpad.c). */
const isXboxInput = (i: Interface): boolean =>
  i.class === VENDOR_SPECIFIC &&
  ((i.subclass === 0x5d && i.protocol === 1) || (i.subclass === 0x47 && i.protocol === 0xd0))
const isDebugBridge = (i: Interface): boolean => i.class === VENDOR_SPECIFIC && i.subclass === 0x42

const vendorKind = (i: Interface, parsed: ParsedDescriptors, report: DeviceReport): CapabilityKind => {
  // ff:42:01 is the Android Debug Bridge, :03 its boot loader, ff:fe:02 Apple's multiplexer.
  if (i.subclass === 0x42 && (i.protocol === 1 || i.protocol === 3)) return 'Phone'
  if (i.subclass === 0xfe && i.protocol === 2 && parsed.vid === '05AC') return 'Phone'
  const isMtpShaped = i.subclass === 0xff && i.protocol === 0
  if (isMtpShaped && (phoneVendors.has(parsed.vid) || MTP_WORDS.test(report.product ?? ''))) return 'Phone'
  if (isXboxInput(i)) return 'HID'
  // CH340 and CH341, whose clones have ids of their own.
  if (i.subclass === 1 && i.protocol === 2) return 'Communication'
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

/**
 * Assigns report descriptors to the HID interfaces of the active configuration, in order. If the numbers differ, the
 * assignment is unknown.
 */
export const functionsByInterface = (parsed: ParsedDescriptors, report: DeviceReport): Map<Interface, HidFunctions> => {
  const hid = activeConfiguration(parsed, report)?.interfaces.filter((i) => i.class === 0x03) ?? []
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

/** Returns true if a device can exchange files like a phone or camera, not only debug messages or data. */
const isMtp = (interfaces: readonly Interface[], parsed: ParsedDescriptors, report: DeviceReport): boolean =>
  interfaces.some((i) => !isDebugBridge(i) && interfaceKind(i, parsed, report, undefined) === 'Phone')

/**
 * Returns true for the ports of a modem: the diagnostic port of Qualcomm, or several vendor-specific ports beside a debug
 * bridge or network, or many of them.
 */
const hasModemPorts = (interfaces: readonly Interface[], kinds: ReadonlySet<Kind>): boolean => {
  const ports = interfaces.filter((i) => i.class === VENDOR_SPECIFIC && i.alternate === 0 && !isDebugBridge(i))
  const isQualcomm = ports.some((i) => i.subclass === 0xff && i.protocol === 0x30)
  const isOther = kinds.has('Video') || kinds.has('Audio') || kinds.has('HID') || kinds.has('Keyboard')
  if (isOther && !kinds.has('Phone')) return false
  const least = kinds.has('Network') || kinds.has('Phone') ? 2 : 4
  return (isQualcomm && interfaces.length > 1) || ports.length >= least
}

/** Derives kinds from VID, PID and the set of interfaces. They are added to other kinds and never replace them. */
const namesOf = (parsed: ParsedDescriptors, report: DeviceReport, kinds: ReadonlySet<Kind>): Kind[] => {
  const { vid, pid } = parsed
  const interfaces = parsed.configurations.flatMap((c) => c.interfaces)
  const names: Kind[] = []
  const has = (code: number): boolean => interfaces.some((i) => i.class === code)
  const isOwn = has(CDC_DATA) || has(0x02) || interfaces.some((i) => i.class === VENDOR_SPECIFIC && !isDebugBridge(i))
  if (isSecurityKey(vid, pid) && (has(0x03) || has(0x0b))) names.push('Security Key')
  if (isTabletVendor(vid, pid) && has(0x03)) names.push('Tablet')
  if (interfaces.some(isXboxInput)) names.push('Game Controller')
  if (isApplePhone(vid, pid) || kinds.has('Phone')) names.push('Phone')
  if (isFingerprintReader(vid, pid) && (isOwn || has(0x00)) && !kinds.has('Smart Card')) names.push('Biometric')
  const isModemSet = kinds.has('Network') && interfaces.some(isAtModem)
  const isModem =
    interfaces.some(isMbim) ||
    (!gadgetVendors.has(vid) && (isModemSet || hasModemPorts(interfaces, kinds))) ||
    (isModemVendor(vid, pid) && (isOwn || kinds.has('Network')))
  const isPhone = isApplePhone(vid, pid) || isMtp(interfaces, parsed, report)
  const isKnown = ['Communication', 'Video', 'Network', 'Audio'].includes(vendorSpecificKind(vid, pid) ?? '')
  if (isModem && !isPhone && !isKnown && !names.includes('Biometric')) names.push('Modem')
  return names
}

/** Kinds that name a device only if no configuration has another kind. */
const sayLittle: ReadonlySet<Kind> = new Set(['HID', 'Media Control', 'Billboard', 'Firmware Update', 'Unknown'])

/** Kinds that do not say what a device does. */
const vague: ReadonlySet<Kind> = new Set(['Unknown', 'HID', 'Communication', 'Media Control', 'Firmware Update'])
/** Kinds that a device with nothing but HID interfaces can have. */
const hidNames: ReadonlySet<Kind> = new Set([
  ...([
    'Keyboard',
    'Mouse',
    'Game Controller',
    'UPS',
    'Barcode Scanner',
    'Touchscreen',
    'Security Key',
    'Biometric',
  ] as const),
  ...(['Communication', 'Media Control', 'Smart Card'] as const),
])
const MOUSE_NAME = /\b(?:mouse|mice)\b/i
const KEYBOARD_NAME = /keyboard|combo|desktop|\bset\b/i

/** Derives a kind from the texts of a device if its interfaces, VID and PID do not identify it. */
const nameByWords = (
  parsed: ParsedDescriptors,
  report: DeviceReport,
  knownName: string,
  kinds: ReadonlySet<Kind>,
): Kind | undefined => {
  const word = kindByWords(report.product ?? '') ?? kindByWords(knownName)
  const interfaces = parsed.configurations.flatMap((c) => c.interfaces)
  const all = [...kinds]
  if (word === 'Modem' && kinds.has('Network') && interfaces.some((i) => i.class === VENDOR_SPECIFIC)) return word
  if (word === 'Game Controller' && kinds.has('HID') && all.every((kind) => vague.has(kind) || kind === 'Audio'))
    return word
  if (!all.every((kind) => vague.has(kind))) return undefined
  // A boot loader needs no other name, unless the device has more.
  if (all.length === 1 && kinds.has('Firmware Update') && interfaces.every((i) => i.class === 0xfe)) return undefined
  if (interfaces.length > 0 && interfaces.every((i) => i.class === 0x03))
    return word !== undefined && hidNames.has(word) ? word : undefined
  if (word !== undefined || !kinds.has('Unknown')) return word
  if (SERIAL_MAKER.test(report.manufacturer ?? '')) return 'Communication'
  const [i, ...more] = interfaces
  const isMtpShaped =
    i?.class === VENDOR_SPECIFIC && i.subclass === 0xff && i.protocol === 0 && i.endpoints.length === 3
  return isPhoneMaker(parsed.vid) || (isMtpShaped && more.length === 0) ? 'Phone' : undefined
}

/**
 * Classifies a device by the interfaces of all its configurations, never by the device class alone. The kernel treats a
 * device that claims to be a hub but has a keyboard interface as a keyboard. The device class counts only if the device
 * has no interfaces. The main kind is that of the first configuration, which the kernel selects.
 *
 * @param knownName product name in the knowledge; used if the interfaces do not identify the device
 */
export const classify = (parsed: ParsedDescriptors, report: DeviceReport, knownName = ''): Classification => {
  const interfaces = parsed.configurations.flatMap((c) => c.interfaces)
  const functions = functionsByInterface(parsed, report)
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
  const first = activeConfiguration(parsed, report)?.interfaces ?? []
  const [deciding] = interfaces
  for (const name of namesOf(parsed, report, found)) add(name, by.get(name) ?? first[0] ?? deciding ?? nothing)
  const word = nameByWords(
    parsed,
    report,
    knownName,
    new Set([...by.keys(), ...(hasMore ? (['Unknown'] as const) : [])]),
  )
  if (word !== undefined && !by.has(word)) {
    by.set(word, first[0] ?? deciding ?? nothing)
    by.delete('Unknown')
  }
  const texts = `${report.product ?? ''} ${knownName}`
  const isNamedMouse = MOUSE_NAME.test(texts) && !KEYBOARD_NAME.test(texts) && !by.has('Mass Storage')
  if (isNamedMouse && by.has('Keyboard')) add('Mouse', first[0] ?? nothing)
  const all = kindPrecedence.filter((kind) => by.has(kind))
  const isFirst = (kind: Kind): boolean => first.includes(by.get(kind) ?? nothing)
  const named = all.find(isFirst)
  const chosen = (named !== undefined && !sayLittle.has(named) ? named : all[0]) ?? 'Unknown'
  // A web cam has a button, and a mouse has macros. Both can be a keyboard in addition.
  const isSideFunction = chosen === 'Keyboard' && (by.has('Video') || isNamedMouse)
  const kind = isSideFunction ? (by.has('Video') ? 'Video' : 'Mouse') : chosen
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

/** Returns the warning about a device that claims to be a security key, can type, and has no ids of a known security key. */
export const poseWarning = ({ vid, pid }: ParsedDescriptors, kinds: readonly Kind[]): string[] =>
  kinds.includes('Security Key') && kinds.includes('Keyboard') && !isSecurityKey(vid, pid)
    ? ['Claims to be a security key and can type, but its ids are not those of a known security key']
    : []

const nothing: Interface = { number: 0, alternate: 0, class: 0, subclass: 0, protocol: 0, endpoints: [] }
