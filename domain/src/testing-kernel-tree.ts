import type { DeviceReport } from '@portcullis/contract/agent-reports.ts'
import { parseReport } from './descriptors.ts'
import { buildDevice } from './testing-build.ts'
import { describeSysfs } from './testing-sysfs.ts'
import { deviceSpec } from './testing-table.ts'

/** A file or symbolic link in a sysfs tree. */
export type SysfsEntry = Buffer | string | { link: string }

const devicesDir = 'bus/usb/devices'
const HID_CLASS = 0x03

/** Returns the sysfs path of a device or interface: below its controller, hub by hub. */
const homeOf = (name: string): string => {
  const [portPath = '', configuration] = name.split(':')
  const bus = /^usb(\d+)$/.exec(portPath)?.[1] ?? portPath.slice(0, portPath.indexOf('-'))
  const home = [`devices/pci0000:00/0000:00:14.${bus}`, `usb${bus}`]
  if (!portPath.startsWith('usb')) {
    const ports = portPath.slice(portPath.indexOf('-') + 1).split('.')
    home.push(...ports.map((_, i) => `${bus}-${ports.slice(0, i + 1).join('.')}`))
  }
  if (configuration !== undefined) home.push(name)
  return home.join('/')
}

/** Returns the report descriptors of the HID interfaces by path. */
const hidFiles = (report: DeviceReport): [path: string, content: Buffer][] => {
  const parsed = parseReport(report)
  const first = parsed.configurations[0]
  const hid = first?.interfaces.filter((i) => i.class === HID_CLASS && i.alternate === 0) ?? []
  return (report.reportDescriptors ?? []).flatMap((text, i) => {
    const part = hid[i]
    if (part === undefined) return []
    const home = homeOf(`${report.portPath}:${first?.value}.${part.number}`)
    return [[`${home}/0003:${parsed.vid}:${parsed.pid}.000${i + 1}/report_descriptor`, Buffer.from(text, 'base64')]]
  })
}

/**
 * Builds the sysfs tree of these devices as in a kernel. It has directories below their hubs, symbolic links to them in
 * `bus/usb/devices`, and report descriptors below the HID interfaces. Keys are paths below the sysfs root.
 */
export const describeKernelTree = (reports: readonly DeviceReport[]): Map<string, SysfsEntry> => {
  const entries = new Map<string, SysfsEntry>()
  for (const [path, content] of describeSysfs(reports)) {
    const [name = '', ...rest] = path.slice(devicesDir.length + 1).split('/')
    entries.set(`${homeOf(name)}/${rest.join('/')}`, content)
    entries.set(`${devicesDir}/${name}`, { link: `../../../${homeOf(name)}` })
  }
  for (const [path, content] of reports.flatMap(hidFiles)) entries.set(path, content)
  return entries
}

const device = (row: string): DeviceReport => buildDevice(deviceSpec(row))
const twoTranslators = '09:00:01@0<1/12 09:00:02@0.1<1/12'

/** A keyboard with a built-in hub, connected to the hub of a monitor, connected to the hub of the chipset. */
export const keyboardBehindHubs = (): DeviceReport[] => [
  device('8087:0020 | | | port=1-1 09:00:00<1/12 bcd=0000 device=09:00:01 speed=480'),
  device(`17EF:1005 | | | port=1-1.5 ${twoTranslators} bcd=0001 device=09:00:02 speed=480`),
  device(
    '05F3:0081 | A maker | Keyboard hub | port=1-1.5.4 09:00:00<1/255 bcd=0320 usb=0110 packet=8 device=09:00:00 speed=12',
  ),
  device('05F3:0007 | | | port=1-1.5.4.2 03:01:01<8/8 03:00:00<4/8/82 bcd=0320 usb=0110 packet=8 speed=12'),
]

/** The FIDO collection of the CTAP standard: usage page 0xF1D0, one 64-byte input report and one 64-byte output report. */
const fidoReport = Buffer.from('06d0f10901a1010920150026ff007508954081020921150026ff00750895409102c0', 'hex')

/** A FIDO-only security key behind a hub. */
export const securityKeyBehindHub = (): DeviceReport[] => [
  device(
    `0BDA:5411 | Generic | Four-port hub | port=1-2 ${twoTranslators} bcd=0104 usb=0210 device=09:00:02 speed=480`,
  ),
  buildDevice({
    ...{ portPath: '1-2.3', vid: '1050', pid: '0120', bcdDevice: '0512' },
    ...{ manufacturer: 'A maker of keys', product: 'Security key', speedMbps: 12 },
    interfaces: [
      {
        code: '03:00:00',
        reportLength: fidoReport.length,
        endpoints: [
          { address: 0x04, maxPacketSize: 64, interval: 2 },
          { address: 0x84, maxPacketSize: 64, interval: 2 },
        ],
      },
    ],
    reportDescriptors: [fidoReport.toString('base64')],
  }),
]
