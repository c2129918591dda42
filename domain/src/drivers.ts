import type { DeviceReport, DriverMismatch } from '@portcullis/contract'
import { interfaceKinds } from './classify.ts'
import type { ParsedDescriptors } from './descriptors.ts'
import { type Drivers, driverTable } from './driver-table.ts'
import type { Kind } from './icons.ts'

/** An interface and the drivers that the kernel bound to it. */
export interface BoundInterface {
  /** bInterfaceNumber in the active configuration, whose bConfigurationValue is the other one. */
  number: number
  configuration: number
  /** Name below /sys/bus/usb/drivers; null if none is bound. */
  driver: string | null
  /** Names below /sys/bus/hid/drivers, of the HID devices that usbhid made of this interface. */
  hidDrivers: readonly string[]
}

/**
 * What allowed a device. `kinds`: its claimed kinds, so a vendor-specific interface may have only the drivers of these
 * kinds. `identity`: a person named its ids or fingerprint, or it was attached when the host was armed; the driver of a
 * vendor-specific interface then follows from the ids.
 */
export type DriverScope = { by: 'kinds'; kinds: readonly Kind[] } | { by: 'identity' }

/** A program of the host that claims an interface through /dev/bus/usb. A device cannot cause this. */
const USER_SPACE = 'usbfs'
/** Entries of evidence; a device may have 32 interfaces. */
const MAX_EVIDENCE = 16

/** Names of modules and drivers differ only in these characters. */
const plain = (name: string): string => name.toLowerCase().replaceAll('-', '_').replaceAll(' ', '_')

const compiled = new Map(
  Object.entries(driverTable).map(([kind, { usb, hid }]) => [
    kind,
    { usb: new Set(usb.map(plain)), hid: new Set(hid.map(plain)) },
  ]),
)

/** Kernel drivers that devices of a kind may have: of USB interfaces, and of the HID devices below usbhid. */
export const driversOf = (kind: Kind): Drivers => driverTable[kind]

const allows = (kinds: readonly Kind[], bus: 'usb' | 'hid', driver: string): boolean =>
  kinds.some((kind) => compiled.get(kind)?.[bus].has(plain(driver)))

/** Kinds whose drivers an interface may have; `any` if its identity was allowed and it is vendor-specific. */
const kindsOf = (
  parsed: ParsedDescriptors,
  report: DeviceReport,
  { configuration, number }: BoundInterface,
  scope: DriverScope,
): readonly Kind[] | 'any' | undefined => {
  const found = interfaceKinds(parsed, report, configuration, number)
  if (found === undefined) return undefined
  const { kinds, isVendorSpecific } = found
  if (scope.by === 'identity' && (isVendorSpecific || kinds.includes('Unknown'))) return 'any'
  return scope.by === 'kinds' && kinds.includes('Unknown') ? [...kinds, ...scope.kinds] : kinds
}

/**
 * Names of the USB drivers that the agent may bind to an interface, the usual one first; `any` if no list limits them,
 * empty if it needs none. Undefined for an interface that is missing in the descriptors: it stays closed.
 */
export const driversFor = (
  parsed: ParsedDescriptors,
  report: DeviceReport,
  bound: BoundInterface,
  scope: DriverScope,
): readonly string[] | 'any' | undefined => {
  const kinds = kindsOf(parsed, report, bound, scope)
  if (kinds === undefined) return undefined
  return kinds === 'any' ? 'any' : [...new Set(kinds.flatMap((kind) => driverTable[kind].usb))]
}

/**
 * Compares the drivers that the kernel bound with the claim of the device. Null if each driver is allowed for its
 * interface. The kernel picks drivers by vendor and product id before classes, so a claim alone proves nothing.
 */
export const driverMismatch = (
  parsed: ParsedDescriptors,
  report: DeviceReport,
  interfaces: readonly BoundInterface[],
  scope: DriverScope,
): DriverMismatch | null => {
  const wrong = interfaces.flatMap((bound) => {
    // The kernel read an interface that is missing in the descriptors, so no driver is allowed for it.
    const kinds = kindsOf(parsed, report, bound, scope) ?? []
    if (kinds === 'any') return []
    const { driver, hidDrivers, number } = bound
    const isWrongDriver = driver !== null && driver !== USER_SPACE && !allows(kinds, 'usb', driver)
    const names = [...(isWrongDriver ? [driver] : []), ...hidDrivers.filter((name) => !allows(kinds, 'hid', name))]
    return names.map((name) => ({ interface: number, claims: claimOf(kinds), driver: name.slice(0, 64) }))
  })
  return wrong.length === 0 ? null : { bound: wrong.slice(0, MAX_EVIDENCE) }
}

const claimOf = (kinds: readonly Kind[]): Kind => kinds[0] ?? 'Unknown'

/** Returns the evidence as text: `claims hub, bound rtl8150`. */
export const mismatchText = ({ bound }: DriverMismatch): string =>
  [...new Set(bound.map(({ claims, driver }) => `claims ${claims.toLowerCase()}, bound ${driver}`))].join('; ')
