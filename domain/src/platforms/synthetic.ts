import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
import { deviceText } from './reading.ts'

/** Class, subclass and protocol. */
export type ClassCode = readonly [number, number, number]

/** The data of macOS and Windows about a device. They do not expose descriptors. */
export interface SaidOfDevice extends Partial<Omit<DeviceReport, 'descriptors'>> {
  portPath: string
  /** 0 to 65,535, like the next two. */
  vid: number
  pid: number
  bcdDevice: number
  /** Class of the device, if known. */
  deviceCode?: ClassCode
  /** Classes of the known interfaces, sorted by number. Some may be missing. */
  interfaces?: readonly { number: number; code: ClassCode }[]
}

/** Maximum number of interfaces: the limit of a configuration in Linux. */
const MAX_INTERFACES = 32

const le16 = (value: number): [number, number] => [value & 0xff, (value >> 8) & 0xff]

/**
 * Builds raw descriptors from the known data: one configuration, no endpoints, and bcdUSB and bMaxPacketSize0 0.
 * `isSynthetic` recognises them, because no working device has such descriptors.
 */
const syntheticDescriptors = (
  said: SaidOfDevice,
  texts: Partial<Record<'manufacturer' | 'product' | 'serial', string>>,
) => {
  const interfaces = (said.interfaces ?? []).slice(0, MAX_INTERFACES)
  const body = interfaces.flatMap(({ number, code }) => [9, 4, number & 0xff, 0, 0, ...code, 0])
  return Buffer.from([
    ...[18, 1, 0, 0, ...(said.deviceCode ?? [0, 0, 0]), 0],
    ...[...le16(said.vid), ...le16(said.pid), ...le16(said.bcdDevice)],
    ...[texts.manufacturer ? 1 : 0, texts.product ? 2 : 0, texts.serial ? 3 : 0, 1],
    ...[9, 2, ...le16(9 + body.length), new Set(interfaces.map((i) => i.number)).size, 1, 0, 0x80, 0],
    ...body,
  ])
}

/** Builds a report like that of an agent, with synthetic descriptors. */
export const syntheticReport = (said: SaidOfDevice): DeviceReport => {
  const texts: Partial<Record<'manufacturer' | 'product' | 'serial', string>> = {}
  for (const key of ['manufacturer', 'product', 'serial'] as const) {
    const text = deviceText(said[key])
    if (text !== undefined) texts[key] = text
  }
  const report: DeviceReport = {
    portPath: said.portPath,
    descriptors: syntheticDescriptors(said, texts).toString('base64'),
    ...texts,
  }
  if (said.controller !== undefined) report.controller = said.controller
  if (said.speedMbps !== undefined) report.speedMbps = said.speedMbps
  if (said.removable !== undefined) report.removable = said.removable
  return report
}
