import { hub, plainKeyboard, plainMouse, storageStick, webcam } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { OWN_KEY, RESTRICTIONS } from '../src/platform/windows/enforcement/restriction-keys.ts'
import { MAX_ALLOWED } from '../src/platform/windows/enforcement/restrictions.ts'
import { textOf, textValue } from '../src/platform/windows/registry.ts'
import { rule } from './enforcing.ts'
import { heldPolicy } from './passing.ts'
import { createWindowsHost, type WindowsHost } from './windows-host.ts'

const stick = storageStick({ portPath: '1-2' })
const allowSticks = rule({ effect: 'allow', kinds: ['Mass Storage'] })
const denySticks = rule({ effect: 'deny', kinds: ['Mass Storage'] })

const list = ({ memoryRegistry }: WindowsHost, name: string) =>
  memoryRegistry.registry
    .list(`${RESTRICTIONS}\\${name}`)
    .map((value) => textOf(value))
    .sort()
const allowed = (host: WindowsHost) => list(host, 'AllowInstanceIDs')

describe('an armed Windows host', () => {
  it('installs no new device before it is allowed, and allows it within one pass', () => {
    const host = createWindowsHost()
    host.arm([])
    host.plug(stick)
    host.settle()
    expect(host.machine.works('1-2')).toBe(false)
    expect(host.machine.installed).toEqual([])
    expect(host.enforcer().enforced(stick)).toMatchObject({ effect: 'block', source: 'default' })
    host.enforcer().usePolicy(heldPolicy([allowSticks]))
    expect(host.machine.works('1-2')).toBe(true)
    expect(allowed(host)).toEqual([host.machine.instanceIdOf('1-2')])
  })

  it('lists exactly the allowed devices, including those that worked before, and removes the others', () => {
    const host = createWindowsHost()
    host.plug(stick)
    host.plug(webcam({ portPath: '1-3' }))
    host.arm([allowSticks], true)
    expect(allowed(host)).toEqual([host.machine.instanceIdOf('1-2')])
    expect(host.machine.works('1-3')).toBe(false)
    expect(host.machine.phantoms()).toEqual([])
  })

  it('keeps devices that were attached at arming, and those behind hubs', () => {
    const host = createWindowsHost()
    host.plug(hub({ portPath: '1-1' }))
    host.plug(storageStick({ portPath: '1-1.2' }))
    host.arm([])
    expect(host.machine.works('1-1.2')).toBe(true)
    expect(host.enforcer().enforced(storageStick({ portPath: '1-1.2' }))?.guard).toBe('present')
    // A dock that is attached later works without a rule, and without the agent.
    host.machine.plug(hub({ portPath: '1-4' }))
    expect(host.machine.works('1-4')).toBe(true)
  })

  it('uninstalls devices that Windows knew before, so that Windows treats them as new', () => {
    const host = createWindowsHost()
    host.machine.addPhantom(stick)
    expect(host.machine.phantoms()).not.toEqual([])
    host.arm([])
    expect(host.machine.phantoms()).toEqual([])
    host.machine.started.length = 0
    host.plug(stick)
    expect(host.machine.started).toEqual([])
  })

  it('uninstalls a detached device when its approval ends', () => {
    const host = createWindowsHost()
    host.arm([allowSticks])
    host.plug(stick)
    host.settle()
    const id = host.machine.instanceIdOf('1-2')
    host.machine.unplug('1-2')
    host.settle()
    // It works again without the agent as long as the policy allows it.
    expect(allowed(host)).toEqual([id])
    host.enforcer().usePolicy(heldPolicy([]))
    expect(allowed(host)).toEqual([])
    expect(host.machine.phantoms()).toEqual([])
    host.plug(stick)
    expect(host.machine.works('1-2')).toBe(false)
  })

  it('removes 100 detached devices in several passes and reports when it is done', () => {
    const host = createWindowsHost()
    for (let i = 0; i < 100; i++) host.machine.addPhantom(storageStick({ portPath: '1-2', serial: `S${i}` }))
    host.arm([])
    for (let i = 0; i < 20 && host.gate().isUnsettled?.() === true; i++) host.enforcer().tick()
    expect(host.gate().isUnsettled?.()).toBe(false)
    expect(host.machine.phantoms()).toEqual([])
  })

  it('gives no driver to devices that their hub reports as built-in', () => {
    const host = createWindowsHost()
    host.arm([])
    host.machine.started.length = 0
    host.plug(webcam({ portPath: '1-3', removable: 'fixed' }))
    expect(host.machine.started).toEqual([])
    host.settle()
    host.machine.restart()
    expect(host.machine.works('1-3')).toBe(false)
    host.enforcer().usePolicy(heldPolicy([rule({ effect: 'allow', kinds: ['Video', 'Audio'] })]))
    expect(host.machine.works('1-3')).toBe(true)
  })

  it('gives no driver to a keyboard behind a hub that an attacker brings, even without the agent', () => {
    const host = createWindowsHost()
    host.arm([])
    host.machine.started.length = 0
    host.plug(hub({ portPath: '1-4' }))
    host.plug(plainKeyboard({ portPath: '1-4.1', removable: 'fixed' }))
    expect(host.machine.works('1-4')).toBe(true)
    expect(host.machine.works('1-4.1')).toBe(false)
    expect(host.machine.started).toEqual([host.machine.instanceIdOf('1-4')])
  })

  it('allows the functions of a device by name if Windows treats them as removable', () => {
    const host = createWindowsHost({ areChildrenRemovable: true })
    host.arm([rule({ effect: 'allow', kinds: ['Video', 'Audio'] })])
    host.plug(webcam({ portPath: '1-3' }))
    host.settle()
    const working = host.machine.nodes().filter(({ instanceId }) => instanceId?.includes('&MI_'))
    expect(working.length).toBeGreaterThan(1)
    expect(allowed(host)).toHaveLength(working.length + 1)
    expect(host.machine.works('1-3')).toBe(true)
  })

  it('turns a switch that another program changed on again, and restores that value when freed', () => {
    const host = createWindowsHost()
    host.arm([allowSticks])
    const { registry } = host.memoryRegistry
    registry.writeDword(RESTRICTIONS, 'DenyRemovableDevices', 0)
    host.enforcer().tick()
    expect(registry.readDword(RESTRICTIONS, 'DenyRemovableDevices')).toBe(1)
    expect(host.gate().grade()).toMatchObject({
      grade: 'observe',
      reason: expect.stringContaining('"DenyRemovableDev'),
    })
    host.enforcer().free('')
    expect(registry.readDword(RESTRICTIONS, 'DenyRemovableDevices')).toBe(0)
    expect(host.gate().grade()).toMatchObject({ grade: 'before-install' })
  })

  it('drops the oldest detached devices when its list is full', () => {
    const host = createWindowsHost()
    host.arm([allowSticks])
    host.plug(stick)
    host.settle()
    const { registry } = host.memoryRegistry
    const devices = `${OWN_KEY}\\Devices` as const
    const record = registry.readText(devices, host.machine.instanceIdOf('1-2')) ?? ''
    for (let i = 1; i < MAX_ALLOWED; i++) registry.writeText(devices, `USB\\VID_0781&PID_5581\\S${i}`, record)
    host.restart([allowSticks])
    expect(allowed(host)).toHaveLength(MAX_ALLOWED)
    host.plug(storageStick({ portPath: '1-3', serial: 'NEW' }))
    host.settle()
    expect(host.machine.works('1-3')).toBe(true)
    expect(allowed(host)).toHaveLength(MAX_ALLOWED)
    expect(allowed(host)).not.toContain('USB\\VID_0781&PID_5581\\S1')
    expect(allowed(host)).toContain(host.machine.instanceIdOf('1-2'))
  })

  it('stays armed without an agent and after a restart, and reverts without contact if its order says so', () => {
    const host = createWindowsHost()
    const before = host.everything()
    host.arm([], false, 10)
    host.enforcer().stop()
    host.machine.restart()
    host.plug(stick)
    expect(host.machine.works('1-2')).toBe(false)
    host.restart([])
    expect(host.machine.works('1-2')).toBe(false)
    host.pass(10 * 60_000)
    host.enforcer().tick()
    expect(host.enforcer().isArmed()).toBe(false)
    expect(host.machine.works('1-2')).toBe(true)
    expect(host.everything()).toEqual(before)
  })
})

describe('Group Policy that arrives while a Windows host is armed', () => {
  const OTHER = 'USB\\VID_1234&PID_5678\\X'
  const setList = ({ memoryRegistry: { registry } }: WindowsHost, name: string, ids: readonly string[]): void => {
    const key = `${RESTRICTIONS}\\${name}` as const
    for (const value of registry.list(key)) registry.remove(key, value.name)
    for (const [i, id] of ids.entries()) registry.writeText(key, String(i + 1), id)
    registry.writeDword(RESTRICTIONS, name, 1)
  }

  it('keeps its list with the entries of the agent, is named by the grade, and outlasts the agent', () => {
    const host = createWindowsHost()
    host.arm([allowSticks])
    host.plug(stick)
    host.settle()
    const ours = host.machine.instanceIdOf('1-2')
    setList(host, 'AllowInstanceIDs', [OTHER])
    host.enforcer().tick()
    expect(allowed(host)).toEqual([ours, OTHER].sort())
    expect(host.gate().open()).toEqual([])
    const { grade, reason } = host.gate().grade()
    expect(grade).toBe('observe')
    expect(reason).toContain(`"1" of ${RESTRICTIONS}\\AllowInstanceIDs is set by Group Policy`)
    host.enforcer().usePolicy(heldPolicy([]))
    expect(allowed(host)).toEqual([OTHER])
    host.enforcer().free('')
    const { registry } = host.memoryRegistry
    expect(registry.list(RESTRICTIONS).map(({ name }) => name)).toEqual(['AllowInstanceIDs'])
    expect(registry.readDword(RESTRICTIONS, 'AllowInstanceIDs')).toBe(1)
    expect(allowed(host)).toEqual([OTHER])
    expect(registry.keys('HKLM\\Software')).not.toContain('PortcullisEnforcement')
  })

  it('leaves nothing behind after it is withdrawn, and the grade recovers', () => {
    const host = createWindowsHost()
    const before = host.everything()
    host.arm([denySticks])
    setList(host, 'DenyInstanceIDs', [OTHER])
    host.enforcer().tick()
    expect(host.gate().grade()).toMatchObject({
      grade: 'observe',
      reason: expect.stringContaining('"DenyInstanceIDs"'),
    })
    const { registry } = host.memoryRegistry
    registry.remove(RESTRICTIONS, 'DenyInstanceIDs')
    registry.removeTree(`${RESTRICTIONS}\\DenyInstanceIDs`)
    host.enforcer().tick()
    expect(host.gate().grade()).toMatchObject({ grade: 'before-install' })
    host.enforcer().free('')
    expect(host.everything()).toEqual(before)
  })

  it('cannot allow a device that the policy of the host blocks', () => {
    const host = createWindowsHost()
    host.arm([])
    host.plug(stick)
    host.settle()
    setList(host, 'AllowInstanceIDs', [host.machine.instanceIdOf('1-2')])
    host.machine.restart()
    expect(host.machine.works('1-2')).toBe(true)
    host.settle()
    expect(host.machine.works('1-2')).toBe(false)
    host.machine.restart()
    expect(host.machine.works('1-2')).toBe(false)
    host.enforcer().free('')
    expect(list(host, 'DenyInstanceIDs')).toEqual([])
    expect(allowed(host)).toEqual([host.machine.instanceIdOf('1-2')])
  })

  it('keeps a deny list with classes that the list of the agent also contains', () => {
    const host = createWindowsHost()
    host.arm([])
    setList(host, 'DenyDeviceIDs', ['USB\\Class_08', 'USB\\Class_0E'])
    host.enforcer().tick()
    expect(new Set(list(host, 'DenyDeviceIDs')).size).toBe(258)
    host.enforcer().free('')
    expect(list(host, 'DenyDeviceIDs')).toEqual(['USB\\Class_08', 'USB\\Class_0E'])
    expect(host.memoryRegistry.registry.readDword(RESTRICTIONS, 'DenyDeviceIDs')).toBe(1)
  })
})

describe('an agent that was killed after it uninstalled a device', () => {
  /** The hub has not reported the device again, so Windows does not list it. */
  const killed = () => {
    const host = createWindowsHost()
    host.plug(stick)
    const { rescan } = host.machine.calls
    host.machine.calls.rescan = () => ({ code: 0 })
    host.arm([denySticks])
    expect(host.gate().isAuthorized('1-2')).toBeUndefined()
    host.machine.calls.rescan = rescan
    return host
  }

  it('reports the device as blocked after its next start', () => {
    const host = killed()
    host.restart([denySticks])
    expect(host.gate().isAuthorized('1-2')).toBe(false)
    expect(host.enforcer().enforced(stick)).toMatchObject({ effect: 'block', source: 'deny' })
  })

  it('brings the device back when the host is freed', () => {
    const host = killed()
    host.enforcer().free('')
    expect(host.machine.works('1-2')).toBe(true)
  })
})

describe('a registry that cannot be read', () => {
  it('does not stop the inventory, and keeps the host from being armed', () => {
    const host = createWindowsHost()
    host.plug(stick)
    host.memoryRegistry.refuse('HKLM\\Software', ['query', 'values', 'keys'])
    expect(host.gate().isAuthorized('1-2')).toBe(true)
    expect(host.gate().grade()).toMatchObject({ grade: 'observe', reason: expect.stringContaining('denied access') })
    expect(() => host.arm([])).toThrow('cannot read the registry')
    host.settle()
    expect(host.machine.works('1-2')).toBe(true)
  })
})

describe('calls of Windows that do not do what they report', () => {
  it.each([
    ['lies', { uninstall: 'lie' }],
    ['needs a restart', { uninstall: 'restart' }],
    ['is vetoed', { uninstall: 'veto' }],
    ['is denied', { uninstall: 'denied' }],
  ] as const)('are noticed, and the device is stopped in another way, if an uninstallation %s', (_, quirks) => {
    const host = createWindowsHost()
    host.plug(stick, quirks)
    host.arm([denySticks])
    expect(host.machine.works('1-2')).toBe(false)
    expect(host.enforcer().enforced(stick)?.guard).toBeUndefined()
    host.machine.restart()
    expect(host.machine.works('1-2')).toBe(false)
    host.enforcer().free('')
    expect(host.machine.works('1-2')).toBe(true)
  })

  it.each(['refused', 'veto', 'restart', 'lie'] as const)(
    'are reported once if the device still works (disabling: %s), and each attempt is made three times',
    (disable) => {
      const host = createWindowsHost()
      host.plug(stick, { uninstall: 'lie', disable })
      host.arm([denySticks])
      host.settle()
      const changes = host.changes()
      host.settle()
      host.settle()
      expect(host.changes()).toBe(changes)
      expect(host.machine.works('1-2')).toBe(true)
      expect(host.enforcer().enforced(stick)).toMatchObject({ effect: 'block', guard: 'unblockable' })
      expect(host.reported.filter((text) => text.startsWith('device_unblockable'))).toHaveLength(1)
      expect(allowed(host)).toEqual([])
    },
  )

  it('are reported if an allowed device is not installed in time', () => {
    const host = createWindowsHost()
    host.arm([allowSticks])
    host.plug(stick, { install: 'lie' })
    host.settle()
    expect(host.gate().isUnsettled?.()).toBe(true)
    host.pass(60_000)
    host.enforcer().tick()
    expect(host.reported).toEqual([expect.stringContaining('has not installed USB\\VID_0781')])
    expect(host.gate().isUnsettled?.()).toBe(false)
  })

  it('are reported if an old device cannot be removed', () => {
    const host = createWindowsHost()
    host.machine.addPhantom(stick)
    const { uninstall } = host.machine.calls
    host.machine.calls.uninstall = () => ({ code: 0 })
    host.arm([])
    host.settle()
    expect(host.reported).toEqual([expect.stringContaining('did not remove USB\\VID_0781')])
    host.machine.calls.uninstall = uninstall
  })

  it('do not arm the host if the registry does not keep the values', () => {
    const host = createWindowsHost()
    const before = host.everything()
    host.memoryRegistry.lie(RESTRICTIONS, 'DenyRemovableDevices', undefined)
    expect(() => host.arm([])).toThrow('DeviceInstall')
    expect(host.enforcer().isArmed()).toBe(false)
    expect(host.everything()).toEqual(before)
  })

  it('show that Windows applies the restrictions only at its restart', () => {
    const host = createWindowsHost({ reads: 'at-restart' })
    host.arm([denySticks])
    host.plug(stick)
    host.settle()
    // Windows installed it, so the agent blocked it afterwards.
    expect(host.machine.installed).not.toEqual([])
    expect(host.machine.works('1-2')).toBe(false)
    host.machine.restart()
    expect(host.machine.works('1-2')).toBe(false)
  })
})

describe('the grade of a Windows host', () => {
  const KEY = 'HKLM\\Software\\Microsoft\\Windows NT\\CurrentVersion'
  const grade = (write: (registry: WindowsHost['memoryRegistry']['registry']) => void) => {
    const host = createWindowsHost()
    write(host.memoryRegistry.registry)
    const before = host.everything()
    const result = host.gate().grade()
    expect(host.everything()).toEqual(before)
    return result
  }

  it('is before-install on a supported Windows without other restrictions', () => {
    expect(grade(() => undefined)).toEqual({ grade: 'before-install', reason: '' })
    expect(
      grade((registry) => {
        registry.writeText(KEY, 'CurrentBuildNumber', '19041')
        registry.writeDword(KEY, 'UBR', 1151)
      }),
    ).toEqual({ grade: 'before-install', reason: '' })
  })

  it.each([
    ['Home', 'EditionID', textValue('CoreSingleLanguage'), 'Windows Home'],
    ['a build without instance IDs', 'CurrentBuildNumber', textValue('17763'), 'build 17763'],
    ['an unknown build', 'CurrentBuildNumber', textValue('x'), 'build unknown'],
  ])('is observe on %s', (_, name, value, text) => {
    const { grade: name2, reason } = grade((registry) => registry.write(KEY, name, value))
    expect(name2).toBe('observe')
    expect(reason).toContain(text)
  })

  it('is observe on a build before the update with layered restrictions', () => {
    expect(
      grade((registry) => {
        registry.writeText(KEY, 'CurrentBuildNumber', '19043')
        registry.writeDword(KEY, 'UBR', 1110)
      }).reason,
    ).toContain('19043.1110')
  })

  it('is observe with the reason, and arming fails, if Group Policy sets a restriction', () => {
    const host = createWindowsHost()
    host.memoryRegistry.registry.writeDword(RESTRICTIONS, 'DenyDeviceIDs', 1)
    expect(host.gate().grade()).toMatchObject({ grade: 'observe', reason: expect.stringContaining('"DenyDeviceIDs"') })
    expect(() => host.arm([])).toThrow('DenyDeviceIDs')
  })

  it('is observe without the right to write', () => {
    const host = createWindowsHost()
    host.memoryRegistry.refuse('HKLM\\Software', ['set'])
    expect(host.gate().grade()).toMatchObject({ grade: 'observe', reason: expect.stringContaining('LocalSystem') })
  })
})

describe('guards of a Windows host', () => {
  it('keep the last pointing device unless another one works', () => {
    const mouse = plainMouse({ portPath: '1-5' })
    const host = createWindowsHost()
    host.restart(undefined, { otherKeyboards: () => 1, otherPointers: () => 0, bootPorts: () => new Set() })
    host.plug(mouse)
    host.arm([], true)
    expect(host.machine.works('1-5')).toBe(true)
    expect(host.enforcer().enforced(mouse)?.guard).toBe('last-pointing-device')
    // A pointing device that was just attached is never kept.
    host.plug(plainMouse({ portPath: '1-6' }))
    host.settle()
    expect(host.machine.works('1-6')).toBe(false)
  })

  it('keep a receiver with keyboard and pointing device, and a Bluetooth adapter with input devices', () => {
    const receiver = plainKeyboard({ portPath: '1-5' })
    const radio = webcam({ portPath: '1-7' })
    const host = createWindowsHost()
    host.restart(undefined, {
      otherKeyboards: () => 0,
      otherPointers: () => 1,
      bootPorts: () => new Set(),
      inputRadios: () => new Set(['1-7']),
    })
    host.plug(receiver)
    host.plug(radio)
    host.arm([], true)
    expect(host.enforcer().enforced(receiver)?.guard).toBe('last-keyboard')
    expect(host.enforcer().enforced(radio)?.guard).toBe('bluetooth-input')
    host.enforcer().usePolicy(heldPolicy([rule({ effect: 'deny', kinds: ['Video'] })]))
    expect(host.machine.works('1-7')).toBe(false)
  })
})
