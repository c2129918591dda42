/** Format of simulated products, and values that many of them share. */
import type { InterfaceSpec } from '@portcullis/domain/testing'

/** Serial number: none, or a pattern in which each `#` is a hex digit. */
type SerialPattern = string | null

/** One product. Each entry of `revisions` (bcdDevice) gives another fingerprint. */
export interface Model {
  vid: string
  pid: string
  manufacturer?: string
  product?: string
  /** bcdDevice, most common first. */
  revisions: readonly string[]
  serial: SerialPattern
  speedMbps: number
  maxPowerMa: number
  bcdUsb?: number
  deviceCode?: string
  interfaces: readonly InterfaceSpec[]
  moreConfigurations?: readonly (readonly InterfaceSpec[])[]
  /** Configuration string by revision. Logitech stores the firmware name there. */
  configurations?: Readonly<Record<string, string>>
}

export const mouse = ['03:01:02'] as const
export const keyboard = ['03:01:01', '03:00:00'] as const
export const bluetoothInterfaces = ['e0:01:01', 'e0:01:01'] as const
export const camera: readonly InterfaceSpec[] = [
  '0e:01:00',
  { code: '0e:02:00', number: 1, endpoints: [] },
  { code: '0e:02:00', number: 1, alternate: 1 },
]
export const headset: readonly InterfaceSpec[] = ['01:01:00', '01:02:00', '01:02:00', '03:00:00']
const storage = ['08:06:50'] as const

export const wired = (
  vid: string,
  pid: string,
  manufacturer: string,
  product: string,
  interfaces: readonly InterfaceSpec[],
  revisions: readonly string[],
): Model => ({
  vid,
  pid,
  manufacturer,
  product,
  revisions,
  serial: null,
  speedMbps: 1.5,
  maxPowerMa: 100,
  interfaces,
})

export const stick = (
  vid: string,
  pid: string,
  manufacturer: string,
  product: string,
  serial: string,
  revisions: readonly string[],
  speedMbps = 480,
): Model => ({
  vid,
  pid,
  manufacturer,
  product,
  revisions,
  serial,
  speedMbps,
  bcdUsb: speedMbps > 480 ? 0x0300 : 0x0200,
  maxPowerMa: 200,
  interfaces: storage,
})

export const hubOf = (
  vid: string,
  pid: string,
  manufacturer: string,
  product: string,
  revisions: readonly string[],
): Model => ({
  vid,
  pid,
  manufacturer,
  product,
  revisions,
  serial: null,
  speedMbps: 480,
  maxPowerMa: 0,
  bcdUsb: 0x0210,
  deviceCode: '09:00:01',
  interfaces: [
    { code: '09:00:01', number: 0 },
    { code: '09:00:02', number: 0, alternate: 1 },
  ],
})
