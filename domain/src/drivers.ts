import type { DeviceReport, DriverMismatch } from '@portcullis/contract/agent-reports.ts'
import type { PolicyRule } from '@portcullis/contract/policy-and-commands.ts'
import { interfaceKinds } from './classify.ts'
import type { ParsedDescriptors } from './descriptors.ts'
import { type Drivers, driverTable, keyEventDrivers } from './driver-table.ts'
import type { CapabilityKind } from './icons.ts'
import { hidDrivers, usbDrivers } from './kernel-drivers.ts'
import type { PolicyDevice } from './policy.ts'

/** An interface and the drivers that the kernel bound to it. */
export interface BoundInterface {
  /** bInterfaceNumber in the active configuration, and the bConfigurationValue of that configuration. */
  number: number
  configuration: number
  /** Name below /sys/bus/usb/drivers; null if none is bound. */
  driver: string | null
  /** Names below /sys/bus/hid/drivers, for the HID devices that usbhid created for this interface. */
  hidDrivers: readonly string[]
}

/**
 * The basis on which a device was allowed. `kinds`: its claimed kinds, so a vendor-specific interface may have only the
 * drivers of these kinds. `identity`: a person named its model or fingerprint, or it was attached when the host was armed.
 * The VID and PID then determine the driver of a vendor-specific interface.
 */
export type DriverScope = { by: 'kinds'; kinds: readonly CapabilityKind[] } | { by: 'identity' }

/**
 * Returns the basis on which a rule allows a device. If the rule names kinds, they limit the drivers. Any device can
 * claim a VID and so choose its driver. A rule with only a VID therefore limits the device to its claimed kinds. Such a
 * rule includes keyboards, so a device that claims HID may send keys.
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
/** Maximum number of evidence entries. A device may have 32 interfaces. */
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

const known: ReadonlySet<string> = new Set(
  [...usbDrivers.values(), ...hidDrivers.values(), ...Object.values(driverTable).flatMap(({ usb, hid }) => [usb, hid])]
    .flat()
    .map(plain),
)

/**
 * Returns whether the table or a listed kernel has a driver. An unknown one comes from a newer kernel or from another
 * package of the host, so it proves nothing about a device.
 */
export const isKnownDriver = (name: string): boolean => known.has(plain(name))

interface Claim {
  kinds: readonly CapabilityKind[]
  /** True if the device claims HID and may type. Remote controls and game controllers send keys without usbhid. */
  mayType: boolean
}

/** The kinds that determine the drivers of an interface, or `any` for an allowed identity with a vendor-specific interface. */
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
 * Returns the names of the USB drivers that the agent may bind to an interface, the usual one first. Returns `any` if
 * no list limits them, and an empty list if the interface needs no driver. Returns undefined if the descriptors do not
 * contain the interface, which then stays disabled.
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
 * Compares the drivers that the kernel bound with the claim of the device. Returns null if all drivers are allowed for
 * their interfaces. The kernel selects drivers by VID and PID before classes, so a claim alone proves nothing. The result
 * includes unknown drivers.
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
  if (wrong.length === 0) return null
  // A device chooses the number of its interfaces. The entries that are cut must not decide.
  const rankOf = (one: (typeof wrong)[number]): number =>
    (contradicts(one) ? 0 : 2) + (wrong.find((other) => other.driver === one.driver) === one ? 0 : 1)
  return { bound: wrong.toSorted((a, b) => rankOf(a) - rankOf(b)).slice(0, MAX_EVIDENCE) }
}

const usbNames: ReadonlySet<string> = new Set([...usbDrivers.values()].flat().map(plain))

/**
 * Returns whether the table allows a driver for its claim, so that the table of an older agent lacks it. The entry does
 * not name the bus, so a name on both buses does not count.
 */
const isLacking = ({ claims, driver }: DriverMismatch['bound'][number]): boolean =>
  allows([claims], 'usb', driver) || (allows([claims], 'hid', driver) && !usbNames.has(plain(driver)))

const contradicts = (one: DriverMismatch['bound'][number]): boolean => isKnownDriver(one.driver) && !isLacking(one)

/**
 * Returns the drivers of a mismatch that contradict the claim, or those that the agent does not know. Returns null if there
 * are none.
 */
export const part = (which: 'known' | 'unknown', mismatch: DriverMismatch | null): DriverMismatch | null => {
  const bound = (mismatch?.bound ?? []).filter((one) => contradicts(one) === (which === 'known'))
  return bound.length === 0 ? null : { ...mismatch, bound }
}

/**
 * Returns the drivers for which the port of a device is held. If a person named the identity of the device, an unknown
 * driver is reported only.
 */
export const holdsPort = (mismatch: DriverMismatch | null, scope: DriverScope): DriverMismatch | null =>
  scope.by === 'kinds' ? mismatch : part('known', mismatch)

/** Returns whether the table allows all these drivers for their claims, so that an older table caused the mismatch. */
export const isOutdated = ({ bound }: DriverMismatch): boolean => bound.every(isLacking)

/** Returns the evidence as text: `claims hub, bound rtl8150`. */
export const mismatchText = ({ bound, kernel }: DriverMismatch): string => {
  const unknown = (driver: string) => `the unknown driver ${driver}${kernel === undefined ? '' : ` (kernel ${kernel})`}`
  const lines = bound.map((one) => {
    const driver = contradicts(one) ? one.driver : unknown(one.driver)
    return `claims ${one.claims.toLowerCase()}, bound ${driver}`
  })
  return [...new Set(lines)].join('; ')
}
