import { connect } from 'node:net'
import type { PolicyRule } from '@portcullis/contract/agent-protocol.ts'
import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { whyNoKernel } from '../../proof/kit/kernel/kernel-files.ts'
import { eventually } from '../../proof/kit/kernel/vm.ts'
import { type Lie, lies } from './lies.ts'
import { type LyingDevices, startLyingDevices } from './lying-devices.ts'
import { slowness } from './measure.ts'
import type { Qmp } from './qmp.ts'

/** Attachments of each device to the armed host. */
const PLUGS = 2

const lieOf = (name: string): Lie => {
  const lie = lies.find((one) => one.name === name)
  if (lie === undefined) throw new Error(`no such device: ${name}`)
  return lie
}

/** All tests share one virtual machine, and each continues from the previous one. */
describe('USB devices with false claims on a real kernel', unless(whyNoKernel), () => {
  let lying: LyingDevices
  /** Time in ms for which a foreign driver was bound. */
  let longest = 0

  beforeAll(async () => {
    const startedAt = performance.now()
    lying = await startLyingDevices()
    console.log(`lying devices are ready after ${((performance.now() - startedAt) / 1000).toFixed(1)} s`)
  })
  afterAll(() => lying?.stop())

  it.each(lies)('an unprotected host is harmed by $what', async (lie) => {
    await lying.plug(lie)
    const { value } = await eventually(`${lie.name} does harm`, async () => {
      const effects = await lying.effects(lie)
      const isBound = effects.foreign.some(({ driver }) => driver === lie.foreign)
      return isBound && (lie.harm === undefined || effects[lie.harm] > 0) && effects
    })
    expect(value.stillBound).toBeGreaterThan(0)
    await lying.unplug(lie)
  })

  it('a Free host reports the driver mismatch, and blocks nothing', async () => {
    await lying.startAgent()
    const lie = lieOf('hub-adapter')
    await lying.plug(lie)
    const evidence = [{ interface: 0, claims: 'Hub', driver: 'rtl8150' }]
    await eventually('it is reported', () => lying.reported(lie)?.mismatch !== undefined)
    expect(lying.reported(lie)?.mismatch?.bound).toEqual(evidence)
    expect((await lying.effects(lie)).stillBound).toBe(1)
    expect(await lying.isAuthorized(lie)).toBe(true)
    await lying.unplug(lie)
  })

  it('the host is armed', async () => {
    await lying.arm()
    expect(await lying.vm.run('authorized_defaults')).toBe('0 0 0 0')
  })

  it.each(lies)('an armed host stops $what', async (lie) => {
    await lying.setRules(...lie.rules)
    for (let i = 0; i < PLUGS; i++) {
      const { effects, held } = await lying.tryArmed(lie)
      const { frames, sectors, keystrokes, networks, disks, sounds, stillBound, foreign } = effects
      expect({ plug: i, frames, sectors, keystrokes, networks, disks, sounds, stillBound }).toEqual({
        ...{ plug: i, frames: 0, sectors: 0, keystrokes: 0, networks: 0, disks: 0, sounds: 0, stillBound: 0 },
      })
      // A driver that was bound briefly is reported, and its port is held.
      const drivers = held.flatMap(({ mismatch }) => mismatch.bound.map(({ driver }) => driver))
      expect(drivers).toEqual(foreign.length > 0 ? [lie.foreign] : [])
      longest = Math.max(longest, ...foreign.map(({ ms }) => ms))
    }
  })

  it('a driver on the HID bus is checked as well, and its port is held with the evidence', async () => {
    const lie = lieOf('hid-bridge')
    await lying.setRules(...lie.rules)
    const { held } = await lying.tryArmed(lie)
    expect(held).toMatchObject([
      { portPath: '1-1', vid: '04D8', mismatch: { bound: [{ interface: 0, claims: 'Keyboard', driver: 'mcp2221' }] } },
    ])
    // At the speed of this machine.
    expect(longest / (await slowness(lying.vm))).toBeLessThanOrEqual(100)
  })

  it.each(['vendor-class', 'strict-hub'])('a driver that is loaded later does not bind to %s', async (name) => {
    const lie = lieOf(name)
    await lying.setRules(...lie.rules)
    await lying.vm.run(`rmmod ${lie.foreign}`)
    const { effects, held } = await lying.tryArmed(lie, async () => {
      await eventually(
        'no interface is open',
        async () => (await lying.vm.run('cat /sys/bus/usb/devices/1-1:1.0/authorized')) === '0',
      )
      await lying.vm.run(`insmod /modules/${lie.foreign}.ko`)
    })
    expect(effects).toMatchObject({ frames: 0, networks: 0, foreign: [] })
    expect(held).toEqual([])
  })

  const plugGenuine = async (kinds: PolicyRule['kinds'], ...plugged: Parameters<Qmp['plug']>): Promise<void> => {
    await lying.setRules({ id: 'genuine', effect: 'allow', level: 'global', ...(kinds === undefined ? {} : { kinds }) })
    await lying.vm.run('forget_use')
    await lying.qmp.plug(...plugged)
  }
  const reported = (product: string) => [...lying.peer.devices.values()].find((device) => device.product === product)
  const uses = (what: string, count: number) =>
    eventually(`${count} ${what} are used`, async () => ((await lying.used()).get(what) ?? 0) >= count)
  const pullOut = async (id: string, product: string): Promise<void> => {
    await lying.qmp.unplug(id)
    await eventually(`${product} is gone`, () => reported(product) === undefined)
    expect(lying.peer.seen.enforcement?.held ?? []).toEqual([])
  }

  it('a genuine hub and the allowed keyboard behind it work on an armed host', async () => {
    await plugGenuine(['Keyboard'], 'usb-hub', 'hub', '2')
    await eventually('the hub is reported', () => reported('QEMU USB Hub')?.enforced?.source === 'hub')
    await plugGenuine(['Keyboard'], 'usb-kbd', 'keyboard', '2.1')
    await eventually('the keyboard types', async () => {
      await lying.qmp.type('a')
      return ((await lying.used()).get('keystrokes') ?? 0) >= 5
    })
    expect(reported('QEMU USB Keyboard')).toMatchObject({ authorized: true, enforced: { effect: 'allow' } })
    await pullOut('keyboard', 'QEMU USB Keyboard')
    await pullOut('hub', 'QEMU USB Hub')
  })

  it('an allowed genuine stick can be read on an armed host', async () => {
    await plugGenuine(['Mass Storage'], 'usb-storage', 'stick', '1', { drive: 'stick' })
    await uses('sectors', 64)
    await pullOut('stick', 'QEMU USB HARDDRIVE')
  })

  it('an allowed genuine headset is a sound card on an armed host', async () => {
    await plugGenuine(['Audio'], 'usb-audio', 'headset', '3', { audiodev: 'sound' })
    await uses('sounds', 1)
    expect(await lying.vm.run('cat /proc/asound/cards')).toContain('QEMU USB Audio')
    await pullOut('headset', 'QEMU USB Audio')
  })

  it('programs can use an allowed genuine phone on an armed host', async () => {
    await plugGenuine(['Phone', 'Imaging'], 'usb-mtp', 'phone', '4', { rootdir: lying.hardware.phone })
    const path = await eventually('it is reported as allowed', () => {
      const device = reported('QEMU filesharing')
      return device?.enforced?.effect === 'allow' && device.authorized === true && device.portPath
    })
    const folder = `/sys/bus/usb/devices/${path.value}:1.0`
    // A program claims it through /dev/bus/usb, which the kernel permits for authorised interfaces.
    await eventually(
      'its interface is authorised',
      async () => (await lying.vm.run(`cat ${folder}/authorized`)) === '1',
    )
    expect((await lying.vm.attempt(`readlink ${folder}/driver`)).output).toBe('')
    await pullOut('phone', 'QEMU filesharing')
  })

  it('an allowed genuine serial adapter transfers bytes in both directions on an armed host', async () => {
    const line = connect(lying.hardware.serial)
    let heard = ''
    line.on('data', (chunk) => {
      heard += chunk.toString()
    })
    await plugGenuine(['Communication', 'Unknown'], 'usb-serial', 'serial', '5', { chardev: 'serial' })
    await eventually('it has a terminal', async () => (await lying.vm.attempt('test -c /dev/ttyUSB0')).code === 0)
    await lying.vm.run(
      'stty -F /dev/ttyUSB0 raw -echo; (head -n 1 /dev/ttyUSB0 >/tmp/heard) & echo from the host >/dev/ttyUSB0',
    )
    await eventually('the line hears the host', () => heard.includes('from the host'))
    await eventually('the host hears the line', async () => {
      line.write('from the line\n')
      return (await lying.vm.run('cat /tmp/heard')).includes('from the line')
    })
    line.destroy()
    await pullOut('serial', 'QEMU USB SERIAL')
  })
})
