import { hash } from 'node:crypto'
import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
import type { ParsedDescriptors } from './descriptors.ts'
import { mustExist } from './must-exist.ts'
import { escapeText, unescapeText } from './text.ts'

/**
 * Returns the form in which serial numbers are compared: escaped, ASCII letters in one case, and a space for each `_`. Windows
 * lists serial numbers in upper case and with `_` for each space. Accepts escaped and original text.
 */
export const serialKey = (serial: string): string =>
  escapeText(unescapeText(serial))
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
    .replace(/%20|_/g, ' ')

export const isSameSerial = (a: string, b: string): boolean =>
  a === b || ((a.length === b.length || a.includes('%') || b.includes('%')) && serialKey(a) === serialKey(b))

/** Returns the chain of ports below the root hub. */
export const portsOf = (portPath: string): string => portPath.slice(portPath.indexOf('-') + 1)

/**
 * Returns whether a device can be removed. A hub states this about its ports, and anyone can bring a hub. So a device is
 * inside the host only if all hubs above it are.
 *
 * @param stateOf returns what is stated about a device at another port
 */
export const provenRemovable = (
  { portPath, removable }: Pick<DeviceReport, 'portPath' | 'removable'>,
  stateOf: (portPath: string) => string | undefined,
): DeviceReport['removable'] => {
  const parts = portPath.split('.')
  const isProven = parts.slice(1).every((_, i) => stateOf(parts.slice(0, i + 1).join('.')) === 'fixed')
  return removable === 'fixed' && !isProven ? 'unknown' : removable
}

/**
 * Returns the place of a port: a hash of the location of its controller, and the chain of ports. The number of a bus in a
 * port path changes when controllers come and go. Without a location, returns the port path.
 */
export const placeOf = ({
  portPath,
  controller,
}: {
  portPath: string
  controller?: string | null | undefined
}): string => (controller ? `${hash('sha256', controller, 'hex').slice(0, 8)}-${portsOf(portPath)}` : portPath)

/** Returns the ID of a device on its host: `USB\VID_vvvv&PID_pppp\` and its escaped serial number or, without one, its place. */
export const deviceId = (
  vid: string,
  pid: string,
  serial: string | null | undefined,
  portPath: string,
  controller?: string | null,
): string => `USB\\VID_${vid}&PID_${pid}\\${serial ? escapeText(serial) : placeOf({ portPath, controller })}`

/** Compares port paths numerically: 1-2 before 1-10, and a hub before its devices. */
export const comparePortPaths = (a: string, b: string): number => {
  const [left, right] = [a.split(/[-.]/), b.split(/[-.]/)]
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = Number(left[i]) - Number(right[i])
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

/** The data for a device ID. */
export interface Identified {
  vid: string
  pid: string
  serial?: string | null | undefined
  portPath: string
  controller?: string | null | undefined
}

/**
 * Returns unique IDs for all attached devices of a host, in the given order. Cheap devices share serial numbers: the
 * first by port path keeps the plain ID, and the others get `&` and their place.
 */
export const assignDeviceIds = (devices: readonly Identified[]): string[] => {
  const order = devices.map((_, index) => index)
  order.sort((a, b) =>
    comparePortPaths(mustExist(devices[a], 'a device').portPath, mustExist(devices[b], 'a device').portPath),
  )
  const taken = new Set<string>()
  const ids = new Array<string>(devices.length)
  for (const index of order) {
    const device = mustExist(devices[index], 'a device')
    let id = deviceId(device.vid, device.pid, device.serial, device.portPath, device.controller)
    // A hostile serial number may already end in the place of another device, so one suffix may not be enough.
    while (taken.has(id)) id += `&${placeOf(device)}`
    taken.add(id)
    ids[index] = id
  }
  return ids
}

const LINUX_FOUNDATION = '1D6B'
const ROOT_HUB_PIDS: ReadonlySet<string> = new Set(['0001', '0002', '0003'])

/**
 * Returns true if the descriptors are those of a Linux root hub. Descriptors can be forged, so use the sysfs name (`usb1`)
 * to exclude root hubs. A device at a port path that claims to be a root hub is a finding.
 */
export const isRootHub = (parsed: ParsedDescriptors): boolean =>
  parsed.vid === LINUX_FOUNDATION && ROOT_HUB_PIDS.has(parsed.pid) && parsed.deviceClass === 0x09

/** Returns the port path of the parent hub, or null for the root hub. */
export const parentPortPath = (portPath: string): string | null => {
  const dot = portPath.lastIndexOf('.')
  return dot < 0 ? null : portPath.slice(0, dot)
}
