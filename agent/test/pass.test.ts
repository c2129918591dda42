import { agentLimits, type PolicyRule } from '@portcullis/contract/agent-protocol.ts'
import { hub, plainKeyboard, plainMouse, rubberDucky, storageStick } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import type { Hold } from '../src/enforcement/holds.ts'
import { fingerprintOf, rule } from './enforcing.ts'
import { createWorld, mismatch, type World } from './passing.ts'

const keyboard = plainKeyboard({ portPath: '1-1' })
const other = plainKeyboard({ portPath: '1-5', product: 'other' })
const stick = storageStick({ portPath: '1-2' })
const mouse = plainMouse({ portPath: '1-3' })
const sticks = rule({ id: 'sticks', effect: 'allow', vid: '0781' })
const keyboards = rule({ id: 'keyboards', effect: 'allow', kinds: ['Keyboard'] })
const works = { authorized: true }

const fill = (world: World, count: number = agentLimits.heldPorts): void => {
  for (let n = 0; n < count; n++) {
    const scanned = { report: storageStick({ portPath: `9-${n}` }), instance: '1' }
    world.holds.add(world.evaluator.identify(scanned), mismatch)
  }
}

describe('a pass', () => {
  it('authorises allowed devices only', () => {
    const world = createWorld({ rules: [sticks] })
    world.plug(stick)
    world.plug(mouse)
    expect(world.run()).toEqual({ hasWritten: true, became: ['1-2 global +', '1-3 default'] })
    expect([world.writes, world.opened]).toEqual([['1-2=1'], ['1-2']])
    expect(world.logged).toEqual(['info device_authorized 1-2 global'])
    expect(world.run()).toEqual({ hasWritten: false, became: ['1-2 global +', '1-3 default'] })
    expect(world.writes).toHaveLength(1)
    // The bound drivers may change later, so they are checked again.
    expect(world.opened).toEqual(['1-2', '1-2'])
  })

  it('blocks working devices that are not allowed, children before their hub', () => {
    const world = createWorld({ rules: [rule({ effect: 'deny', kinds: ['Mouse', 'Mass Storage'] })] })
    world.plug(mouse, works)
    world.plug(storageStick({ portPath: '1-3.1' }), works)
    expect(world.run()).toEqual({ hasWritten: true, became: ['1-3 deny', '1-3.1 deny'] })
    expect(world.writes).toEqual(['1-3.1=0', '1-3=0'])
    expect(world.logged).toEqual(['info device_blocked 1-3.1 deny', 'info device_blocked 1-3 deny'])
    expect(world.run().hasWritten).toBe(false)
  })

  it('blocks no working device without a policy, and authorises hubs only', () => {
    const world = createWorld({ hasPolicy: false })
    world.plug(hub({ portPath: '1-1' }))
    world.plug(stick, works)
    world.plug(mouse)
    expect(world.run().became).toEqual(['1-1 hub +', '1-2 default +', '1-3 default'])
    expect(world.writes).toEqual(['1-1=1'])
  })

  it('skips removed devices', () => {
    const world = createWorld({ rules: [sticks] })
    world.plug(stick)
    world.refusals.set('1-2', { kind: 'gone' })
    expect(world.run()).toEqual({ hasWritten: false, became: ['1-2 global'] })
    expect([world.reported, world.opened, world.logged]).toEqual([[], [], []])
  })
})

describe('an exception of the implicit block', () => {
  it.each<[string, PolicyRule[], string]>([
    ['applies to a device that worked when the host was armed', [], '1-2 present +'],
    ['does not apply to a denied device', [rule({ effect: 'deny', vid: '0781' })], '1-2 deny'],
    ['is not used for a device that a rule allows', [sticks], '1-2 global +'],
  ])('%s', (_, rules, became) => {
    const world = createWorld({ rules })
    world.plug(stick)
    world.present.add(world.keyOf('1-2'))
    expect(world.run().became).toEqual([became])
  })

  it('is named in the log', () => {
    const world = createWorld()
    world.plug(stick)
    world.present.add(world.keyOf('1-2'))
    world.run()
    expect(world.logged).toEqual(['info device_authorized 1-2 present'])
  })

  it('does not apply to an attack tool', () => {
    const world = createWorld()
    world.plug(rubberDucky({ portPath: '1-2' }), works)
    world.present.add(world.keyOf('1-2'))
    world.bootPorts.add('1-2')
    expect(world.run().became).toEqual(['1-2 attack-tool'])
    world.plug(rubberDucky({ portPath: '1-2' }), works)
    world.pass.settleAll()
    expect(world.run().became).toEqual(['1-2 attack-tool'])
  })

  it('applies to a device that returns repeatedly with another firmware, until the rule is deleted', () => {
    const [before, after] = ['0100', '0200'].map((bcdDevice) => storageStick({ portPath: '1-2', bcdDevice }))
    if (before === undefined || after === undefined) return expect.unreachable()
    const exact = rule({ effect: 'allow', fingerprint: fingerprintOf(before) })
    const world = createWorld({ rules: [exact] })
    world.plug(before)
    expect(world.run().became).toEqual(['1-2 global +'])
    for (const instance of ['2', '3']) {
      world.now += 4 * 60_000
      world.plug(after, { instance })
      expect(world.run().became).toEqual(['1-2 recent +'])
    }
    world.use([])
    expect(world.run().became).toEqual(['1-2 default'])
  })

  it('applies to a device that was removed for less than five minutes, however long it worked before', () => {
    const [before, after] = ['0100', '0200'].map((bcdDevice) => storageStick({ portPath: '1-2', bcdDevice }))
    if (before === undefined || after === undefined) return expect.unreachable()
    const world = createWorld({ rules: [rule({ effect: 'allow', fingerprint: fingerprintOf(before) })] })
    world.plug(before)
    world.run()
    world.now += 10 * 60_000
    world.unplug('1-2')
    world.run()
    world.now += 4 * 60_000
    world.plug(after, { instance: '2' })
    expect(world.run().became).toEqual(['1-2 recent +'])
  })

  it('does not apply to a device that was allowed and never worked', () => {
    const world = createWorld({ rules: [sticks] })
    world.refusals.set('1-2', { kind: 'refused', reason: 'EIO' })
    world.plug(stick)
    world.run()
    expect(world.recent.list()).toEqual([])
  })

  it('for a present device does not make it a recent device', () => {
    const world = createWorld()
    world.plug(stick)
    world.present.add(world.keyOf('1-2'))
    world.run()
    expect(world.recent.list()).toEqual([])
    world.use([sticks])
    world.run()
    expect(world.recent.list()).toMatchObject([{ key: world.keyOf('1-2'), instance: '1' }])
  })
})

describe('a kernel that refuses', () => {
  it('gets three attempts per attachment and is reported once', () => {
    const world = createWorld({ rules: [sticks] })
    world.plug(stick)
    world.refusals.set('1-2', { kind: 'refused', reason: 'EIO' })
    for (let n = 0; n < 5; n++) expect(world.run()).toEqual({ hasWritten: false, became: ['1-2 global'] })
    expect(world.writes).toHaveLength(3)
    expect(world.reported).toEqual(['authorize_failed 1-2: EIO'])
    world.plug(stick, { instance: '2' })
    world.run()
    expect([world.writes.length, world.reported.length]).toEqual([4, 2])
    // The device was removed in between, so the old number is another attachment as well.
    world.plug(stick, { instance: '1' })
    world.run()
    expect([world.writes.length, world.reported.length]).toEqual([5, 3])
  })

  it('gets three new attempts after it accepted one', () => {
    const world = createWorld({ rules: [sticks] })
    world.refusals.set('1-2', { kind: 'refused', reason: 'EIO' })
    world.plug(stick)
    world.run()
    world.run()
    world.refusals.clear()
    world.run()
    world.refusals.set('1-2', { kind: 'refused', reason: 'EIO' })
    world.plug(stick)
    for (let n = 0; n < 5; n++) world.run()
    expect(world.writes).toHaveLength(6)
  })

  it('keeps its number of attempts over passes for other devices', () => {
    const world = createWorld({ rules: [sticks] })
    world.refusals.set('1-2', { kind: 'refused', reason: 'EIO' })
    world.plug(stick)
    world.plug(mouse)
    for (let n = 0; n < 5; n++) {
      world.run()
      world.run('1-3')
    }
    expect([world.writes.length, world.reported.length]).toEqual([3, 1])
  })

  it('makes a device unblockable, which is reported once', () => {
    const world = createWorld()
    world.plug(stick, works)
    world.refusals.set('1-2', { kind: 'refused', reason: 'EBUSY' })
    for (let n = 0; n < 2; n++) expect(world.run()).toEqual({ hasWritten: false, became: ['1-2 unblockable +'] })
    expect(world.reported).toEqual(['device_unblockable 1-2: the system did not block the device: EBUSY'])
    expect(world.logged).toEqual([])
    world.refusals.set('1-2', { kind: 'gone' })
    expect(world.run()).toEqual({ hasWritten: false, became: ['1-2 default +'] })
  })
})

describe('a device with a false claim', () => {
  const evidence = 'claims mass storage, bound rtl8150'

  it('is blocked, and its port is held for all devices until it is released', () => {
    const world = createWorld({ rules: [sticks] })
    world.mismatching.add('1-2')
    world.plug(stick)
    expect(world.run()).toEqual({ hasWritten: true, became: ['1-2 held global'] })
    expect(world.writes).toEqual(['1-2=1', '1-2=0'])
    expect(world.logged).toContain(`error driver_mismatch 1-2 ${evidence}`)
    expect([world.holds.list().length, world.reported]).toEqual([1, []])
    world.mismatching.clear()
    world.plug(storageStick({ portPath: '1-2', serial: 'other' }), { instance: '2' })
    expect(world.run()).toEqual({ hasWritten: false, became: ['1-2 held global'] })
    world.holds.clear()
    expect(world.run().became).toEqual(['1-2 global +'])
  })

  it('is detected while it works', () => {
    const world = createWorld({ rules: [sticks] })
    world.plug(stick)
    world.run()
    world.mismatching.add('1-2')
    expect(world.run()).toEqual({ hasWritten: true, became: ['1-2 held global'] })
  })

  it('gets no exception from the implicit block', () => {
    const world = createWorld({ rules: [sticks] })
    world.mismatching.add('1-2')
    world.plug(stick)
    world.run()
    world.use([])
    world.present.add(world.keyOf('1-2'))
    expect(world.run().became).toEqual(['1-2 held default'])
    world.holds.clear()
    world.mismatching.clear()
    expect(world.run().became).toEqual(['1-2 present +'])
  })

  it('keeps working if the system runs from it', () => {
    const world = createWorld({ rules: [sticks] })
    world.mismatching.add('1-2')
    world.bootPorts.add('1-2')
    world.plug(stick, works)
    expect(world.run()).toEqual({ hasWritten: true, became: ['1-2 held boot-disk +'] })
    expect(world.writes).toEqual([])
    expect(world.run().became).toEqual(['1-2 held boot-disk +'])
  })

  it('is blocked if no port can be held, and no further devices are authorised', () => {
    const world = createWorld({ rules: [sticks] })
    fill(world)
    world.mismatching.add('1-2')
    world.plug(stick, works)
    world.plug(storageStick({ portPath: '1-4' }))
    world.plug(storageStick({ portPath: '1-6' }), works)
    const full = { hasWritten: true, became: ['1-2 kept-out global', '1-4 kept-out global', '1-6 global +'] }
    expect(world.run()).toEqual(full)
    const says = (what: string) =>
      `held_ports_full 1-2: ${evidence}; ${what}. The host holds 64 ports. It authorises no further devices until an operator releases a port.`
    expect(world.reported).toEqual([says('the port cannot be held')])
    expect(world.run()).toEqual({ ...full, hasWritten: false })
    const [first] = world.holds.list() as [Hold]
    world.holds.release(first.id, false)
    expect(world.run().became).toEqual(['1-2 held global', '1-4 kept-out global', '1-6 global +'])
    expect([world.holds.isFull(), world.reported.length]).toEqual([true, 1])
  })

  it('is reported if its port is the last one that can be held', () => {
    const world = createWorld({ rules: [sticks] })
    fill(world, agentLimits.heldPorts - 1)
    world.mismatching.add('1-2')
    world.plug(stick)
    expect(world.run().became).toEqual(['1-2 held global'])
    expect(world.reported).toEqual([expect.stringContaining(`${evidence}; the port is held. The host holds 64 ports.`)])
  })
})

describe('the disk of the running system', () => {
  const deny = rule({ effect: 'deny', vid: '0781' })
  const printing = storageStick({ portPath: '1-2', interfaces: ['08:06:50', '07:01:02'] })
  it.each<[string, PolicyRule[], ReturnType<typeof storageStick>, string]>([
    ['is exempt from the implicit block', [], stick, '1-2 boot-disk +'],
    ['is exempt from the implicit block even if it is a printer, too', [], printing, '1-2 boot-disk +'],
    ['is exempt from a deny', [deny], stick, '1-2 boot-disk +'],
    ['is not exempt from a deny if it is more than a disk', [deny], printing, '1-2 deny'],
  ])('%s', (_, rules, device, became) => {
    const world = createWorld({ rules })
    world.bootPorts.add('1-2')
    world.plug(device, works)
    world.plug(storageStick({ portPath: '1-7' }), works)
    expect(world.run().became).toEqual([became, expect.stringMatching(/^1-7 (deny|default)$/)])
  })

  it('is not authorised if it does not work', () => {
    const world = createWorld()
    world.bootPorts.add('1-2')
    world.plug(stick)
    expect(world.run()).toEqual({ hasWritten: false, became: ['1-2 default'] })
  })
})

describe('the last keyboard', () => {
  const both = (world: World): void => {
    world.plug(keyboard, works)
    world.plug(other, works)
  }
  it.each<[string, (world: World) => void, PolicyRule[], string[]]>([
    ['keeps working', (w) => w.plug(keyboard, works), [], ['1-1 last-keyboard +']],
    ['is the first of two, and the second is blocked', both, [], ['1-1 last-keyboard +', '1-5 default']],
    [
      'is blocked if an allowed one works',
      both,
      [rule({ effect: 'allow', fingerprint: fingerprintOf(other) })],
      ['1-1 default', '1-5 global +'],
    ],
    ['is never a mouse', (w) => w.plug(mouse, works), [], ['1-3 default']],
    [
      'keeps working if only a mouse works as well',
      (w) => {
        w.plug(keyboard, works)
        w.plug(mouse, works)
      },
      [rule({ effect: 'allow', vid: '046D', pid: 'C077' })],
      ['1-1 last-keyboard +', '1-3 global +'],
    ],
    [
      'is blocked if a rule denies it',
      (w) => w.plug(keyboard, works),
      [rule({ effect: 'deny', kinds: ['Keyboard'] })],
      ['1-1 deny'],
    ],
    [
      'is blocked if the host has another keyboard',
      (w) => {
        w.plug(keyboard, works)
        w.otherKeyboards = 1
      },
      [],
      ['1-1 default'],
    ],
    [
      'is blocked if the policy does not keep it',
      (w) => {
        w.plug(keyboard, works)
        w.sparesLastKeyboard = false
      },
      [],
      ['1-1 default'],
    ],
    ['is not authorised if it does not work', (w) => w.plug(keyboard), [], ['1-1 default']],
    [
      'is not needed if allowed keyboards work',
      (w) => {
        w.plug(keyboard, works)
        w.plug(other)
      },
      [keyboards],
      ['1-1 global +', '1-5 global +'],
    ],
  ])('%s', (_, prepare, rules, became) => {
    const world = createWorld({ rules })
    prepare(world)
    expect(world.run().became).toEqual(became)
  })

  it('must have worked before this pass or at arming', () => {
    const world = createWorld()
    world.run()
    world.plug(keyboard, works)
    expect(world.run().became).toEqual(['1-1 default'])
    world.plug(keyboard, works)
    world.pass.settleAll()
    expect(world.run().became).toEqual(['1-1 last-keyboard +'])
    expect(world.run().became).toEqual(['1-1 last-keyboard +'])
    world.plug(keyboard, { ...works, instance: '2' })
    expect(world.run().became).toEqual(['1-1 default'])
  })

  it('can have been authorised since the last full pass', () => {
    const world = createWorld({ rules: [keyboards] })
    world.run()
    world.plug(keyboard)
    expect(world.run('1-1')).toEqual({ hasWritten: true, became: ['1-1 global +'] })
    world.use([])
    expect(world.run().became).toEqual(['1-1 last-keyboard +'])
  })

  it('is never one that was attached and did not work', () => {
    const world = createWorld()
    world.plug(keyboard)
    world.run()
    world.plug(keyboard, works)
    expect(world.run().became).toEqual(['1-1 default'])
  })

  it('keeps working at the first pass after arming, full or partial', () => {
    const world = createWorld()
    world.plug(keyboard, works)
    expect([world.run('1-1').became, world.run().became]).toEqual([['1-1 last-keyboard +'], ['1-1 last-keyboard +']])
  })

  it('is never one at a held port', () => {
    const world = createWorld({ rules: [keyboards] })
    world.plug(keyboard)
    world.mismatching.add('1-1')
    world.run()
    world.use([])
    world.plug(keyboard, works)
    world.pass.settleAll()
    expect(world.run().became).toEqual(['1-1 held default'])
  })
})

describe('input of a Windows host', () => {
  it('keeps its last pointing device, unless another one works', () => {
    for (const [otherPointers, became] of [
      [0, '1-3 last-pointing-device +'],
      [1, '1-3 default'],
    ] as const) {
      const world = createWorld({ otherPointers })
      world.plug(mouse, works)
      expect([otherPointers, world.run().became]).toEqual([otherPointers, [became]])
    }
    const world = createWorld({ otherPointers: 0 })
    world.plug(stick, works)
    expect(world.run().became).toEqual(['1-2 default'])
  })

  it('keeps the adapter of paired devices, unless a rule denies it', () => {
    const world = createWorld()
    world.inputRadios.add('1-2')
    world.plug(stick, works)
    world.plug(storageStick({ portPath: '1-6', product: 'other' }), works)
    expect(world.run().became).toEqual(['1-2 bluetooth-input +', '1-6 default'])
    world.use([rule({ effect: 'deny', vid: '0781' })])
    expect(world.run().became).toEqual(['1-2 deny', '1-6 deny'])
  })
})
