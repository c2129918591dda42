import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DeviceReport } from '@portcullis/contract/agent-protocol.ts'
import { classify, parseReport } from '@portcullis/domain'
import {
  hub,
  keyboardBehindHubs,
  plainKeyboard,
  securityKeyBehindHub,
  storageStick,
  yubiKey,
} from '@portcullis/domain/testing'
import fc from 'fast-check'
import { Value } from 'typebox/value'
import { describe, expect, it } from 'vitest'
import { diffDevices } from '../src/collectors/diff.ts'
import { MAX_INVENTORY_BYTES } from '../src/collectors/ports.ts'
import { createSysfsCollector } from '../src/platform/linux/sysfs.ts'
import { createKernelTree, createTree, temporaryDir } from './harness.ts'

const scanOf = (sysfsRoot: string) => createSysfsCollector({ sysfsRoot }).scan()

describe('sysfs collector', () => {
  it('reads the devices of the tree without root hubs and interfaces', () => {
    const devices = [
      hub({ portPath: '1-1' }),
      plainKeyboard({ portPath: '1-1.2' }),
      storageStick({ portPath: '1-10' }),
      yubiKey({ portPath: '1-9' }),
    ]
    const { devices: found, problems } = scanOf(createTree(devices).root)
    expect(problems).toEqual([])
    expect([...found.keys()]).toEqual(['1-1', '1-1.2', '1-9', '1-10'])
    for (const device of devices) {
      const report = found.get(device.portPath)?.report
      expect(Value.Check(DeviceReport, report)).toBe(true)
      expect(report?.descriptors).toBe(device.descriptors)
      expect([report?.manufacturer, report?.product, report?.serial]).toEqual([
        device.manufacturer,
        device.product,
        device.serial,
      ])
    }
  })

  it('returns the same report for a de-authorised device, which has no interface directories', () => {
    const tree = createTree([plainKeyboard({ portPath: '1-1', authorized: false })])
    const report = scanOf(tree.root).devices.get('1-1')?.report
    expect(readdirSync(tree.dir('1-1')).some((name) => name.includes(':'))).toBe(false)
    expect(report).toMatchObject({ authorized: false, descriptors: plainKeyboard().descriptors })
  })

  it('reads the active configuration, which is 0 if the kernel chose none, and absent while a device is blocked', () => {
    const two = { moreConfigurations: [['03:01:01']] }
    const tree = createTree([
      storageStick({ portPath: '1-1', ...two }),
      storageStick({ portPath: '1-2', ...two, configurationValue: 2 }),
      storageStick({ portPath: '1-3', configurationValue: 0 }),
      storageStick({ portPath: '1-4', authorized: false }),
    ])
    const values = [...scanOf(tree.root).devices.values()].map(({ report }) => report.configurationValue)
    expect(values).toEqual([1, 2, 0, undefined])
    expect(readdirSync(join(tree.root, 'bus/usb/devices')).filter((name) => name.startsWith('1-2:'))).toEqual([
      '1-2:2.0',
    ])
    const before = createSysfsCollector({ sysfsRoot: tree.root }).stamp()
    tree.write('1-2', 'bConfigurationValue', '1\n')
    expect(createSysfsCollector({ sysfsRoot: tree.root }).stamp()).not.toBe(before)
  })

  it('marks devices that the host imports over the network', () => {
    const tree = createTree([storageStick({ portPath: '1-1' }), storageStick({ portPath: '5-1' })])
    const real = join(tree.root, 'devices/platform/vhci_hcd.0/usb5')
    mkdirSync(real, { recursive: true })
    renameSync(tree.dir('5-1'), join(real, '5-1'))
    symlinkSync('../../../devices/platform/vhci_hcd.0/usb5/5-1', tree.dir('5-1'))
    const marks = [...scanOf(tree.root).devices.values()].map(({ report }) => report.isOverNetwork)
    expect(marks).toEqual([undefined, true])
  })

  it('finds no devices on a host without USB', () => {
    expect(scanOf(join(temporaryDir(), 'nothing')).devices.size).toBe(0)
  })

  it('reads all devices despite an unreadable one', () => {
    const tree = createTree([plainKeyboard({ portPath: '1-1' }), storageStick({ portPath: '1-2' })])
    rmSync(join(tree.dir('1-1'), 'descriptors'))
    mkdirSync(join(tree.dir('1-1'), 'descriptors'))
    tree.write('1-3', 'descriptors', Buffer.alloc(7))
    const { devices, problems } = scanOf(tree.root)
    expect([...devices.keys()]).toEqual(['1-2'])
    expect(problems.map((problem) => [problem.portPath, problem.code])).toEqual([
      ['1-1', 'descriptors_unreadable'],
      ['1-3', 'descriptors_unreadable'],
    ])
  })

  it('reports a device with invalid descriptors, and the problem', () => {
    const tree = createTree()
    tree.write('1-1', 'descriptors', Buffer.alloc(64, 0xff))
    tree.write('1-2', 'descriptors', Buffer.alloc(70_000, 0x12))
    const { devices, problems } = scanOf(tree.root)
    expect([...devices.values()].every(({ report }) => Value.Check(DeviceReport, report))).toBe(true)
    expect(problems.map((problem) => problem.code)).toEqual(['descriptors_odd', 'descriptors_odd'])
  })

  it('believes a hub that a port is fixed only if the hub is inside the host', () => {
    const fixed = { removable: 'fixed' as const }
    const { devices } = scanOf(
      createTree([
        hub({ portPath: '1-1', removable: 'removable' }),
        hub({ portPath: '1-1.1', ...fixed }),
        plainKeyboard({ portPath: '1-1.1.2', ...fixed }),
        hub({ portPath: '1-2', ...fixed }),
        hub({ portPath: '1-2.1', ...fixed }),
        plainKeyboard({ portPath: '1-2.1.2', ...fixed }),
        plainKeyboard({ portPath: '1-3.1', ...fixed }),
      ]).root,
    )
    const isFixed = [...devices.values()].filter(({ report }) => report.removable === 'fixed')
    expect(isFixed.map(({ report }) => report.portPath)).toEqual(['1-2', '1-2.1', '1-2.1.2'])
    expect(devices.get('1-1.1.2')?.report.removable).toBe('unknown')
  })

  it('keeps an inventory within its limits', () => {
    const tree = createTree()
    for (let i = 1; i <= 200; i++) {
      tree.write(`1-${i}`, 'descriptors', Buffer.alloc(12_288, 0x12))
    }
    const { devices, problems } = scanOf(tree.root)
    expect(devices.size).toBeGreaterThan(100)
    expect(Buffer.byteLength(JSON.stringify([...devices.values()].map(({ report }) => report)))).toBeLessThan(
      MAX_INVENTORY_BYTES + 1024,
    )
    expect(problems.at(-1)?.code).toBe('inventory_too_large')
  })

  it('never throws and always meets the contract, for any bytes in the strings of a device', () => {
    const tree = createTree()
    const attributes = [
      'manufacturer',
      'product',
      'serial',
      'configuration',
      'speed',
      'removable',
      'authorized',
      'devnum',
    ]
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 18, maxLength: 64 }),
        fc.array(fc.uint8Array({ maxLength: 1200 }), { minLength: 8, maxLength: 8 }),
        (descriptors, values) => {
          tree.write('1-1', 'descriptors', Buffer.from(descriptors))
          for (const [i, name] of attributes.entries()) tree.write('1-1', name, Buffer.from(values[i] ?? []))
          const report = scanOf(tree.root).devices.get('1-1')?.report
          expect(Value.Check(DeviceReport, report)).toBe(true)
          expect(JSON.parse(JSON.stringify(report))).toEqual(report)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('cuts text between characters', () => {
    const tree = createTree([plainKeyboard({ portPath: '1-1' })])
    tree.write('1-1', 'product', `a${'\u{10FFFF}'.repeat(255)}\n`)
    tree.write('1-1', 'serial', Buffer.from([0x41, 0x00, 0xff, 0xfe, 0x42, 0x0a]))
    const report = scanOf(tree.root).devices.get('1-1')?.report
    expect(report?.product).toBe(`a${'\u{10FFFF}'.repeat(127)}`)
    expect(report?.serial).toBe('A\u0000\ufffd\ufffdB')
  })

  it('ignores devices that disappear while they are read', () => {
    const tree = createTree([plainKeyboard({ portPath: '1-1' })])
    const sysfs = createSysfsCollector({ sysfsRoot: tree.root })
    // Between the removal of the device and of its name, a reader sees a dangling link.
    execFileSync('ln', ['-s', '/nowhere', tree.dir('1-2')])
    expect([...sysfs.scan().devices.keys()]).toEqual(['1-1'])
    expect(sysfs.scan().problems).toEqual([])
    expect(sysfs.stamp()).toContain('1-2|')
  })

  it('has a stamp that changes exactly when a device changes', () => {
    const tree = createTree([plainKeyboard({ portPath: '1-1' })])
    const sysfs = createSysfsCollector({ sysfsRoot: tree.root })
    const first = sysfs.stamp()
    expect(sysfs.stamp()).toBe(first)
    tree.write('1-1', 'authorized', '0\n')
    const second = sysfs.stamp()
    expect(second).not.toBe(first)
    tree.plug(storageStick({ portPath: '1-2' }))
    expect(sysfs.stamp()).not.toBe(second)
  })
})

describe('differences', () => {
  const device = (portPath: string, instance: string, product?: string) => ({
    instance,
    report: { ...plainKeyboard({ portPath }), ...(product === undefined ? {} : { product }) },
  })
  const mapOf = (...devices: ReturnType<typeof device>[]) => new Map(devices.map((d) => [d.report.portPath, d]))

  it('remove children before their hub and attach hubs before their children', () => {
    const tree = mapOf(device('1-1', '2'), device('1-1.1', '3'), device('1-1.1.4', '4'))
    expect(diffDevices(tree, new Map(), 5).map((c) => (c.op === 'removed' ? c.portPath : ''))).toEqual([
      '1-1.1.4',
      '1-1.1',
      '1-1',
    ])
    expect(diffDevices(new Map(), tree, 5).map((c) => (c.op === 'attached' ? c.device.portPath : ''))).toEqual([
      '1-1',
      '1-1.1',
      '1-1.1.4',
    ])
  })

  it('applied to the old devices always give the new ones', () => {
    const ports = ['1-1', '1-2', '1-2.1', '1-2.10', '2-1']
    const picture = fc
      .array(
        fc.record({
          port: fc.constantFrom(...ports),
          instance: fc.constantFrom('1', '2'),
          product: fc.constantFrom('a', 'b'),
        }),
      )
      .map((list) => mapOf(...list.map((d) => device(d.port, d.instance, d.product))))
    fc.assert(
      fc.property(picture, picture, (before, after) => {
        const replayed = new Map([...before].map(([port, d]) => [port, d.report]))
        for (const change of diffDevices(before, after, 1)) {
          if (!('device' in change)) expect(replayed.delete(change.portPath)).toBe(true)
          else {
            expect(replayed.has(change.device.portPath)).toBe(change.op === 'changed')
            replayed.set(change.device.portPath, change.device)
          }
        }
        expect(new Map([...replayed].sort())).toEqual(
          new Map([...after].map(([port, d]) => [port, d.report] as const).sort()),
        )
      }),
    )
  })
})

describe('trees with links, as in a kernel', () => {
  it('show a security key behind a hub, with its report descriptor', () => {
    const { devices, problems } = scanOf(createKernelTree(securityKeyBehindHub()))
    expect(problems).toEqual([])
    expect([...devices.keys()]).toEqual(['1-2', '1-2.3'])
    const report = devices.get('1-2.3')?.report
    expect(Value.Check(DeviceReport, report)).toBe(true)
    expect(report).toMatchObject({ manufacturer: 'A maker of keys', speedMbps: 12, authorized: true })
    // The report descriptor begins with usage page 0xF1D0 (FIDO).
    expect(
      Buffer.from(report?.reportDescriptors?.[0] ?? '', 'base64')
        .subarray(0, 3)
        .toString('hex'),
    ).toBe('06d0f1')
  })

  it('show a keyboard behind three hubs', () => {
    const { devices, problems } = scanOf(createKernelTree(keyboardBehindHubs()))
    expect(problems).toEqual([])
    expect([...devices.keys()]).toEqual(['1-1', '1-1.5', '1-1.5.4', '1-1.5.4.2'])
    const report = devices.get('1-1.5.4.2')?.report
    if (report === undefined) throw new Error('no keyboard')
    expect(parseReport(report)).toMatchObject({ vid: '05F3', pid: '0007' })
    expect(classify(parseReport(report), report).kind).toBe('Keyboard')
  })
})

describe('tree of plain files', () => {
  it('is read with directories as well as with the links of a kernel', () => {
    const tree = createTree()
    const outside = temporaryDir()
    mkdirSync(join(outside, 'pci'), { recursive: true })
    writeFileSync(join(outside, 'pci/descriptors'), Buffer.from(plainKeyboard().descriptors, 'base64'))
    execFileSync('ln', ['-s', join(outside, 'pci'), tree.dir('3-1')])
    expect([...scanOf(tree.root).devices.keys()]).toEqual(['3-1'])
  })
})
