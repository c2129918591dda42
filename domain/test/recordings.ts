import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { DeviceReport } from '@portcullis/contract'
import { buildDevice, type DeviceSpec, type InterfaceSpec } from '@portcullis/domain/testing'

const root = process.env.PORTCULLIS_RECORDINGS ?? new URL('../../../shared/data/recordings', import.meta.url).pathname

/** Where recordings of real devices are, null when this machine has none; they are no part of the project. */
export const recordings: string | null = existsSync(root) ? root : null

/** Why no recording can be read; null when they can. */
export const whyNoRecordings = recordings === null ? `no recordings of real devices at ${root}` : null

const field = (block: Buffer, at: number, length: number): string => {
  const bytes = block.subarray(at, at + length)
  const end = bytes.indexOf(0)
  return bytes.subarray(0, end < 0 ? length : end).toString('utf8')
}

/** Regular files of a gzipped tar archive, by path without a leading `./`; knows GNU long names. */
const readTarGz = (path: string): Map<string, Buffer> => {
  const tar = gunzipSync(readFileSync(path))
  const files = new Map<string, Buffer>()
  let longName: string | undefined
  for (let at = 0; at + 512 <= tar.length; ) {
    const header = tar.subarray(at, at + 512)
    if (header[0] === 0) break
    const size = Number.parseInt(field(header, 124, 12).trim() || '0', 8)
    const type = field(header, 156, 1) || '0'
    const body = tar.subarray(at + 512, at + 512 + size)
    if (type === 'L') longName = field(body, 0, size)
    else {
      const prefix = field(header, 257, 5) === 'ustar' ? field(header, 345, 155) : ''
      const name = longName ?? (prefix ? `${prefix}/${field(header, 0, 100)}` : field(header, 0, 100))
      if (type === '0') files.set(name.replace(/^\.\//, ''), body)
      longName = undefined
    }
    at += 512 + Math.ceil(size / 512) * 512
  }
  return files
}

/** Reports of all devices of a recorded sysfs tree, by port path, root hubs as `usb1`. */
export const readSysfsTree = (name: string): Map<string, DeviceReport> => {
  const files = readTarGz(join(root, 'sysfs-tree', `${name}.tar.gz`))
  const reports = new Map<string, DeviceReport>()
  for (const [path, content] of files) {
    if (!path.endsWith('/descriptors')) continue
    const dir = path.slice(0, -'/descriptors'.length)
    const portPath = dir.slice(dir.lastIndexOf('/') + 1)
    const report: DeviceReport = { portPath, descriptors: content.toString('base64') }
    for (const key of ['manufacturer', 'product', 'serial'] as const) {
      const text = files.get(`${dir}/${key}`)?.toString('utf8').trimEnd()
      if (text) report[key] = text
    }
    report.speedMbps = Number(files.get(`${dir}/speed`)?.toString('utf8') ?? 0)
    const hid = [...files].filter(
      ([file]) => file.startsWith(`${dir}/${portPath}:`) && file.endsWith('/report_descriptor'),
    )
    if (hid.length > 0) report.reportDescriptors = hid.map(([, bytes]) => bytes.toString('base64'))
    reports.set(portPath, report)
  }
  return reports
}

/** Devices of a text of `lsusb -v`, rebuilt from what it prints. */
export const readLsusb = (file: string): DeviceReport[] => {
  const text = readFileSync(join(root, 'lsusb-v', file), 'utf8')
  return text
    .split(/^(?=Bus \d{3} Device)/m)
    .filter((block) => block.includes('idVendor'))
    .map((block, index) => rebuild(block, `1-${index + 1}`))
}

const bcd = (text: string): string => text.replace('.', '').padStart(4, '0')

const rebuild = (block: string, portPath: string): DeviceReport => {
  const value = (key: string): string => new RegExp(`^\\s*${key}\\s+(\\S+)`, 'm').exec(block)?.[1] ?? '0'
  const code = (part: string, keys: string[]): string =>
    keys
      .map((key) =>
        Number(new RegExp(`^\\s*${key}\\s+(\\d+)`, 'm').exec(part)?.[1] ?? 0)
          .toString(16)
          .padStart(2, '0'),
      )
      .join(':')
  const interfaces = block
    .split(/^\s*Interface Descriptor:/m)
    .slice(1)
    .map((part): InterfaceSpec => {
      const number = (key: string): number => Number(new RegExp(`^\\s*${key}\\s+(\\d+)`, 'm').exec(part)?.[1] ?? 0)
      return {
        code: code(part, ['bInterfaceClass', 'bInterfaceSubClass', 'bInterfaceProtocol']),
        number: number('bInterfaceNumber'),
        alternate: number('bAlternateSetting'),
      }
    })
  const spec: DeviceSpec = {
    portPath,
    vid: value('idVendor').slice(2).toUpperCase(),
    pid: value('idProduct').slice(2).toUpperCase(),
    bcdDevice: bcd(value('bcdDevice')),
    bcdUsb: Number.parseInt(bcd(value('bcdUSB')), 16),
    deviceCode: code(block, ['bDeviceClass', 'bDeviceSubClass', 'bDeviceProtocol']),
    maxPacketSize0: Number(value('bMaxPacketSize0')),
    maxPowerMa: Number.parseInt(value('MaxPower'), 10),
    interfaces,
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
  return buildDevice(spec)
}
