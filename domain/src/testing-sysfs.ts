import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
import { interfaceCode, parseReport } from './descriptors.ts'
import { comparePortPaths } from './device-id.ts'
import { hub } from './testing-presets.ts'

const hex = (value: number, digits: number): string => value.toString(16).padStart(digits, '0')
const versionText = (bcd: number): string => `${bcd >> 8}.${hex(bcd & 0xff, 2)}`.padStart(5)

/** Returns the active configuration, which is the first one unless the report names another. */
const activeOf = (report: DeviceReport) => {
  if (report.authorized === false) return undefined
  const { configurations } = parseReport(report)
  const { configurationValue } = report
  return configurationValue === undefined
    ? configurations[0]
    : configurations.find(({ value }) => value === configurationValue)
}

const deviceFiles = (report: DeviceReport, bus: number, devnum: number): [name: string, content: Buffer | string][] => {
  const parsed = parseReport(report)
  const active = activeOf(report)
  const files: [string, Buffer | string][] = [
    ['descriptors', Buffer.from(report.descriptors, 'base64')],
    ['idVendor', `${parsed.vid.toLowerCase()}\n`],
    ['idProduct', `${parsed.pid.toLowerCase()}\n`],
    ['bcdDevice', `${hex(parsed.bcdDevice, 4)}\n`],
    ['bDeviceClass', `${hex(parsed.deviceClass, 2)}\n`],
    ['bDeviceSubClass', `${hex(parsed.deviceSubclass, 2)}\n`],
    ['bDeviceProtocol', `${hex(parsed.deviceProtocol, 2)}\n`],
    ['bMaxPacketSize0', `${parsed.maxPacketSize0}\n`],
    ['bNumConfigurations', `${parsed.numConfigurations}\n`],
    ['version', `${versionText(parsed.bcdUsb)}\n`],
    ['speed', `${report.speedMbps ?? 480}\n`],
    ['authorized', `${report.authorized === false ? 0 : 1}\n`],
    ['removable', `${report.removable ?? 'unknown'}\n`],
    ['busnum', `${bus}\n`],
    ['devnum', `${devnum}\n`],
    ['devpath', `${report.portPath.slice(report.portPath.indexOf('-') + 1)}\n`],
    ['dev', `189:${(bus - 1) * 128 + devnum - 1}\n`],
    ['uevent', `DEVTYPE=usb_device\nDRIVER=usb\nBUSNUM=${hex(bus, 3)}\nDEVNUM=${hex(devnum, 3)}\n`],
  ]
  for (const key of ['manufacturer', 'product', 'serial'] as const)
    if (report[key] !== undefined) files.push([key, `${report[key]}\n`])
  if (active === undefined) {
    // The attributes are empty while no configuration is active, as for a device that is not authorised.
    for (const name of ['configuration', 'bConfigurationValue', 'bNumInterfaces', 'bMaxPower', 'bmAttributes'])
      files.push([name, ''])
    return files
  }
  const numbers = new Set(active.interfaces.map((i) => i.number))
  files.push(
    ['configuration', report.configuration === undefined ? '' : `${report.configuration}\n`],
    ['bConfigurationValue', `${active.value}\n`],
    ['bNumInterfaces', `${String(numbers.size).padStart(2)}\n`],
    ['bMaxPower', `${active.maxPowerMa}mA\n`],
    ['bmAttributes', `${hex(active.attributes, 2)}\n`],
  )
  return files
}

const interfaceFiles = (report: DeviceReport): [path: string, content: string][] => {
  const active = activeOf(report)
  if (active === undefined) return []
  return active.interfaces
    .filter((i) => i.alternate === 0)
    .flatMap((i): [string, string][] => {
      const [cls = '', subclass = '', protocol = ''] = interfaceCode(i).split(':')
      const path = `${report.portPath}:${active.value}.${i.number}`
      return [
        [`${path}/bInterfaceClass`, `${cls}\n`],
        [`${path}/bInterfaceSubClass`, `${subclass}\n`],
        [`${path}/bInterfaceProtocol`, `${protocol}\n`],
        [`${path}/bInterfaceNumber`, `${hex(i.number, 2)}\n`],
        [`${path}/bNumEndpoints`, `${hex(i.endpoints.length, 2)}\n`],
        [`${path}/authorized`, '1\n'],
      ]
    })
}

const rootHub = (bus: number): DeviceReport =>
  hub({
    portPath: `${bus}-0`,
    vid: '1D6B',
    pid: '0002',
    bcdDevice: '0601',
    deviceCode: '09:00:01',
    manufacturer: 'Linux 6.1.0 xhci-hcd',
    product: 'xHCI Host Controller',
    serial: `0000:00:${hex(13 + bus, 2)}.0`,
    interfaces: ['09:00:00'],
  })

/**
 * Returns the files of a sysfs tree with these devices and one root hub per bus, by path below the sysfs root
 * (`bus/usb/devices/1-1/descriptors`). It has directories where a kernel has symbolic links.
 */
export const describeSysfs = (reports: readonly DeviceReport[]): Map<string, Buffer | string> => {
  const files = new Map<string, Buffer | string>()
  const base = 'bus/usb/devices'
  const buses = new Set([1, ...reports.map((r) => Number.parseInt(r.portPath, 10))])
  for (const bus of buses) {
    for (const [name, content] of deviceFiles(rootHub(bus), bus, 1)) files.set(`${base}/usb${bus}/${name}`, content)
    files.set(`${base}/usb${bus}/authorized_default`, '1\n')
    files.set(`${base}/usb${bus}/interface_authorized_default`, '1\n')
  }
  const sorted = [...reports].sort((a, b) => comparePortPaths(a.portPath, b.portPath))
  const lastDevnum = new Map<number, number>()
  for (const report of sorted) {
    const bus = Number.parseInt(report.portPath, 10)
    const devnum = (lastDevnum.get(bus) ?? 1) + 1
    lastDevnum.set(bus, devnum)
    for (const [name, content] of deviceFiles(report, bus, devnum))
      files.set(`${base}/${report.portPath}/${name}`, content)
    for (const [path, content] of interfaceFiles(report)) files.set(`${base}/${path}`, content)
  }
  return files
}
