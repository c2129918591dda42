import type { DeviceReport, DriverMismatch, PolicyRule } from '@portcullis/contract'
import { interfaceKinds } from './classify.ts'
import type { ParsedDescriptors } from './descriptors.ts'
import { type Drivers, driverTable, keyEventDrivers } from './driver-table.ts'
import type { CapabilityKind } from './icons.ts'
import type { PolicyDevice } from './policy.ts'

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
 * kinds. `identity`: a person named its model or fingerprint, or it was attached when the host was armed; the driver of a
 * vendor-specific interface then follows from the ids.
 */
export type DriverScope = { by: 'kinds'; kinds: readonly CapabilityKind[] } | { by: 'identity' }

/**
 * What allowed a device that a rule allows. Kinds limit the drivers where the rule names them. A vendor id alone
 * is a claim that any device can make and leaves the choice of the driver to it: such a rule limits the device to the kinds
 * it claims. It covers keyboards, too, so a device that claims HID may send keys.
 */
export const driverScopeOf = (
  { kinds, pid, fingerprint }: Pick<PolicyRule, 'kinds' | 'pid' | 'fingerprint'>,
  device: Pick<PolicyDevice, 'kinds'>,
): DriverScope => {
  if (kinds !== undefined) return { by: 'kinds', kinds }
  if (pid !== undefined || fingerprint !== undefined) return { by: 'identity' }
  return { by: 'kinds', kinds: device.kinds.includes('HID') ? [...device.kinds, 'Keyboard'] : device.kinds }
}

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
export const driversOf = (kind: CapabilityKind): Drivers => driverTable[kind]

const allows = (kinds: readonly CapabilityKind[], bus: 'usb' | 'hid', driver: string): boolean =>
  kinds.some((kind) => compiled.get(kind)?.[bus].has(plain(driver)))

const keyEvents: ReadonlySet<string> = new Set(keyEventDrivers.map(plain))

interface Claim {
  kinds: readonly CapabilityKind[]
  /** It claims HID, and its permission covers typing: remote controls and game controllers send keys without usbhid. */
  mayType: boolean
}

/** What decides the drivers of an interface; `any` if its identity was allowed and it is vendor-specific. */
const claimOf = (
  parsed: ParsedDescriptors,
  report: DeviceReport,
  { configuration, number }: BoundInterface,
  scope: DriverScope,
): Claim | 'any' | undefined => {
  const found = interfaceKinds(parsed, report, configuration, number)
  if (found === undefined) return undefined
  const { kinds, isVendorSpecific } = found
  if (scope.by === 'identity' && (isVendorSpecific || kinds.includes('Unknown'))) return 'any'
  const mayType = kinds.includes('HID') && (scope.by === 'identity' || scope.kinds.includes('Keyboard'))
  return { kinds: scope.by === 'kinds' && kinds.includes('Unknown') ? [...kinds, ...scope.kinds] : kinds, mayType }
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
  const claim = claimOf(parsed, report, bound, scope)
  if (claim === undefined || claim === 'any') return claim
  const names = claim.kinds.flatMap((kind) => driversOf(kind).usb)
  return [...new Set(claim.mayType ? [...names, ...keyEventDrivers] : names)]
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
    const claim = claimOf(parsed, report, bound, scope) ?? { kinds: [], mayType: false }
    if (claim === 'any') return []
    const { kinds, mayType } = claim
    const { driver, hidDrivers, number } = bound
    const isRight = (name: string) => allows(kinds, 'usb', name) || (mayType && keyEvents.has(plain(name)))
    const isWrongDriver = driver !== null && driver !== USER_SPACE && !isRight(driver)
    const names = [...(isWrongDriver ? [driver] : []), ...hidDrivers.filter((name) => !allows(kinds, 'hid', name))]
    return names.map((name) => ({ interface: number, claims: kinds[0] ?? 'Unknown', driver: name.slice(0, 64) }))
  })
  return wrong.length === 0 ? null : { bound: wrong.slice(0, MAX_EVIDENCE) }
}

/** Returns the evidence as text: `claims hub, bound rtl8150`. */
export const mismatchText = ({ bound }: DriverMismatch): string =>
  [...new Set(bound.map(({ claims, driver }) => `claims ${claims.toLowerCase()}, bound ${driver}`))].join('; ')
