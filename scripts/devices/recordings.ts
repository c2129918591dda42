import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DeviceReport } from '@portcullis/contract'
import { buildDevice, type DeviceSpec, type InterfaceSpec } from '@portcullis/domain/testing'

/** A recorded device. Fields that the recording does not show are absent from the report. */
export interface Recorded {
  /** Path of the file below the folder. */
  file: string
  /** `descriptors`: raw bytes or all fields; `udev`: only ids, revision, interface codes and texts. */
  depth: 'descriptors' | 'udev'
  report: DeviceReport
}

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return filesBelow(path)
    return entry.isFile() && statSync(path).size < 16_000_000 ? [path] : []
  })

const bcd = (text: string): string => text.replace('.', '').padStart(4, '0')
const hex2 = (value: number): string => value.toString(16).padStart(2, '0')

/** Returns the first value of a key in the output of `lsusb -v`. */
const field = (text: string, key: string): string | undefined =>
  new RegExp(`^\\s*${key}\\s+(\\S+)`, 'm').exec(text)?.[1]

const number = (text: string, key: string): number => {
  const value = field(text, key)
  return value === undefined ? 0 : Number(value) || 0
}

const codeOf = (text: string, keys: readonly string[]): string => keys.map((key) => hex2(number(text, key))).join(':')

const speedOf = (bcdUsb: number, block: string): number | undefined => {
  const negotiated = /Negotiated speed: .*?\(([\d.]+)([MG])bps\)/.exec(block)
  if (negotiated) return Number(negotiated[1]) * (negotiated[2] === 'G' ? 1000 : 1)
  return bcdUsb >= 0x0300 ? 5000 : undefined
}

const lsusbInterface = (text: string): InterfaceSpec => ({
  code: codeOf(text, ['bInterfaceClass', 'bInterfaceSubClass', 'bInterfaceProtocol']),
  number: number(text, 'bInterfaceNumber'),
  alternate: number(text, 'bAlternateSetting'),
  reportLength: number(text, 'wDescriptorLength'),
  endpoints: text
    .split(/^\s*Endpoint Descriptor:/m)
    .slice(1)
    .map((part) => ({
      address: number(part, 'bEndpointAddress'),
      attributes: number(part, 'bmAttributes'),
      maxPacketSize: number(part, 'wMaxPacketSize') & 0x7ff,
      interval: number(part, 'bInterval'),
    })),
})

const lsusbDevice = (block: string, portPath: string): DeviceReport => {
  const configurations = block
    .split(/^\s*Configuration Descriptor:/m)
    .slice(1)
    .map((part) =>
      part
        .split(/^\s*Interface Descriptor:/m)
        .slice(1)
        .map(lsusbInterface),
    )
  const bcdUsb = Number.parseInt(bcd(field(block, 'bcdUSB') ?? '0'), 16)
  const speedMbps = speedOf(bcdUsb, block)
  const spec: DeviceSpec = {
    portPath,
    vid: (field(block, 'idVendor') ?? '0x0000').slice(2).toUpperCase(),
    pid: (field(block, 'idProduct') ?? '0x0000').slice(2).toUpperCase(),
    bcdDevice: bcd(field(block, 'bcdDevice') ?? '0'),
    bcdUsb,
    deviceCode: codeOf(block, ['bDeviceClass', 'bDeviceSubClass', 'bDeviceProtocol']),
    maxPacketSize0: number(block, 'bMaxPacketSize0'),
    maxPowerMa: Number.parseInt(field(block, 'MaxPower') ?? '0', 10),
    selfPowered: /^\s*bmAttributes\s+0x[cCeE]0/m.test(block),
    interfaces: configurations[0] ?? [],
    moreConfigurations: configurations.slice(1),
    ...(speedMbps === undefined ? {} : { speedMbps }),
  }
  const strings = {
    manufacturer: 'iManufacturer',
    product: 'iProduct',
    serial: 'iSerial',
    configuration: 'iConfiguration',
  }
  for (const [key, name] of Object.entries(strings) as [keyof typeof strings, string][]) {
    const found = new RegExp(`^\\s*${name}\\s+([1-9]\\d*) *(.*)$`, 'm').exec(block)
    if (found) spec[key] = found[2]?.trim() ?? ''
  }
  // If `lsusb` cannot read a string descriptor, it prints the name from usb.ids.
  return buildDevice(spec)
}

const readLsusb = (text: string): DeviceReport[] =>
  text
    .split(/^(?=Bus \d{3} Device)/m)
    .filter((block) => /^\s*idVendor/m.test(block) && /Interface Descriptor:/.test(block))
    .map((block, index) => lsusbDevice(block, `1-${index + 1}`))

const udevText = (text: string): string =>
  text.replace(/\\x([0-9a-f]{2})/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16))).trim()

interface UdevBlock {
  path: string
  of(key: string): string | undefined
}

const udevBlocks = (text: string): UdevBlock[] =>
  text.split(/\n\s*\n/).map((block) => {
    const values = new Map([...block.matchAll(/^E: ?([A-Z_]+)=(.*)$/gm)].map((m) => [m[1], m[2]]))
    return { path: values.get('DEVPATH') ?? /^P: (.*)$/m.exec(block)?.[1] ?? '', of: (key) => values.get(key) }
  })

/** Returns the distinct interface codes of a device: from udev's list, else from its interfaces. */
const udevCodes = (device: UdevBlock, blocks: readonly UdevBlock[]): string[] => {
  const listed = (device.of('ID_USB_INTERFACES') ?? '').split(':').filter((code) => /^[0-9a-f]{6}$/.test(code))
  if (listed.length > 0) return listed.map((code) => `${code.slice(0, 2)}:${code.slice(2, 4)}:${code.slice(4)}`)
  const below = blocks.filter(
    (b) => b.of('DEVTYPE') === 'usb_interface' && b.path.slice(0, b.path.lastIndexOf('/')) === device.path,
  )
  const codes = below.flatMap(
    (b) =>
      b
        .of('INTERFACE')
        ?.split('/')
        .map((n) => hex2(Number(n)))
        .join(':') ?? [],
  )
  return [...new Set(codes)]
}

/** Parses the devices in the output of `udevadm info --export-db`. */
const readUdev = (text: string): DeviceReport[] => {
  const blocks = udevBlocks(text)
  return blocks.flatMap((block, index): DeviceReport[] => {
    const [vid = '0', pid = '0', revision = '0'] = (block.of('PRODUCT') ?? '').split('/')
    const portPath = /\/(\d+-[\d.]+)$/.exec(block.path)?.[1]
    if (block.of('DEVTYPE') !== 'usb_device' || vid === '0' || portPath === undefined) return []
    const interfaces = udevCodes(block, blocks)
    if (interfaces.length === 0) return []
    const plain = (key: 'VENDOR' | 'MODEL', id: string): string | undefined => {
      const text = block.of(`ID_${key}_ENC`) ?? block.of(`ID_${key}`)?.replaceAll('_', ' ')
      // Without a string descriptor, udev stores the id instead.
      return text === undefined || text.toLowerCase() === id.toLowerCase().padStart(4, '0') ? undefined : udevText(text)
    }
    const manufacturer = plain('VENDOR', vid)
    const product = plain('MODEL', pid)
    const serial = block.of('ID_SERIAL_SHORT')
    return [
      buildDevice({
        portPath: portPath.length > 40 ? `1-${index + 1}` : portPath,
        vid: vid.padStart(4, '0').toUpperCase(),
        pid: pid.padStart(4, '0').toUpperCase(),
        bcdDevice: revision.padStart(4, '0').toUpperCase(),
        // Like a host that reports no descriptors: do not invent fields that udev does not store.
        bcdUsb: 0,
        maxPacketSize0: 0,
        deviceCode: (block.of('TYPE') ?? '0/0/0')
          .split('/')
          .map((n) => hex2(Number(n)))
          .join(':'),
        interfaces: interfaces.map((code) => ({ code, endpoints: [] })),
        ...(manufacturer === undefined ? {} : { manufacturer }),
        ...(product === undefined ? {} : { product }),
        ...(serial === undefined ? {} : { serial }),
      }),
    ]
  })
}

/** Parses the devices of `umockdev-record`: raw descriptors, attributes, and HID report descriptors. */
const readUmockdev = (text: string): DeviceReport[] => {
  const blocks = text.split(/\n\s*\n/)
  const hidReports = blocks.flatMap((block) => {
    const path = /^P: (.*)$/m.exec(block)?.[1]
    const report = /^H: report_descriptor=([0-9A-F]+)$/m.exec(block)?.[1]
    return path !== undefined && report !== undefined
      ? [{ path, report: Buffer.from(report, 'hex').toString('base64') }]
      : []
  })
  return blocks.flatMap((block): DeviceReport[] => {
    const path = /^P: (.*)$/m.exec(block)?.[1] ?? ''
    const descriptors = /^H: descriptors=([0-9A-Fa-f]+)$/m.exec(block)?.[1]
    const portPath = /\/(\d+-[\d.]+)$/.exec(path)?.[1]
    if (descriptors === undefined || portPath === undefined) return []
    const attribute = (key: string): string | undefined => {
      const found = new RegExp(`^A: ${key}=(.*)$`, 'm').exec(block)?.[1]?.replace(/\\n$/, '')
      return found === undefined || found === '' ? undefined : found
    }
    const report: DeviceReport = { portPath, descriptors: Buffer.from(descriptors, 'hex').toString('base64') }
    for (const key of ['manufacturer', 'product', 'serial', 'configuration'] as const) {
      const found = attribute(key)
      if (found !== undefined) report[key] = udevText(found)
    }
    const speed = Number(attribute('speed'))
    if (speed > 0) report.speedMbps = speed
    const removable = attribute('removable')
    if (removable === 'removable' || removable === 'fixed') report.removable = removable
    const hid = hidReports.filter((r) => r.path.startsWith(`${path}/${portPath}:`)).map((r) => r.report)
    if (hid.length > 0) report.reportDescriptors = hid
    return [report]
  })
}

const isUmockdev = (text: string): boolean => /^H: descriptors=/m.test(text)

/** Reads all recordings below a folder, in any format: `lsusb -v`, `udevadm info --export-db`, umockdev. */
export const readRecordings = (folder: string): Recorded[] => {
  const all: Recorded[] = []
  for (const path of filesBelow(folder)) {
    const text = readFileSync(path, 'utf8')
    const file = path.slice(folder.length + 1)
    const add = (depth: Recorded['depth'], reports: DeviceReport[]) =>
      all.push(...reports.map((report) => ({ file, depth, report })))
    if (isUmockdev(text)) add('descriptors', readUmockdev(text))
    else if (/^\s*idVendor\s+0x/m.test(text)) add('descriptors', readLsusb(text))
    else if (/^E: ?DEVTYPE=usb_device/m.test(text)) add('udev', readUdev(text))
  }
  return all.filter(({ report }) => !isRootHub(report))
}

const isRootHub = ({ descriptors }: DeviceReport): boolean =>
  Buffer.from(descriptors, 'base64').subarray(8, 10).toString('hex') === '6b1d' &&
  Buffer.from(descriptors, 'base64')[4] === 9
