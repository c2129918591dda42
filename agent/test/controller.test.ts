import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { assignDeviceIds, linuxController, parseReport, readPoll } from '@portcullis/domain'
import { hub, plainKeyboard } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { posixScript } from '../../domain/src/platforms/scripts.ts'
import { createSysfsCollector } from '../src/platform/linux/sysfs.ts'
import { temporaryDir } from './harness.ts'

/** A sysfs tree with a keyboard at port 1 of each root hub: `[number of the bus, directory of the controller, USB version]`. */
const treeOf = (...buses: [number, string, 2 | 3][]): string => {
  const root = temporaryDir()
  const put = (path: string, content: Buffer | string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), content)
  }
  mkdirSync(join(root, 'bus/usb/devices'), { recursive: true })
  for (const [bus, controller, version] of buses) {
    const rootHub = hub({ portPath: `${bus}-0`, vid: '1D6B', bcdUsb: version * 0x100 })
    const keyboard = plainKeyboard({ portPath: `${bus}-1` })
    for (const [name, path, report] of [
      [`usb${bus}`, `devices/${controller}/usb${bus}`, rootHub],
      [`${bus}-1`, `devices/${controller}/usb${bus}/${bus}-1`, keyboard],
    ] as const) {
      put(`${path}/descriptors`, Buffer.from(report.descriptors, 'base64'))
      put(`${path}/version`, ` ${version}.00\n`)
      symlinkSync(`../../../${path}`, join(root, 'bus/usb/devices', name))
    }
  }
  return root
}
const scanned = (root: string) =>
  [...createSysfsCollector({ sysfsRoot: root }).scan().devices.values()].map(({ report }) => report)
const idsOf = (reports: ReturnType<typeof scanned>): string[] =>
  assignDeviceIds(
    reports.map(({ portPath, controller }) => ({
      ...parseReport(plainKeyboard()),
      serial: null,
      portPath,
      controller,
    })),
  ).sort()

const internal = 'pci0000:00/0000:00:14.0'
const dock = 'pci0000:00/0000:00:1d.0/0000:05:00.0/0000:06:02.0'

describe('the controller of a device in Linux', () => {
  it('is its location, without numbers that are assigned at start', () => {
    const first = scanned(treeOf([1, internal, 2], [2, internal, 3], [3, dock, 2]))
    expect(first.map((one) => one.controller)).toEqual([
      'pci0000:00/14.0 usb2',
      'pci0000:00/14.0 usb3',
      'pci0000:00/1d.0/00.0/02.0 usb2',
    ])
    // The buses, and the PCI buses behind a bridge, are numbered anew.
    const second = scanned(treeOf([1, dock.replaceAll(/:0([56]):/g, ':1$1:'), 2], [4, internal, 2], [7, internal, 3]))
    expect(idsOf(second)).toEqual(idsOf(first))
    expect(new Set(idsOf(first)).size).toBe(3)
  })

  it('is the same in a poll', () => {
    const root = treeOf([1, internal, 2], [2, internal, 3], [3, dock, 2])
    const output = execFileSync('sh', ['-c', posixScript({ sys: root, etc: '/nowhere' })], { timeout: 20_000 })
    const { reading } = readPoll(output)
    expect(reading.ok && reading.devices.map(({ portPath, controller }) => [portPath, controller])).toEqual(
      scanned(root).map(({ portPath, controller }) => [portPath, controller]),
    )
  })

  it('is unknown if the path does not show it', () => {
    expect(linuxController('/sys/bus/usb/devices/1-1', false)).toBeUndefined()
    expect(linuxController('/sys/devices/usb1/1-1', false)).toBeUndefined()
    expect(linuxController('/sys/devices/platform/soc/fe9c0000.xhci/xhci-hcd.1.auto/usb3/3-1', true)).toBe(
      'platform/soc/fe9c0000.xhci/xhci-hcd.auto usb3',
    )
    expect(linuxController(`/sys/devices/${'x'.repeat(5_000)}/usb1`, true)?.length).toBe(512)
  })
})
