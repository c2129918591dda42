import type { ParsedDescriptors } from './descriptors.ts'
import { mustExist } from './must-exist.ts'
import { cleanText } from './text.ts'

/** Maximum code points of a serial number in a device ID. A string descriptor holds at most 126. */
const MAX_SERIAL = 126

/**
 * Returns the ID of a device on its host: `USB\VID_vvvv&PID_pppp\` and its cleaned serial number or, without one, its
 * port path. A backslash in a serial number becomes `_`, because backslashes separate the parts.
 */
export const deviceId = (vid: string, pid: string, serial: string | null | undefined, portPath: string): string => {
  const clean = serial ? cleanText(serial, MAX_SERIAL).replaceAll('\\', '_') : ''
  return `USB\\VID_${vid}&PID_${pid}\\${clean === '' ? portPath : clean}`
}

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
}

/**
 * Returns unique IDs for all attached devices of a host, in the given order. Cheap devices share serial numbers: the
 * first by port path keeps the plain ID, and the others get `&` and their port path.
 */
export const assignDeviceIds = (devices: readonly Identified[]): string[] => {
  const order = devices.map((_, index) => index)
  order.sort((a, b) =>
    comparePortPaths(mustExist(devices[a], 'a device').portPath, mustExist(devices[b], 'a device').portPath),
  )
  const taken = new Set<string>()
  const ids = new Array<string>(devices.length)
  for (const index of order) {
    const { vid, pid, serial, portPath } = mustExist(devices[index], 'a device')
    let id = deviceId(vid, pid, serial, portPath)
    // A hostile serial number may already end in the port path of another device, so one suffix may not be enough.
    while (taken.has(id)) id += `&${portPath}`
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
