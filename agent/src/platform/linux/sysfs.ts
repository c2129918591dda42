import { readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { agentLimits, type DeviceReport } from '@portcullis/contract/agent-protocol.ts'
import { comparePortPaths, linuxController, provenRemovable } from '@portcullis/domain'
import { withinLimits } from '../../collectors/ports.ts'
import { attributeText } from '../../collectors/text.ts'
import { errnoOf, messageOf } from '../../exit.ts'
import type { Inventory, Scan, ScannedDevice, ScanProblem } from '../platform.ts'

/** Port path of a device. `usbN` (root hubs) and `1-3:1.0` (interfaces) do not match. */
const portPathPattern = /^[0-9]{1,3}-[0-9]{1,3}(\.[0-9]{1,3}){0,7}$/

/** Bytes of a device descriptor (USB 2.0, table 9-8). */
const DEVICE_DESCRIPTOR_BYTES = 18
/** 16,384 base64 characters. */
const MAX_DESCRIPTOR_BYTES = (agentLimits.descriptors / 4) * 3
/** hidraw shows at most 4,096 bytes of a report descriptor, which are 5,464 base64 characters. */
const MAX_REPORT_DESCRIPTOR_BYTES = 4096
const MAX_REPORT_DESCRIPTORS = 16
const readText = (path: string, max: number = agentLimits.string): string | undefined => {
  try {
    return attributeText(readFileSync(path), max)
  } catch {
    // The attribute is missing or unreadable, or the device was removed. The report then omits the attribute.
    return undefined
  }
}

/** Returns the HID report descriptors in the order of the interfaces. Ignores missing directories. */
const readReportDescriptors = (dir: string, portPath: string): string[] => {
  const found: string[] = []
  try {
    const interfaces = readdirSync(dir).filter((name) => name.startsWith(`${portPath}:`))
    // `1-3:1.2` comes before `1-3:1.10`.
    interfaces.sort((a, b) => Number(a.split('.').at(-1)) - Number(b.split('.').at(-1)))
    for (const name of interfaces) {
      for (const child of readdirSync(join(dir, name)).sort()) {
        // HID device directories are named bus:vendor:product.instance (`0003:1050:0120.0007`).
        if (!/^[0-9A-F]{4}:[0-9A-F]{4}:[0-9A-F]{4}\./.test(child)) continue
        try {
          const bytes = readFileSync(join(dir, name, child, 'report_descriptor'))
          if (bytes.length > 0) found.push(bytes.subarray(0, MAX_REPORT_DESCRIPTOR_BYTES).toString('base64'))
        } catch {
          // The driver is binding or unbinding. The next scan reads the descriptor.
        }
        if (found.length === MAX_REPORT_DESCRIPTORS) return found
      }
    }
  } catch {
    // The device was removed while it was read.
  }
  return found
}

/** Returns the location of the controller of a port; undefined if the device was removed. */
const readController = (root: string, portPath: string): string | undefined => {
  try {
    const hub = readFileSync(join(root, `usb${portPath.slice(0, portPath.indexOf('-'))}`, 'descriptors'))
    return linuxController(realpathSync(join(root, portPath)), (hub[3] ?? 0) >= 3)
  } catch {
    return undefined
  }
}

/** Returns 0 if no configuration is active: the attribute is then empty. */
const readConfigurationValue = (dir: string): number | undefined => {
  try {
    const value = Number(readFileSync(join(dir, 'bConfigurationValue'), 'latin1').trim())
    return Number.isInteger(value) && value >= 0 && value <= 255 ? value : undefined
  } catch {
    return undefined
  }
}

/** Returns whether the controller of a device is that of USB/IP. */
const isImported = (dir: string): boolean => {
  try {
    return realpathSync(dir).includes('/vhci_hcd.')
  } catch {
    return false
  }
}

const removableStates = ['removable', 'fixed', 'unknown'] as const

const readRemovable = (root: string, portPath: string): Pick<DeviceReport, 'removable'> => {
  const text = readText(join(root, portPath, 'removable'), 16)
  const removable = removableStates.find((state) => state === text)
  return removable === undefined ? {} : { removable }
}

const readDevice = (root: string, portPath: string): { device?: ScannedDevice; problem?: ScanProblem } => {
  const dir = join(root, portPath)
  let descriptors: Buffer
  try {
    descriptors = readFileSync(join(dir, 'descriptors'))
  } catch (error) {
    // Without a directory, the device was removed while it was read. This is not a problem.
    if (statSync(dir, { throwIfNoEntry: false }) === undefined) return {}
    return {
      problem: {
        portPath,
        code: 'descriptors_unreadable',
        message: `The agent cannot read the descriptors of port ${portPath}: ${errnoOf(error) ?? messageOf(error)}.`,
      },
    }
  }
  if (descriptors.length < DEVICE_DESCRIPTOR_BYTES) {
    return {
      problem: {
        portPath,
        code: 'descriptors_unreadable',
        message: `The device at port ${portPath} has ${descriptors.length} bytes of descriptors; a valid device has at least 18.`,
      },
    }
  }
  const report: DeviceReport = {
    portPath,
    descriptors: descriptors.subarray(0, MAX_DESCRIPTOR_BYTES).toString('base64'),
  }
  const controller = readController(root, portPath)
  if (controller !== undefined) report.controller = controller
  for (const name of ['manufacturer', 'product', 'serial', 'configuration'] as const) {
    const value = readText(join(dir, name))
    if (value !== undefined) report[name] = value
  }
  const speed = Number(readText(join(dir, 'speed'), 16))
  if (Number.isFinite(speed) && speed >= 0 && speed <= 1_000_000) report.speedMbps = speed
  const removable = provenRemovable(
    { portPath, ...readRemovable(root, portPath) },
    (hub) => readRemovable(root, hub).removable,
  )
  if (removable !== undefined) report.removable = removable
  const authorized = readText(join(dir, 'authorized'), 8)
  if (authorized !== undefined) report.authorized = authorized !== '0'
  if (report.authorized !== false) {
    const value = readConfigurationValue(dir)
    if (value !== undefined) report.configurationValue = value
  }
  if (isImported(dir)) report.isOverNetwork = true
  const reportDescriptors = readReportDescriptors(dir, portPath)
  if (reportDescriptors.length > 0) report.reportDescriptors = reportDescriptors

  const device = { report, instance: readText(join(dir, 'devnum'), 16) ?? '' }
  // A device with invalid descriptors is still reported. Otherwise it could hide itself.
  const odd =
    descriptors.length > MAX_DESCRIPTOR_BYTES
      ? `has ${descriptors.length} bytes of descriptors; the agent reports the first ${MAX_DESCRIPTOR_BYTES}.`
      : descriptors[0] !== DEVICE_DESCRIPTOR_BYTES || descriptors[1] !== 1
        ? 'has descriptors that do not begin with a device descriptor.'
        : undefined
  return odd === undefined
    ? { device }
    : { device, problem: { portPath, code: 'descriptors_odd', message: `The device at port ${portPath} ${odd}` } }
}

/**
 * Reads the USB devices of a host from sysfs.
 *
 * @param sysfsRoot directory to use instead of `/sys`
 */
export const createSysfsCollector = ({ sysfsRoot }: { sysfsRoot: string }): Inventory => {
  const root = join(sysfsRoot, 'bus/usb/devices')

  function ports(): string[] {
    try {
      return readdirSync(root)
        .filter((name) => portPathPattern.test(name))
        .sort(comparePortPaths)
    } catch (error) {
      // The directory is missing until a USB module is loaded. The host then has no devices.
      if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'ENOTDIR') return []
      throw error
    }
  }

  return {
    /** Returns the port paths of all devices except root hubs. Hubs come before their children. */
    ports,
    /** Returns one device, or undefined if it was removed or cannot be read. */
    read: (portPath: string): ScannedDevice | undefined => readDevice(root, portPath).device,
    /** Reads all devices. A single device never makes it throw. */
    scan(): Scan {
      const read = ports().map((portPath) => readDevice(root, portPath))
      const { devices, problems } = withinLimits(read.flatMap(({ device }) => device ?? []))
      return { devices, problems: [...read.flatMap(({ problem }) => problem ?? []), ...problems] }
    },

    /**
     * Returns a text that changes when a full scan is needed. It takes about 15 system calls per device, a tenth of a scan.
     * On sysfs, `devnum`, `authorized` and `bConfigurationValue` change, but not their timestamps; on a tree of plain files, timestamps change.
     */
    stamp(): string {
      let text = ''
      for (const portPath of ports()) {
        const dir = join(root, portPath)
        text += `${portPath}|${readText(join(dir, 'devnum'), 16)}|${readText(join(dir, 'authorized'), 8)}|${readConfigurationValue(dir)}`
        for (const name of stampedFiles) {
          const stat = statSync(join(dir, name), { throwIfNoEntry: false })
          text += stat === undefined ? '|' : `|${stat.ino}.${stat.size}.${stat.mtimeMs}`
        }
        text += '\n'
      }
      return text
    },
  }
}

const stampedFiles = ['descriptors', 'manufacturer', 'product', 'serial', 'configuration', 'removable', 'speed']
