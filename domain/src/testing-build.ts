import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'

/** An endpoint to build. The transfer type is in the low bits of `attributes` (3 interrupt, 2 bulk). */
export interface EndpointSpec {
  address: number
  attributes?: number
  maxPacketSize?: number
  interval?: number
}

/** An interface to build: a code (`03:01:01`), optionally with endpoints and alternate setting. */
export type InterfaceSpec =
  | string
  | { code: string; number?: number; alternate?: number; endpoints?: EndpointSpec[]; reportLength?: number }

/** A device to build. All fields except `vid` and `pid` have defaults. */
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
  /** Raw bMaxPacketSize0, default 64 (8 at 1.5 Mbit/s). */
  maxPacketSize0?: number
  maxPowerMa?: number
  selfPowered?: boolean
  /** Default: true if the device has a boot keyboard or mouse, as nearly all have. */
  remoteWakeup?: boolean
  interfaces?: InterfaceSpec[]
  /** Interfaces of additional configurations. */
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
  const isBootInput = specs.some((i) => (typeof i === 'string' ? i : i.code).startsWith('03:01:'))
  const attributes = 0x80 | (spec.selfPowered ? 0x40 : 0) | ((spec.remoteWakeup ?? isBootInput) ? 0x20 : 0)
  const power = Math.min(255, Math.round((spec.maxPowerMa ?? 100) / ((spec.bcdUsb ?? 0x0200) >= 0x0300 ? 8 : 2)))
  return [9, 2, ...le16(9 + body.length), numbers.size, value, iConfiguration, attributes, power, ...body]
}

/** Returns the content of the `descriptors` file of a device. */
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
  'configurationValue',
  'speedMbps',
  'removable',
  'authorized',
  'reportDescriptors',
] as const

/** Returns a device report with real descriptor bytes. */
export const buildDevice = (spec: DeviceSpec): DeviceReport => {
  const report: Record<string, unknown> = {
    portPath: spec.portPath ?? '1-1',
    descriptors: buildDescriptors(spec).toString('base64'),
  }
  for (const key of reportKeys) if (spec[key] !== undefined) report[key] = spec[key]
  return report as DeviceReport
}
