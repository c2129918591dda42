import { buildDevice, type DeviceSpec, type EndpointSpec, type InterfaceSpec } from '@portcullis/domain/testing'
import type { Fixture } from './measure.ts'

const base64 = (hex: string): string => Buffer.from(hex, 'hex').toString('base64')

/** Builds a report descriptor with one application collection and a vendor-defined input. */
export const usage = (page: number, id: number): string =>
  Buffer.from([
    ...[0x06, page & 0xff, page >> 8, 0x09, id, 0xa1, 0x01, 0x06, 0x00, 0xff, 0x09, 0x01, 0x15, 0x00, 0x25, 0x7f],
    ...[0x75, 0x08, 0x95, 0x08, 0x81, 0x02, 0xc0],
  ]).toString('base64')
/** Modifier keys, and an array of six keys. */
export const keyItems = base64(
  '05010906a101050719e029e715002501750195088102950675081500256519002965810 0c0'.replace(' ', ''),
)
/** Three buttons and two axes. */
export const mouseItems = base64(
  '05010902a1010509190129031500250195037501810295017505810305010930093115812 57f750895028106c0'.replace(' ', ''),
)

export const into = (maxPacketSize: number, interval: number, address = 0x81): EndpointSpec => ({
  address,
  attributes: 3,
  maxPacketSize,
  interval,
})
export const outOf = (maxPacketSize: number, interval: number, address = 0x01): EndpointSpec =>
  into(maxPacketSize, interval, address)
export const boot = (...endpoints: EndpointSpec[]): InterfaceSpec => ({ code: '03:01:01', endpoints })
export const plain = (...endpoints: EndpointSpec[]): InterfaceSpec => ({ code: '03:00:00', endpoints })

export type Row = readonly [name: string, kind: string, spec: DeviceSpec]
export const made =
  (isTool: boolean) =>
  ([name, kind, spec]: Row): Fixture => ({ name, kind, isTool, report: buildDevice(spec) })
