import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildDevice, plainMouse, storageStick } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { linux } from '../src/platform/linux/linux.ts'
import type { System } from '../src/platform/platform.ts'
import { rule, startHost } from './enforcing.ts'
import { temporaryDir, until } from './harness.ts'
import { createWorld, mismatch } from './passing.ts'

const phone = (portPath: string, pid: string) =>
  buildDevice({ portPath, vid: '05AC', pid, interfaces: ['06:01:01'], moreConfigurations: [['06:01:01', 'ff:fe:02']] })
const allowPhone = rule({ effect: 'allow', vid: '05AC', pid: '12A8' })
const allowCameras = rule({ effect: 'allow', kinds: ['Imaging', 'Phone', 'Unknown'] })

const startPublic = async (options: Parameters<typeof startHost>[0]) => {
  const dir = temporaryDir()
  const host = await startHost({ ...options, args: ['--public-dir', dir] })
  const path = join(dir, 'decided')
  return {
    ...host,
    path,
    /** Ports with a published decision about the current attachment. */
    decided: () => {
      const [, ...lines] = existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
      return lines.filter((line) => line === `${line.split(' ')[0]} ${host.tree.devnum(line.split(' ')[0] ?? '')}`)
    },
    interfaceDefault: () => host.tree.read('usb1', 'interface_authorized_default'),
  }
}

describe('programs of an armed host', () => {
  it('can read which devices are decided, allowed or blocked, while the agent enforces', async () => {
    const host = await startPublic({ rules: [rule({ effect: 'allow', kinds: ['Mass Storage'] })] })
    expect(existsSync(host.path)).toBe(false)
    await host.arm()
    expect(readFileSync(host.path, 'utf8')).toMatch(new RegExp(`^agent ${process.pid} [0-9]+\n`))
    host.tree.plug(storageStick({ portPath: '1-2' }))
    host.tree.plug(plainMouse({ portPath: '1-3' }))
    await until('both are decided', () => host.decided().length === 2)
    host.tree.plug(storageStick({ portPath: '1-2' }))
    await until('the next attachment is decided', () => host.decided().length === 2)
    host.tree.unplug('1-3')
    await until('it is forgotten', () => !readFileSync(host.path, 'utf8').includes('1-3'))
    await host.restart()
    await until('they are decided again', () => host.decided().length === 1)
    await host.free()
    expect(existsSync(host.path)).toBe(false)
    await host.arm()
    await host.stop()
    expect(existsSync(host.path)).toBe(false)
  })

  it('may change the configuration of a device that is allowed by its identity, and use it at once', async () => {
    const host = await startPublic({ rules: [allowPhone, allowCameras] })
    await host.arm()
    expect(host.interfaceDefault()).toBe('0')
    host.tree.plug(phone('1-2', '12A8'))
    await until('its next interfaces are open', () => host.interfaceDefault() === '1')
    expect(host.tree.read('usb1', 'authorized_default')).toBe('0')
    // A device that is limited to its kinds closes them for all devices of the controller.
    host.tree.plug(phone('1-3', '0001'))
    await until('they are closed', () => host.interfaceDefault() === '0')
    host.tree.unplug('1-3')
    await until('they are open again', () => host.interfaceDefault() === '1')
    host.tree.unplug('1-2')
    await until('they are closed without it', () => host.interfaceDefault() === '0')
    await host.free()
    expect(host.interfaceDefault()).toBe('1')
  })

  it('see a device only when its next interfaces are open, also beside other new devices', async () => {
    const seen: string[] = []
    const state = (): string =>
      `${host.tree.read('usb1', 'interface_authorized_default')} ${host.tree.isAuthorized('1-2') && host.tree.isAuthorized('1-3')}`
    const system: System = {
      ...linux,
      create: (settings) => ({
        ...linux.create(settings),
        programs: {
          publish: (decided) => void (decided?.has('1-2') && seen.push(`publish ${state()}`)),
          withdraw: () => undefined,
          announce: (portPath) => void seen.push(`${portPath} ${state()}`),
        },
      }),
    }
    const host = await startHost({ rules: [allowPhone, allowCameras], system })
    await host.arm()
    await host.change([])
    host.tree.plug(phone('1-2', '12A8'))
    host.tree.plug(storageStick({ portPath: '1-3' }))
    await until('both are blocked', () => host.reported('1-3')?.enforced !== undefined)
    seen.length = 0
    await host.change([allowPhone, rule({ effect: 'allow', vid: '0781' })])
    expect(seen.slice(0, 3)).toEqual(['1-2 1 true', '1-3 1 true', 'publish 1 true'])
  })

  it('do not keep interfaces open on a host that fails closed and whose agent stops', async () => {
    const host = await startPublic({ rules: [allowPhone] })
    host.peer.policy.options = { failsClosed: true, keepsLastKeyboard: true }
    await host.arm()
    expect(host.interfaceDefault()).toBe('0')
    host.tree.plug(phone('1-2', '12A8'))
    await until('its next interfaces are open', () => host.interfaceDefault() === '1')
    await host.stop()
    expect([host.interfaceDefault(), host.tree.read('usb1', 'authorized_default')]).toEqual(['0', '0'])
  })

  it('see a device after its interfaces are open, unless its port is held', () => {
    const world = createWorld({ rules: [rule({ effect: 'allow', kinds: ['Mass Storage'] })] })
    world.plug(storageStick({ portPath: '1-2' }))
    world.plug(plainMouse({ portPath: '1-3' }))
    world.run()
    expect(world.told).toEqual(['withdraw 1-2', 'authorise 1-2', 'open 1-2', 'announce 1-2'])
    world.run()
    world.mismatching.add('1-4')
    world.plug(storageStick({ portPath: '1-4' }))
    world.run('1-4')
    expect(world.told.filter((line) => /announce|1-4/.test(line)).slice(1)).toEqual([
      'withdraw 1-4',
      'authorise 1-4',
      'open 1-4',
    ])
    expect(world.holds.list()).toMatchObject([{ portPath: '1-4', mismatch }])
  })
})
