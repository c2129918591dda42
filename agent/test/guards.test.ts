import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { hub, plainKeyboard, plainMouse, storageStick } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { fingerprintOf, rule, startHost } from './enforcing.ts'
import { until } from './harness.ts'

type Host = Awaited<ReturnType<typeof startHost>>

const keyboard = plainKeyboard({ portPath: '1-1' })
const stick = storageStick({ portPath: '1-2' })

const guardOf = (host: Host, portPath: string) => host.reported(portPath)?.enforced?.guard
/** Waits until the server knows the state of a device. */
const waitForReport = (host: Host, portPath: string, isAuthorized: boolean) =>
  until(`${portPath} ${isAuthorized}`, () => {
    const report = host.reported(portPath)
    return report?.authorized === isAuthorized && report.enforced !== undefined
  })

const writeProc = (host: Host, path: string, content: string) => {
  const file = join(host.procRoot, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, content)
}

const PS2 = `I: Bus=0011 Vendor=0001 Product=0001 Version=ab41
N: Name="AT Translated Set 2 keyboard"
S: Sysfs=/devices/platform/i8042/serio0/input/input0
B: EV=120013
B: KEY=402000000 3803078f800d001 feffffdfffefffff fffffffffffffffe

`

describe('present devices', () => {
  it('keep working after arming, a replug at their port and a restart, unless a rule denies them', async () => {
    const host = await startHost({ devices: [keyboard, stick] })
    await host.arm()
    await waitForReport(host, '1-2', true)
    expect(guardOf(host, '1-2')).toBe('present')
    host.tree.unplug('1-2')
    await until('gone', () => host.reported('1-2') === undefined)
    host.tree.plug(stick)
    await waitForReport(host, '1-2', true)
    expect(guardOf(host, '1-2')).toBe('present')
    // The same stick at another port, and another stick at its port, were not present.
    host.tree.plug(storageStick({ portPath: '1-4' }))
    host.tree.unplug('1-2')
    host.tree.plug(storageStick({ portPath: '1-2', serial: 'other' }))
    await waitForReport(host, '1-4', false)
    await waitForReport(host, '1-2', false)
    host.tree.unplug('1-2')
    host.tree.plug(stick)
    await waitForReport(host, '1-2', true)
    await host.restart()
    await waitForReport(host, '1-2', true)
    await host.change([rule({ effect: 'deny', vid: '0781' })])
    await waitForReport(host, '1-2', false)
    expect(host.reported('1-2')?.enforced).toMatchObject({ effect: 'block', source: 'deny' })
    expect(guardOf(host, '1-2')).toBeUndefined()
  })

  it('are evaluated like all others if arming applies to them, and work again when the host is freed', async () => {
    const host = await startHost({ devices: [keyboard, stick] })
    await host.arm(true)
    await waitForReport(host, '1-2', false)
    expect(guardOf(host, '1-1')).toBe('last-keyboard')
    await host.free()
    expect(host.tree.isAuthorized('1-2')).toBe(true)
  })

  it('are blocked if they are attack tools, whenever they were attached', async () => {
    const host = await startHost({ devices: [keyboard, stick] })
    host.peer.policy.knowledge = JSON.stringify({
      attackTools: [{ id: 'x', group: 'own', vid: '0781', pid: '5581', name: 'Tool', kind: 'k', source: 's' }],
      genuine: [],
    })
    await host.arm()
    await waitForReport(host, '1-2', false)
    expect(host.reported('1-2')?.enforced).toMatchObject({ effect: 'block', source: 'attack-tool', ruleId: null })
  })
})

describe('a device that worked recently', () => {
  const allowed = (fingerprint: string) => rule({ id: 'exact', effect: 'allow', fingerprint })

  /** Starts a host whose mouse was attached after arming and is allowed by its exact fingerprint. */
  const withMouse = async () => {
    const mouse = plainMouse({ portPath: '1-3' })
    const host = await startHost({ devices: [keyboard], rules: [allowed(fingerprintOf(mouse))] })
    await host.arm()
    host.tree.plug(mouse)
    await waitForReport(host, '1-3', true)
    return host
  }
  const updated = plainMouse({ portPath: '1-3', bcdDevice: '7201' })

  it('keeps working with new firmware at the same port, but not after five minutes of absence', async () => {
    const host = await withMouse()
    host.tree.unplug('1-3')
    host.tree.plug(updated)
    await until('guarded', () => guardOf(host, '1-3') === 'recent')
    expect(host.tree.isAuthorized('1-3')).toBe(true)
    host.tree.unplug('1-3')
    host.tree.plug(plainMouse({ portPath: '1-4', bcdDevice: '7201' }))
    await waitForReport(host, '1-4', false)
  })

  it('is blocked when the rule that allowed it is gone', async () => {
    const host = await withMouse()
    host.tree.unplug('1-3')
    host.tree.plug(updated)
    await until('guarded', () => guardOf(host, '1-3') === 'recent')
    await host.change([])
    await waitForReport(host, '1-3', false)
    host.tree.unplug('1-3')
    host.tree.plug(updated)
    await waitForReport(host, '1-3', false)
  })

  it('is forgotten after five minutes', async () => {
    let skipped = 0
    const clock = { now: () => Date.now() + skipped, monotonic: () => performance.now() + skipped }
    const mouse = plainMouse({ portPath: '1-3' })
    const host = await startHost({ devices: [keyboard], rules: [allowed(fingerprintOf(mouse))], clock })
    await host.arm()
    host.tree.plug(mouse)
    await waitForReport(host, '1-3', true)
    host.tree.unplug('1-3')
    await until('gone', () => host.reported('1-3') === undefined)
    skipped = 5 * 60_000 + 1000
    host.tree.plug(updated)
    await waitForReport(host, '1-3', false)
  })
})

describe('the last keyboard', () => {
  it('is kept if no keyboard is allowed: only one of them, the least suspicious', async () => {
    const second = plainKeyboard({ portPath: '1-4', product: 'Other' })
    const host = await startHost({
      devices: [keyboard, second],
      rules: [rule({ effect: 'deny', fingerprint: fingerprintOf(keyboard) })],
    })
    await host.arm(true)
    await waitForReport(host, '1-4', true)
    expect(guardOf(host, '1-4')).toBe('last-keyboard')
    expect(host.tree.isAuthorized('1-1')).toBe(false)
  })

  it('is blocked if another one works, an internal one or by a rule', async () => {
    const host = await startHost({ devices: [keyboard] })
    writeProc(host, 'bus/input/devices', PS2)
    await host.arm(true)
    await waitForReport(host, '1-1', false)
    await host.free()
    rmSync(join(host.procRoot, 'bus'), { recursive: true })
    host.tree.plug(plainKeyboard({ portPath: '1-4', vid: '1234' }))
    host.peer.policy.rules = [rule({ effect: 'allow', vid: '1234' })]
    await host.arm(true)
    await waitForReport(host, '1-1', false)
    expect(host.tree.isAuthorized('1-4')).toBe(true)
  })

  it('is determined without buttons, virtual keyboards and those of USB ports', async () => {
    const host = await startHost({ devices: [keyboard] })
    const usb = PS2.replace('platform/i8042/serio0', 'pci0000:00/0000:00:14.0/usb1/1-9/1-9:1.0')
    const virtual = PS2.replace('platform/i8042/serio0', 'virtual')
    const button = PS2.replace(/B: KEY=.*/, 'B: KEY=10000000000000 0')
    writeProc(host, 'bus/input/devices', usb + virtual + button)
    await host.arm(true)
    await waitForReport(host, '1-1', true)
    expect(guardOf(host, '1-1')).toBe('last-keyboard')
  })

  it('is never a new keyboard, even if the kernel authorises devices first', async () => {
    const host = await startHost()
    await host.arm()
    host.tree.plug(keyboard)
    await waitForReport(host, '1-1', false)
    host.tree.write('usb1', 'authorized_default', '1\n')
    host.tree.plug(plainKeyboard({ portPath: '1-4' }))
    await waitForReport(host, '1-4', false)
  })
})

describe('the disks of the running system', () => {
  /** Creates a sysfs block device below a USB port, with a device mapper above it. */
  const addDisk = (host: Host) => {
    const root = host.tree.root
    const disk = join(root, 'devices/pci0000:00/0000:00:14.0/usb1/1-2/1-2:1.0/host0/target0:0:0/0:0:0:0/block/sda')
    const mapper = join(root, 'devices/virtual/block/dm-0')
    mkdirSync(join(disk, 'sda2'), { recursive: true })
    mkdirSync(join(mapper, 'slaves'), { recursive: true })
    mkdirSync(join(mapper, 'dm'), { recursive: true })
    writeFileSync(join(mapper, 'dm/name'), 'vg-root\n')
    symlinkSync(join(disk, 'sda2'), join(mapper, 'slaves/sda2'))
    mkdirSync(join(root, 'dev/block'), { recursive: true })
    mkdirSync(join(root, 'class/block'), { recursive: true })
    symlinkSync(mapper, join(root, 'dev/block/254:0'))
    symlinkSync(mapper, join(root, 'class/block/dm-0'))
    symlinkSync(join(disk, 'sda2'), join(root, 'class/block/sda2'))
  }

  it.each([
    ['root on device mapper', 'self/mountinfo', '22 1 254:0 / / rw,relatime shared:1 - ext4 /dev/mapper/vg-root rw\n'],
    [
      'root on btrfs, which has an anonymous device number',
      'self/mountinfo',
      '22 1 0:33 / / rw - btrfs /dev/mapper/vg-root rw\n',
    ],
    ['/boot on a partition by name', 'self/mountinfo', '30 22 0:99 / /boot rw - ext4 /dev/sda2 rw\n'],
    ['swap', 'swaps', 'Filename Type Size Used Priority\n/dev/sda2 partition 1000 0 -2\n'],
  ])('are never blocked: %s', async (_, path, content) => {
    const host = await startHost({ devices: [keyboard, stick], rules: [rule({ effect: 'deny', vid: '0781' })] })
    addDisk(host)
    writeProc(host, path, content)
    await host.arm(true)
    await waitForReport(host, '1-2', true)
    expect(host.reported('1-2')?.enforced).toMatchObject({ effect: 'block', source: 'deny', guard: 'boot-disk' })
  })

  it('do not include a disk with another mount point, which follows the policy', async () => {
    const host = await startHost({ devices: [keyboard, stick] })
    addDisk(host)
    writeProc(host, 'self/mountinfo', '22 1 254:0 / /media/stick rw - ext4 /dev/mapper/vg-root rw\n')
    await host.arm(true)
    await waitForReport(host, '1-2', false)
  })
})

describe('hubs and refusals', () => {
  it('authorises hubs and evaluates the devices behind them', async () => {
    const host = await startHost({
      devices: [keyboard],
      rules: [rule({ effect: 'allow', kinds: ['Mouse', 'Keyboard'] })],
    })
    await host.arm()
    host.tree.plug(hub({ portPath: '1-2' }))
    host.tree.plug(plainMouse({ portPath: '1-2.1' }))
    host.tree.plug(storageStick({ portPath: '1-2.2' }))
    await waitForReport(host, '1-2', true)
    await waitForReport(host, '1-2.1', true)
    await waitForReport(host, '1-2.2', false)
    expect(host.reported('1-2')?.enforced?.source).toBe('hub')
  })

  it('reports once that the kernel did not block a device', async () => {
    const host = await startHost({ devices: [keyboard, stick] })
    rmSync(join(host.tree.dir('1-2'), 'authorized'))
    // Readable, not 0, and not writable.
    symlinkSync('/proc/sys/kernel/ostype', join(host.tree.dir('1-2'), 'authorized'))
    await host.arm(true)
    await until('reported', () => guardOf(host, '1-2') === 'unblockable')
    host.tree.plug(storageStick({ portPath: '1-4' }))
    await waitForReport(host, '1-4', false)
    await until('error', () => host.errors().includes('device_unblockable'))
    expect(host.errors().filter((code) => code === 'device_unblockable')).toHaveLength(1)
  })

  it('refuses to arm a host that can only observe, and gives the reason', async () => {
    const host = await startHost({ devices: [keyboard] })
    for (const name of ['authorized_default', 'authorized']) {
      rmSync(join(host.tree.dir('usb1'), name))
      mkdirSync(join(host.tree.dir('usb1'), name))
    }
    const ack = await host.arm()
    expect(ack?.outcome).toBe('failed')
    expect(ack?.message).toContain('cannot block devices')
    expect(ack?.message).toContain('EISDIR')
    expect(host.peer.seen.policies).toBe(0)
    expect(host.peer.seen.enforcement.every(({ mode }) => mode === 'Free')).toBe(true)
  })

  it('blocks devices after attachment if controllers cannot be closed', async () => {
    const host = await startHost({ devices: [keyboard] })
    rmSync(join(host.tree.dir('usb1'), 'authorized_default'))
    mkdirSync(join(host.tree.dir('usb1'), 'authorized_default'))
    expect(await host.arm()).toMatchObject({ outcome: 'confirmed' })
    host.tree.write('1-2', 'authorized', '1\n')
    host.tree.plug(stick)
    await waitForReport(host, '1-2', false)
  })
})
