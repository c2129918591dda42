/**
 * Builders for tests and the simulator: device reports with real descriptor bytes, and the sysfs files a Linux kernel
 * would show for them. Pure: nothing is written.
 */
import type { DeviceReport } from '@portcullis/contract'
import { interfaceCode, parseReport } from './descriptors.ts'
import { comparePortPaths } from './device-id.ts'

/** An endpoint to build; the type of transfer is in the low bits of `attributes` (3 interrupt, 2 bulk). */
export interface EndpointSpec {
  address: number
  attributes?: number
  maxPacketSize?: number
  interval?: number
}

/** An interface to build: its code (`03:01:01`), or the code with endpoints and alternate setting. */
export type InterfaceSpec =
  | string
  | { code: string; number?: number; alternate?: number; endpoints?: EndpointSpec[]; reportLength?: number }

/** A device to build. Everything has a default but vid and pid. */
export interface DeviceSpec extends Partial<Omit<DeviceReport, 'descriptors'>> {
  /** Four hex digits. */
  vid: string
  /** Four hex digits. */
  pid: string
  /** Four hex digits, default `0100`. */
  bcdDevice?: string
  /** Default 0x0200. */
  bcdUsb?: number
  /** Class, subclass and protocol of the device, default `00:00:00`. */
  deviceCode?: string
  /** bMaxPacketSize0 as written, default 64 (8 at 1.5 Mbit/s). */
  maxPacketSize0?: number
  maxPowerMa?: number
  selfPowered?: boolean
  interfaces?: InterfaceSpec[]
  /** Interfaces of further configurations. */
  moreConfigurations?: InterfaceSpec[][]
}

const le16 = (value: number): number[] => [value & 0xff, (value >> 8) & 0xff]
const codeBytes = (code: string): [number, number, number] => {
  const [a = 0, b = 0, c = 0] = code.split(':').map((part) => Number.parseInt(part, 16))
  return [a, b, c]
}

const bulkPair = (index: number): EndpointSpec[] => [
  { address: 0x81 + index * 2, attributes: 2, maxPacketSize: 512, interval: 0 },
  { address: 0x02 + index * 2, attributes: 2, maxPacketSize: 512, interval: 0 },
]
const interruptIn = (index: number): EndpointSpec[] => [
  { address: 0x81 + index, attributes: 3, maxPacketSize: 8, interval: 10 },
]

const defaultEndpoints = (classCode: number, index: number): EndpointSpec[] =>
  classCode === 0x03 || classCode === 0x09 ? interruptIn(index) : bulkPair(index % 7)

const configurationBytes = (
  value: number,
  specs: InterfaceSpec[],
  spec: DeviceSpec,
  iConfiguration: number,
): number[] => {
  const body: number[] = []
  const numbers = new Set<number>()
  specs.forEach((given, index) => {
    const i = typeof given === 'string' ? { code: given } : given
    const code = codeBytes(i.code)
    const number = i.number ?? index
    numbers.add(number)
    const endpoints = i.endpoints ?? defaultEndpoints(code[0], index)
    body.push(9, 4, number, i.alternate ?? 0, endpoints.length, ...code, 0)
    if (code[0] === 3) body.push(9, 0x21, ...le16(0x0111), 0, 1, 0x22, ...le16(i.reportLength ?? 63))
    for (const e of endpoints)
      body.push(7, 5, e.address, e.attributes ?? 3, ...le16(e.maxPacketSize ?? 8), e.interval ?? 10)
  })
  const attributes = 0x80 | (spec.selfPowered ? 0x40 : 0)
  const power = Math.min(255, Math.round((spec.maxPowerMa ?? 100) / ((spec.bcdUsb ?? 0x0200) >= 0x0300 ? 8 : 2)))
  return [9, 2, ...le16(9 + body.length), numbers.size, value, iConfiguration, attributes, power, ...body]
}

/** The bytes of a device's `descriptors` file. */
export const buildDescriptors = (spec: DeviceSpec): Buffer => {
  const indexes = { manufacturer: 0, product: 0, serial: 0, configuration: 0 }
  let next = 1
  for (const key of ['manufacturer', 'product', 'serial', 'configuration'] as const)
    if (spec[key] !== undefined) indexes[key] = next++
  const all = [spec.interfaces ?? [], ...(spec.moreConfigurations ?? [])]
  const device = [
    18,
    1,
    ...le16(spec.bcdUsb ?? 0x0200),
    ...codeBytes(spec.deviceCode ?? '00:00:00'),
    spec.maxPacketSize0 ?? (spec.speedMbps === 1.5 ? 8 : 64),
    ...le16(Number.parseInt(spec.vid, 16)),
    ...le16(Number.parseInt(spec.pid, 16)),
    ...le16(Number.parseInt(spec.bcdDevice ?? '0100', 16)),
    indexes.manufacturer,
    indexes.product,
    indexes.serial,
    all.length,
  ]
  return Buffer.from([
    ...device,
    ...all.flatMap((interfaces, index) => configurationBytes(index + 1, interfaces, spec, indexes.configuration)),
  ])
}

const reportKeys = [
  'manufacturer',
  'product',
  'serial',
  'configuration',
  'speedMbps',
  'removable',
  'authorized',
  'reportDescriptors',
] as const

/** A device report with real descriptor bytes. */
export const buildDevice = (spec: DeviceSpec): DeviceReport => {
  const report: Record<string, unknown> = {
    portPath: spec.portPath ?? '1-1',
    descriptors: buildDescriptors(spec).toString('base64'),
  }
  for (const key of reportKeys) if (spec[key] !== undefined) report[key] = spec[key]
  return report as DeviceReport
}

/** Changes to a preset; mostly `portPath`, `serial` or `interfaces`. */
export type Change = Partial<DeviceSpec>

const preset =
  (spec: DeviceSpec) =>
  (change: Change = {}): DeviceReport =>
    buildDevice({ ...spec, ...change })

/** Any wired office keyboard. */
export const plainKeyboard = preset({
  vid: '413C',
  pid: '2113',
  bcdDevice: '0110',
  bcdUsb: 0x0110,
  manufacturer: 'DELL',
  product: 'Dell KB216 Wired Keyboard',
  speedMbps: 1.5,
  removable: 'removable',
  interfaces: ['03:01:01', '03:00:00'],
})

/** Any wired mouse. */
export const plainMouse = preset({
  vid: '046D',
  pid: 'C077',
  bcdDevice: '7200',
  manufacturer: 'Logitech',
  product: 'USB Optical Mouse',
  speedMbps: 1.5,
  removable: 'removable',
  interfaces: ['03:01:02'],
})

/** A memory stick with a serial number. */
export const storageStick = preset({
  vid: '0781',
  pid: '5581',
  bcdUsb: 0x0210,
  manufacturer: 'SanDisk',
  product: 'Ultra',
  serial: '4C530001230615112345',
  speedMbps: 480,
  removable: 'removable',
  maxPowerMa: 224,
  interfaces: ['08:06:50'],
})

/** Hak5 USB Rubber Ducky as it comes: a keyboard with ATMEL's ids. */
export const rubberDucky = preset({
  vid: '03EB',
  pid: '2401',
  manufacturer: 'ATMEL',
  product: 'HID Keyboard',
  speedMbps: 12,
  interfaces: ['03:01:01'],
})

/** Flipper Zero in BadUSB mode, as its firmware builds the descriptors (furi_hal_usb_hid.c). */
export const flipperBadUsb = preset({
  vid: '046D',
  pid: 'C529',
  bcdDevice: '0100',
  speedMbps: 12,
  maxPowerMa: 500,
  selfPowered: true,
  interfaces: [{ code: '03:01:01', endpoints: [{ address: 0x81, maxPacketSize: 16, interval: 2 }] }],
})

const receiver: DeviceSpec = {
  vid: '046D',
  pid: 'C52B',
  bcdDevice: '1207',
  manufacturer: 'Logitech',
  product: 'USB Receiver',
  configuration: 'RQR12.07_B0029',
  speedMbps: 12,
  maxPacketSize0: 8,
  maxPowerMa: 98,
  removable: 'removable',
  interfaces: ['03:01:01', '03:01:02', '03:00:00'],
}

/** A genuine Logitech Unifying receiver with firmware 12.07. */
export const unifyingReceiver1207 = preset(receiver)

/** The same with mass storage beside it, which no genuine one has. */
export const spoofedUnifying = preset({
  ...receiver,
  serial: '3&1a2b3c4&0&1',
  speedMbps: 480,
  maxPacketSize0: 64,
  interfaces: ['03:01:01', '03:01:02', '03:00:00', '08:06:50'],
})

/** A four-port hub. */
export const hub = preset({
  vid: '0BDA',
  pid: '5411',
  bcdDevice: '0104',
  bcdUsb: 0x0210,
  deviceCode: '09:00:01',
  manufacturer: 'Generic',
  product: '4-Port USB 2.0 Hub',
  speedMbps: 480,
  selfPowered: true,
  maxPowerMa: 0,
  interfaces: [
    { code: '09:00:01', number: 0 },
    { code: '09:00:02', number: 0, alternate: 1 },
  ],
})

/** A phone that shares files (MTP). */
export const phone = preset({
  vid: '18D1',
  pid: '4EE1',
  bcdDevice: '0440',
  manufacturer: 'Google',
  product: 'Pixel 8',
  serial: '38281FDJH00ABC',
  speedMbps: 480,
  maxPowerMa: 500,
  interfaces: ['06:01:01'],
})

/** A camera with microphone. */
export const webcam = preset({
  vid: '046D',
  pid: '082D',
  bcdDevice: '0011',
  deviceCode: 'EF:02:01',
  product: 'HD Pro Webcam C920',
  serial: '1F0B2C3F',
  speedMbps: 480,
  maxPowerMa: 500,
  interfaces: [
    '0e:01:00',
    { code: '0e:02:00', number: 1, endpoints: [] },
    { code: '0e:02:00', number: 1, alternate: 1 },
    { code: '0e:02:00', number: 1, alternate: 2 },
    { code: '01:01:00', number: 2 },
    { code: '01:02:00', number: 3 },
  ],
})

/** A YubiKey 5 with firmware 5.4.3: keyboard, FIDO and CCID in one device, and genuine. */
export const yubiKey = preset({
  vid: '1050',
  pid: '0407',
  bcdDevice: '0543',
  manufacturer: 'Yubico',
  product: 'YubiKey OTP+FIDO+CCID',
  speedMbps: 12,
  maxPowerMa: 30,
  interfaces: ['03:01:01', '03:00:00', '0b:00:00'],
})

/** A USB Ethernet adapter. */
export const networkAdapter = preset({
  vid: '0BDA',
  pid: '8153',
  bcdDevice: '3000',
  bcdUsb: 0x0300,
  maxPacketSize0: 9,
  manufacturer: 'Realtek',
  product: 'USB 10/100/1000 LAN',
  serial: '000001000000',
  speedMbps: 5000,
  interfaces: ['ff:ff:00'],
  moreConfigurations: [['02:06:00', '0a:00:00']],
})

/** Strings a hostile device may say, one set per way to do harm. */
export const hostileTexts = {
  html: '<img src=x onerror=alert(document.domain)>',
  formula: "=cmd|' /C calc'!A0",
  nul: 'before\u0000after',
  rightToLeft: '\u202Egnp.exe\u202C \u200Fabc\u2066',
  longest: '\u{10FFFF}'.repeat(255),
  surrogate: 'half \uD800 a pair',
  newline: 'first\r\nsecond\u2028third',
  prototype: '__proto__',
  sql: "'; DROP TABLE peripherals; --",
  template: '${7*7}{{7*7}}%s%n',
  escape: '\u001b[2J\u001b]0;owned\u0007',
} as const

/** Name of a set of hostile strings. */
export type HostileVariant = keyof typeof hostileTexts

/** A stick whose manufacturer, product and serial number are hostile. Not all variants pass the contract as they are. */
export const hostileStrings = (variant: HostileVariant = 'html', change: Change = {}): DeviceReport => {
  const text = hostileTexts[variant]
  return storageStick({ manufacturer: text, product: text, serial: text, ...change })
}

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')
const versionText = (bcd: number): string => `${bcd >> 8}.${hex(bcd & 0xff, 2)}`.padStart(5)

const deviceFiles = (report: DeviceReport, bus: number, devnum: number): [name: string, content: Buffer | string][] => {
  const parsed = parseReport(report)
  const first = parsed.configurations[0]
  const files: [string, Buffer | string][] = [
    ['descriptors', Buffer.from(report.descriptors, 'base64')],
    ['idVendor', `${parsed.vid.toLowerCase()}\n`],
    ['idProduct', `${parsed.pid.toLowerCase()}\n`],
    ['bcdDevice', `${hex(parsed.bcdDevice, 4)}\n`],
    ['bDeviceClass', `${hex(parsed.deviceClass, 2)}\n`],
    ['bDeviceSubClass', `${hex(parsed.deviceSubclass, 2)}\n`],
    ['bDeviceProtocol', `${hex(parsed.deviceProtocol, 2)}\n`],
    ['bMaxPacketSize0', `${parsed.maxPacketSize0}\n`],
    ['bNumConfigurations', `${parsed.numConfigurations}\n`],
    ['version', `${versionText(parsed.bcdUsb)}\n`],
    ['speed', `${report.speedMbps ?? 480}\n`],
    ['authorized', `${report.authorized === false ? 0 : 1}\n`],
    ['removable', `${report.removable ?? 'unknown'}\n`],
    ['busnum', `${bus}\n`],
    ['devnum', `${devnum}\n`],
    ['devpath', `${report.portPath.slice(report.portPath.indexOf('-') + 1)}\n`],
    ['dev', `189:${(bus - 1) * 128 + devnum - 1}\n`],
    ['uevent', `DEVTYPE=usb_device\nDRIVER=usb\nBUSNUM=${hex(bus, 3)}\nDEVNUM=${hex(devnum, 3)}\n`],
  ]
  for (const key of ['manufacturer', 'product', 'serial'] as const)
    if (report[key] !== undefined) files.push([key, `${report[key]}\n`])
  if (report.authorized === false || !first) {
    // The kernel empties what belongs to a configuration while a device is not authorised.
    files.push(['configuration', ''], ['bConfigurationValue', '\n'], ['bNumInterfaces', '\n'], ['bMaxPower', '\n'])
    return files
  }
  const numbers = new Set(first.interfaces.map((i) => i.number))
  files.push(
    ['configuration', report.configuration === undefined ? '' : `${report.configuration}\n`],
    ['bConfigurationValue', `${first.value}\n`],
    ['bNumInterfaces', `${String(numbers.size).padStart(2)}\n`],
    ['bMaxPower', `${first.maxPowerMa}mA\n`],
    ['bmAttributes', `${hex(first.attributes, 2)}\n`],
  )
  return files
}

const interfaceFiles = (report: DeviceReport): [path: string, content: string][] => {
  const first = parseReport(report).configurations[0]
  if (!first || report.authorized === false) return []
  return first.interfaces
    .filter((i) => i.alternate === 0)
    .flatMap((i): [string, string][] => {
      const [cls = '', subclass = '', protocol = ''] = interfaceCode(i).split(':')
      const path = `${report.portPath}:${first.value}.${i.number}`
      return [
        [`${path}/bInterfaceClass`, `${cls}\n`],
        [`${path}/bInterfaceSubClass`, `${subclass}\n`],
        [`${path}/bInterfaceProtocol`, `${protocol}\n`],
        [`${path}/bInterfaceNumber`, `${hex(i.number, 2)}\n`],
        [`${path}/bNumEndpoints`, `${hex(i.endpoints.length, 2)}\n`],
        [`${path}/authorized`, '1\n'],
      ]
    })
}

const rootHub = (bus: number): DeviceReport =>
  hub({
    portPath: `${bus}-0`,
    vid: '1D6B',
    pid: '0002',
    bcdDevice: '0601',
    deviceCode: '09:00:01',
    manufacturer: 'Linux 6.1.0 xhci-hcd',
    product: 'xHCI Host Controller',
    serial: `0000:00:${hex(13 + bus, 2)}.0`,
    interfaces: ['09:00:00'],
  })

/**
 * The files of a sysfs tree with these devices and one root hub per bus, by path below the sysfs root
 * (`bus/usb/devices/1-1/descriptors`). Directories are plain, where a kernel has symbolic links.
 */
export const describeSysfs = (reports: readonly DeviceReport[]): Map<string, Buffer | string> => {
  const files = new Map<string, Buffer | string>()
  const base = 'bus/usb/devices'
  const buses = new Set([1, ...reports.map((r) => Number.parseInt(r.portPath, 10))])
  for (const bus of buses) {
    for (const [name, content] of deviceFiles(rootHub(bus), bus, 1)) files.set(`${base}/usb${bus}/${name}`, content)
    files.set(`${base}/usb${bus}/authorized_default`, '1\n')
    files.set(`${base}/usb${bus}/interface_authorized_default`, '1\n')
  }
  const sorted = [...reports].sort((a, b) => comparePortPaths(a.portPath, b.portPath))
  const lastDevnum = new Map<number, number>()
  for (const report of sorted) {
    const bus = Number.parseInt(report.portPath, 10)
    const devnum = (lastDevnum.get(bus) ?? 1) + 1
    lastDevnum.set(bus, devnum)
    for (const [name, content] of deviceFiles(report, bus, devnum))
      files.set(`${base}/${report.portPath}/${name}`, content)
    for (const [path, content] of interfaceFiles(report)) files.set(`${base}/${path}`, content)
  }
  return files
}
