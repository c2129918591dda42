// Invariant: On an armed host, a device keeps only the kernel drivers allowed for its kind.

import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { release as kernelRelease } from 'node:os'
import { join } from 'node:path'
import { parseReport } from '@portcullis/domain'
import { buildDevice, hub, plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { createInterfaces } from '../src/platform/linux/interfaces.ts'
import { rule, startHost } from './enforcing.ts'
import { until } from './harness.ts'

type Host = Awaited<ReturnType<typeof startHost>>

const keyboard = plainKeyboard({ portPath: '1-1' })
const liar = hub({ portPath: '1-3', vid: '0BDA', pid: '8150', interfaces: ['09:00:00'] })
const evidence = { bound: [{ interface: 0, claims: 'Hub', driver: 'rtl8150' }] }
const allowStick = rule({ effect: 'allow', kinds: ['Mass Storage'] })

const works = (host: Host, portPath: string, isWorking: boolean) =>
  until(`${portPath} ${isWorking ? 'works' : 'is blocked'}`, () => host.tree.isAuthorized(portPath) === isWorking)
const heldOf = (host: Host) => host.peer.seen.enforcement.at(-1)?.held ?? []

/** Starts an armed host with a device that claims to be a hub and has the driver of a network card. */
const withFalseHub = async () => {
  const host = await startHost({ devices: [keyboard] })
  await host.arm()
  host.tree.plug(liar)
  await works(host, '1-3', true)
  host.tree.bind('1-3:1.0', 'rtl8150')
  await works(host, '1-3', false)
  await until('reported', () => heldOf(host).length === 1)
  return host
}

/** Releases the only held port. */
const release = (host: Host, accept: boolean) =>
  host.order('release-ports', { releases: heldOf(host).map(({ id }) => ({ id, accept })) })

const replug = async (host: Host, report: Parameters<Host['tree']['plug']>[0]) => {
  host.tree.unplug(report.portPath)
  await until('gone', () => host.reported(report.portPath) === undefined)
  host.tree.plug(report)
  await until('evaluated', () => host.reported(report.portPath)?.enforced !== undefined)
}

describe('a driver mismatch', () => {
  it('blocks a hub that has the driver of a network card, and reports the evidence', async () => {
    const host = await withFalseHub()
    expect(heldOf(host)).toMatchObject([{ portPath: '1-3', vid: '0BDA', pid: '8150', mismatch: evidence }])
    await until('reported', () => host.reported('1-3')?.enforced?.held === true)
    expect(host.reported('1-3')).toMatchObject({
      authorized: false,
      enforced: { effect: 'allow', source: 'hub', held: true },
      mismatch: evidence,
    })
  })

  it('holds only that port, for any device and even after a restart', async () => {
    const host = await withFalseHub()
    const genuine = hub({ portPath: '1-3' })
    await replug(host, genuine)
    expect(host.tree.isAuthorized('1-3')).toBe(false)
    expect(host.reported('1-3')?.mismatch).toBeUndefined()
    await host.restart()
    await replug(host, genuine)
    expect(host.tree.isAuthorized('1-3')).toBe(false)
    expect(heldOf(host)).toHaveLength(1)
    host.tree.plug(hub({ portPath: '1-4' }))
    await works(host, '1-4', true)
  })

  it('holds the port through Free and arming until an operator releases it', async () => {
    const host = await withFalseHub()
    await host.free()
    expect(host.tree.isAuthorized('1-3')).toBe(true)
    await replugOnFree(host)
    await host.arm(true)
    await works(host, '1-3', false)
    expect(await release(host, false)).toMatchObject({ outcome: 'confirmed' })
    await works(host, '1-3', true)
    await until('reported', () => heldOf(host).length === 0)
    // The claim is still false, so the port is held again.
    host.tree.bind('1-3:1.0', 'rtl8150')
    await works(host, '1-3', false)
  })

  it('is accepted by an operator for one device only', async () => {
    const host = await withFalseHub()
    await release(host, true)
    host.tree.unplug('1-3')
    host.tree.plug(liar)
    await works(host, '1-3', true)
    host.tree.bind('1-3:1.0', 'rtl8150')
    host.tree.plug(storageStick({ portPath: '1-5' }))
    await until('evaluated', () => host.reported('1-5')?.enforced !== undefined)
    expect(host.tree.isAuthorized('1-3')).toBe(true)
    host.tree.unplug('1-3')
    host.tree.plug(hub({ portPath: '1-3', vid: '0BDA', pid: '8150', product: 'Another hub' }))
    await works(host, '1-3', true)
    host.tree.bind('1-3:1.0', 'rtl8150')
    await works(host, '1-3', false)
  })

  it('is detected when a driver binds later to an interface or a HID device', async () => {
    const host = await startHost({ devices: [keyboard], rules: [allowStick, rule({ effect: 'allow', vid: '413C' })] })
    await host.arm()
    host.tree.plug(storageStick({ portPath: '1-2' }))
    await works(host, '1-2', true)
    host.tree.bind('1-2:1.0', 'usb-storage')
    host.tree.plug(plainKeyboard({ portPath: '1-6' }))
    await works(host, '1-6', true)
    host.tree.bind('1-6:1.1', 'usbhid', 'hid-generic')
    await until('evaluated', () => host.reported('1-6')?.enforced !== undefined)
    expect([host.tree.isAuthorized('1-2'), host.tree.isAuthorized('1-6')]).toEqual([true, true])
    // Another driver on the HID bus, as after loading a module.
    host.tree.bind('1-6:1.0', 'usbhid', 'mcp2221')
    await works(host, '1-6', false)
    await until('reported', () => heldOf(host).length === 1)
    expect(heldOf(host)[0]?.mismatch.bound).toEqual([{ interface: 0, claims: 'Keyboard', driver: 'mcp2221' }])
    expect(host.tree.isAuthorized('1-2')).toBe(true)
  })

  it('applies to a device that a rule allows only by its vendor ID', async () => {
    const host = await startHost({ devices: [keyboard], rules: [rule({ effect: 'allow', vid: '0BDA' })] })
    await host.arm()
    const odd = buildDevice({ portPath: '1-5', vid: '0BDA', pid: '8150', interfaces: ['ff:00:00'] })
    host.tree.plug(odd)
    await works(host, '1-5', true)
    host.tree.bind('1-5:1.0', 'rtl8150')
    await works(host, '1-5', false)
    await until('reported', () => heldOf(host).length === 1)
    expect(heldOf(host)[0]?.mismatch).toEqual({ bound: [{ interface: 0, claims: 'Unknown', driver: 'rtl8150' }] })
  })

  it('with an unknown driver is reported, and holds the port only where the rule names no identity', async () => {
    const device = plainKeyboard({ portPath: '1-6' })
    const { vid, pid } = parseReport(device)
    const host = await startHost({ devices: [keyboard], rules: [rule({ effect: 'allow', vid, pid })] })
    await host.arm()
    host.tree.plug(device)
    await works(host, '1-6', true)
    host.tree.bind('1-6:1.0', 'usbhid', 'hid-next-year')
    const unknown = [{ interface: 0, claims: 'Keyboard', driver: 'hid-next-year' }]
    await until('reported', () => host.reported('1-6')?.mismatch !== undefined)
    expect(host.reported('1-6')).toMatchObject({
      authorized: true,
      mismatch: { bound: unknown, kernel: kernelRelease() },
    })
    expect(heldOf(host)).toEqual([])
    host.peer.policy.rules = [rule({ effect: 'allow', kinds: ['Keyboard', 'HID'] })]
    host.peer.policy.version++
    await host.order('policy', { version: host.peer.policy.version })
    await works(host, '1-6', false)
    await until('held', () => heldOf(host).length === 1)
    expect(heldOf(host)[0]?.mismatch.bound).toEqual(unknown)
  })

  it('is detected on devices that were attached before the host was armed', async () => {
    const host = await startHost({ devices: [keyboard, storageStick({ portPath: '1-2' })] })
    host.tree.bind('1-2:1.0', 'rtl8150')
    await host.arm()
    await works(host, '1-2', false)
  })

  it('is reported by a Free host, which blocks nothing', async () => {
    const host = await startHost({ devices: [keyboard] })
    host.tree.plug(liar)
    host.tree.bind('1-3:1.0', 'rtl8150')
    await until('reported', () => host.reported('1-3')?.mismatch !== undefined)
    expect(host.reported('1-3')?.mismatch).toEqual(evidence)
    expect(host.tree.isAuthorized('1-3')).toBe(true)
    expect(heldOf(host)).toEqual([])
  })

  it('holds the peer port on the bus of the other speed', async () => {
    const host = await startHost({ devices: [keyboard, storageStick({ portPath: '2-9' })] })
    await host.arm()
    host.tree.plug(liar)
    mkdirSync(join(host.tree.dir('1-3'), 'port'))
    symlinkSync('../../../usb2/2-0:1.0/usb2-port3', join(host.tree.dir('1-3'), 'port/peer'))
    await works(host, '1-3', true)
    host.tree.bind('1-3:1.0', 'rtl8150')
    await works(host, '1-3', false)
    host.tree.plug(hub({ portPath: '2-3' }))
    await until('evaluated', () => host.reported('2-3')?.enforced !== undefined)
    expect(host.tree.isAuthorized('2-3')).toBe(false)
  })
})

/** Starts an armed host with 65 devices with false claims. The limit is 64 held ports. */
const atLimit = async () => {
  const liars = Array.from({ length: 65 }, (_, i) => ({ ...liar, portPath: `1-${10 + i}` }))
  const host = await startHost({ devices: [keyboard, ...liars] })
  for (const { portPath } of liars) host.tree.bind(`${portPath}:1.0`, 'rtl8150')
  await host.arm()
  for (const { portPath } of liars) await works(host, portPath, false)
  await until('reported', () => heldOf(host).length === 64)
  return host
}
const heldPortsOf = (host: Host) => heldOf(host).map(({ portPath }) => portPath)

describe('a host at its limit of held ports', () => {
  it('releases no port for another, authorises no further devices and reports it', async () => {
    const host = await atLimit()
    expect(heldPortsOf(host)).toContain('1-10')
    expect(heldPortsOf(host)).not.toContain('1-74')
    expect(host.errors()).toContain('held_ports_full')
    for (const port of ['1-10', '1-90']) {
      host.tree.unplug(port)
      await until('gone', () => host.reported(port) === undefined)
      host.tree.plug(hub({ portPath: port }))
      await until('evaluated', () => host.reported(port)?.enforced?.held === true)
      expect(host.tree.isAuthorized(port)).toBe(false)
    }
    expect(host.tree.isAuthorized('1-1')).toBe(true)
  })

  it('stays closed after a restart, and evaluates waiting devices after a release', async () => {
    const host = await atLimit()
    await host.restart()
    host.tree.plug(hub({ portPath: '1-90' }))
    await until('evaluated', () => host.reported('1-90')?.enforced?.held === true)
    expect(host.tree.isAuthorized('1-90')).toBe(false)
    const releaseOne = (port: string) =>
      host.order('release-ports', {
        releases: heldOf(host)
          .filter(({ portPath }) => portPath === port)
          .map(({ id }) => ({ id, accept: false })),
      })
    host.tree.unplug('1-11')
    await releaseOne('1-11')
    // The device whose claim is still false comes first and uses the free slot.
    await until('held', () => heldPortsOf(host).includes('1-74'))
    await works(host, '1-90', false)
    host.tree.unplug('1-12')
    await releaseOne('1-12')
    await works(host, '1-90', true)
  })
})

const replugOnFree = async (host: Host) => {
  host.tree.unplug('1-3')
  await until('gone', () => host.reported('1-3') === undefined)
  host.tree.plug(liar)
  await until('back', () => host.reported('1-3') !== undefined)
}

describe('an allowed device', () => {
  it('is reported with its interfaces that stay closed, and the reasons', async () => {
    const host = await startHost({
      devices: [keyboard],
      rules: [allowStick, rule({ effect: 'allow', kinds: ['Keyboard'] })],
    })
    host.tree.load('usbhid')
    await host.arm()
    host.tree.plug(plainKeyboard({ portPath: '1-6' }))
    await works(host, '1-6', true)
    host.tree.write('1-6:1.0', 'authorized', '0\n')
    host.tree.write('1-6:1.7', 'authorized', '0\n')
    // No driver accepts the interface of a keyboard, so that the agent closes it again.
    await until('reported', () => host.reported('1-6')?.closedInterfaces?.length === 2)
    expect(host.reported('1-6')).toMatchObject({
      authorized: true,
      closedInterfaces: [
        { interface: 0, reason: 'no-driver' },
        { interface: 7, reason: 'not-described' },
      ],
    })
    host.tree.write('1-6:1.0', 'authorized', '1\n')
    host.tree.bind('1-6:1.0', 'usbhid', 'hid-generic')
    await until('open', () => host.reported('1-6')?.closedInterfaces?.length === 1)
  })

  it('keeps its configuration when the agent authorises it again', async () => {
    const stick = storageStick({ portPath: '1-2', moreConfigurations: [['08:06:50']], configurationValue: 2 })
    const host = await startHost({ devices: [keyboard, stick], rules: [allowStick] })
    await host.arm()
    await until('reported', () => host.reported('1-2')?.enforced?.effect === 'allow')
    // A blocked device has no configuration. When it is authorised, the kernel chooses the first one.
    host.tree.write('1-2', 'bConfigurationValue', '\n')
    host.tree.write('1-2', 'authorized', '0\n')
    await works(host, '1-2', true)
    await until('restored', () => host.tree.read('1-2', 'bConfigurationValue') === '2')
  })

  it('is released if the table of an older version held its port', async () => {
    const host = await withFalseHub()
    await host.stop()
    host.tree.unplug('1-3')
    const file = join(host.stateDir, 'enforcement.json')
    const memory = readFileSync(file, 'utf8')
    expect(memory).toContain('"driver": "rtl8150"')
    writeFileSync(file, memory.replaceAll('"driver": "rtl8150"', '"driver": "hub"'))
    host.begin()
    await until('released', () => heldOf(host).length === 0)
  })
})

describe('interfaces', () => {
  const switches = (host: Host) =>
    ['authorized_default', 'interface_authorized_default'].map((name) => host.tree.read('usb1', name))

  it('are closed while the host is armed, and opened by every way to free it', async () => {
    const host = await startHost({ devices: [keyboard] })
    host.tree.write('usb1', 'interface_authorized_default', '1\n')
    await host.arm()
    expect(switches(host)).toEqual(['0', '0'])
    await host.stop()
    expect(switches(host)).toEqual(['1', '1'])
    host.begin()
    await until('armed again', () => switches(host).join() === '0,0')
    await host.free()
    expect(switches(host)).toEqual(['1', '1'])
  })

  it('are opened one by one and bound to a driver of their kind, without writing drivers_probe', async () => {
    const host = await startHost({ devices: [keyboard], rules: [allowStick] })
    for (const driver of ['rtl8150', 'usb-storage', 'usbhid']) host.tree.load(driver)
    host.tree.write('../../usb', 'drivers_probe', '')
    await host.arm()
    host.tree.plug(storageStick({ portPath: '1-2' }))
    await works(host, '1-2', true)
    // The kernel creates the interfaces of a device when it is authorised, with the controller's default.
    host.tree.write('1-2:1.0', 'authorized', '0\n')
    host.tree.write('1-2:1.7', 'authorized', '0\n')
    await until('opened', () => host.tree.read('1-2:1.0', 'authorized') === '1')
    const bindOf = (driver: string) => readFileSync(join(host.tree.root, 'bus/usb/drivers', driver, 'bind'), 'utf8')
    await until('bound', () => bindOf('usb-storage') === '1-2:1.0')
    expect([bindOf('rtl8150'), bindOf('usbhid')]).toEqual(['', ''])
    expect(readFileSync(join(host.tree.root, 'bus/usb/drivers_probe'), 'utf8')).toBe('')
    // An interface that the descriptors do not have stays closed.
    expect(host.tree.read('1-2:1.7', 'authorized')).toBe('0')
    await host.free()
    expect(host.tree.read('1-2:1.7', 'authorized')).toBe('1')
  })

  it('are all open before the first is bound, and closed again if the check fails', async () => {
    const { tree } = await startHost({ devices: [keyboard] })
    const names = ['1-2:1.0', '1-2:1.1', '1-2:1.2']
    const states = () => names.map((name) => tree.read(name, 'authorized')).join('')
    const seen: string[] = []
    for (const name of names) tree.write(name, 'authorized', '0\n')
    createInterfaces({ sysfsRoot: tree.root }).open(
      names.map((name) => ({ name, wanted: ['cdc_acm'] })),
      () => seen.push(states()) < 2,
    )
    expect([...seen, states()]).toEqual(['111', '111', '110'])
  })

  it('of an allowed identity are offered to drivers that the table does not know, and those of an allowed kind are not', async () => {
    const [one, other] = ['1-5', '1-6'].map((portPath) =>
      storageStick({ portPath, pid: portPath === '1-5' ? '0001' : '0002' }),
    )
    if (one === undefined || other === undefined) throw new Error('two sticks')
    const rules = [rule({ effect: 'allow', vid: '0781', pid: '0001' }), allowStick]
    const host = await startHost({ devices: [keyboard], rules })
    for (const driver of ['usb-storage', 'next_year', 'rtl8150']) host.tree.load(driver)
    await host.arm()
    const bindOf = (driver: string) => readFileSync(join(host.tree.root, 'bus/usb/drivers', driver, 'bind'), 'utf8')
    for (const device of [one, other]) {
      host.tree.plug(device)
      await works(host, device.portPath, true)
      host.tree.write(`${device.portPath}:1.0`, 'authorized', '0\n')
      await until('opened', () => host.tree.read(`${device.portPath}:1.0`, 'authorized') === '1')
      await until('offered', () => bindOf('usb-storage') === `${device.portPath}:1.0`)
    }
    expect([bindOf('next_year'), bindOf('rtl8150')]).toEqual(['1-5:1.0', ''])
  })

  it('are bound by a kernel without interface authorisation, and read back', async () => {
    const host = await startHost({ devices: [keyboard] })
    const path = join(host.tree.dir('usb1'), 'interface_authorized_default')
    host.tree.unplug('usb1')
    host.tree.write('usb1', 'authorized_default', '1\n')
    expect(existsSync(path)).toBe(false)
    await host.arm()
    host.tree.plug(liar)
    await works(host, '1-3', true)
    host.tree.bind('1-3:1.0', 'rtl8150')
    await works(host, '1-3', false)
    await host.free()
    expect(host.tree.read('usb1', 'authorized_default')).toBe('1')
  })
})
