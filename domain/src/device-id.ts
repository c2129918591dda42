import type { ParsedDescriptors } from './descriptors.ts'
import { cleanText } from './text.ts'

/** Code points of a serial number in a device id; a string descriptor holds at most 126. */
const MAX_SERIAL = 126

/**
 * The id of a device on its host: `USB\VID_vvvv&PID_pppp\` and its cleaned serial number, else its port path. A back
 * slash in a serial becomes `_`, since it separates the parts.
 */
export const deviceId = (vid: string, pid: string, serial: string | null | undefined, portPath: string): string => {
  const clean = serial ? cleanText(serial, MAX_SERIAL).replaceAll('\\', '_') : ''
  return `USB\\VID_${vid}&PID_${pid}\\${clean === '' ? portPath : clean}`
}

/** Orders port paths by their numbers: 1-2 before 1-10, a hub before what hangs on it. */
export const comparePortPaths = (a: string, b: string): number => {
  const [left, right] = [a.split(/[-.]/), b.split(/[-.]/)]
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = Number(left[i]) - Number(right[i])
    if (difference !== 0) return difference
  }
  return left.length - right.length
}

/** What an id is made of. */
export interface Identified {
  vid: string
  pid: string
  serial?: string | null | undefined
  portPath: string
}

/**
 * Ids for all present devices of a host, in the order given. Cheap sticks share serial numbers: the first by port path
 * keeps the plain id, every other one gets `&` and its port path, so that ids are unique.
 */
export const assignDeviceIds = (devices: readonly Identified[]): string[] => {
  const order = devices.map((_, index) => index)
  order.sort((a, b) => comparePortPaths(devices[a]!.portPath, devices[b]!.portPath))
  const taken = new Set<string>()
  const ids = new Array<string>(devices.length)
  for (const index of order) {
    const { vid, pid, serial, portPath } = devices[index]!
    let id = deviceId(vid, pid, serial, portPath)
    // A hostile serial may already end in someone's port path, so one suffix is not always enough.
    while (taken.has(id)) id += `&${portPath}`
    taken.add(id)
    ids[index] = id
  }
  return ids
}

const LINUX_FOUNDATION = '1D6B'
const ROOT_HUB_PIDS: ReadonlySet<string> = new Set(['0001', '0002', '0003'])

/**
 * True when the descriptors are those of a Linux root hub. Descriptors can be forged: whoever leaves root hubs out goes
 * by the sysfs name (`usb1`), and a device at a port path that claims to be one is a finding, not a root hub.
 */
export const isRootHub = (parsed: ParsedDescriptors): boolean =>
  parsed.vid === LINUX_FOUNDATION && ROOT_HUB_PIDS.has(parsed.pid) && parsed.deviceClass === 0x09

/** The port path of the hub a device hangs on; null when that is the root hub. */
export const parentPortPath = (portPath: string): string | null => {
  const dot = portPath.lastIndexOf('.')
  return dot < 0 ? null : portPath.slice(0, dot)
}
