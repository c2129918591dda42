import type { DeviceReport } from '@portcullis/contract'
import { deviceText } from './reading.ts'

/** Class, subclass and protocol. */
export type ClassCode = readonly [number, number, number]

/** What macOS and Windows say of a device in place of its descriptors. */
export interface SaidOfDevice extends Partial<Omit<DeviceReport, 'descriptors'>> {
  portPath: string
  /** 0 to 65,535, as the next two. */
  vid: number
  pid: number
  bcdDevice: number
  /** Of the device, when it is known. */
  deviceCode?: ClassCode
  /** In the order of their numbers, when they are known; a part of them may be missing. */
  interfaces?: readonly { number: number; code: ClassCode }[]
}

/** Interfaces that are kept: as many as a configuration has in Linux. */
const MAX_INTERFACES = 32

const le16 = (value: number): [number, number] => [value & 0xff, (value >> 8) & 0xff]

/**
 * Raw descriptors made of what is known: one configuration, no endpoints, bcdUSB and bMaxPacketSize0 0, which
 * `isSynthetic` tells from those of any device that works.
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

/** A report as an agent would send it, with made descriptors. */
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
  if (said.speedMbps !== undefined) report.speedMbps = said.speedMbps
  if (said.removable !== undefined) report.removable = said.removable
  return report
}
