import { agentLimits, type PolicyRule } from '@portcullis/contract/agent-protocol'
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
    world.holds.add(world.judge.identify(scanned), mismatch)
  }
}

describe('a look at the devices', () => {
  it('lets in what is allowed and leaves out what is not', () => {
    const world = createWorld({ rules: [sticks] })
    world.plug(stick)
    world.plug(mouse)
    expect(world.look()).toEqual({ hasWritten: true, became: ['1-2 global +', '1-3 default'] })
    expect([world.writes, world.opened]).toEqual([['1-2=1'], ['1-2']])
    expect(world.logged).toEqual(['info device_authorized 1-2 global'])
    expect(world.look()).toEqual({ hasWritten: false, became: ['1-2 global +', '1-3 default'] })
    expect(world.writes).toHaveLength(1)
    // What the kernel bound may change later.
    expect(world.opened).toEqual(['1-2', '1-2'])
  })

  it('takes away what works and is not allowed, what hangs on a hub before the hub', () => {
    const world = createWorld({ rules: [rule({ effect: 'deny', kinds: ['Mouse', 'Mass Storage'] })] })
    world.plug(mouse, works)
    world.plug(storageStick({ portPath: '1-3.1' }), works)
    expect(world.look()).toEqual({ hasWritten: true, became: ['1-3 deny', '1-3.1 deny'] })
    expect(world.writes).toEqual(['1-3.1=0', '1-3=0'])
    expect(world.logged).toEqual(['info device_blocked 1-3.1 deny', 'info device_blocked 1-3 deny'])
    expect(world.look().hasWritten).toBe(false)
  })

  it('takes nothing away without a policy, and lets in hubs only', () => {
    const world = createWorld({ hasPolicy: false })
    world.plug(hub({ portPath: '1-1' }))
    world.plug(stick, works)
    world.plug(mouse)
    expect(world.look().became).toEqual(['1-1 hub +', '1-2 default +', '1-3 default'])
    expect(world.writes).toEqual(['1-1=1'])
  })

  it('does not look at what is gone', () => {
    const world = createWorld({ rules: [sticks] })
    world.plug(stick)
    world.refusals.set('1-2', { kind: 'gone' })
    expect(world.look()).toEqual({ hasWritten: false, became: ['1-2 global'] })
    expect([world.told, world.opened, world.logged]).toEqual([[], [], []])
  })
})

describe('what the implicit block spares', () => {
  it.each<[string, PolicyRule[], string]>([
    ['a device that worked when the host was armed', [], '1-2 present +'],
    ['not one that is denied', [rule({ effect: 'deny', vid: '0781' })], '1-2 deny'],
    ['not one that a rule allows: it needs no exception', [sticks], '1-2 global +'],
  ])('%s', (_, rules, became) => {
    const world = createWorld({ rules })
    world.plug(stick)
    world.present.add(world.keyOf('1-2'))
    expect(world.look().became).toEqual([became])
  })

  it('names the guard in the log', () => {
    const world = createWorld()
    world.plug(stick)
    world.present.add(world.keyOf('1-2'))
    world.look()
    expect(world.logged).toEqual(['info device_authorized 1-2 present'])
  })

  it('not an attack tool', () => {
    const world = createWorld()
    world.plug(rubberDucky({ portPath: '1-2' }), works)
    world.present.add(world.keyOf('1-2'))
    world.bootPorts.add('1-2')
    expect(world.look().became).toEqual(['1-2 attack-tool'])
    world.plug(rubberDucky({ portPath: '1-2' }), works)
    world.pass.settleAll()
    expect(world.look().became).toEqual(['1-2 attack-tool'])
  })

  it('a device that comes back with another firmware, again and again, until the rule ends', () => {
    const [before, after] = ['0100', '0200'].map((bcdDevice) => storageStick({ portPath: '1-2', bcdDevice }))
    if (before === undefined || after === undefined) return expect.unreachable()
    const exact = rule({ effect: 'allow', fingerprint: fingerprintOf(before) })
    const world = createWorld({ rules: [exact] })
    world.plug(before)
    expect(world.look().became).toEqual(['1-2 global +'])
    for (const instance of ['2', '3']) {
      world.now += 4 * 60_000
      world.plug(after, { instance })
      expect(world.look().became).toEqual(['1-2 recent +'])
    }
    world.use([])
    expect(world.look().became).toEqual(['1-2 default'])
  })

  it('a device that was gone for less than five minutes, however long it worked before', () => {
    const [before, after] = ['0100', '0200'].map((bcdDevice) => storageStick({ portPath: '1-2', bcdDevice }))
    if (before === undefined || after === undefined) return expect.unreachable()
    const world = createWorld({ rules: [rule({ effect: 'allow', fingerprint: fingerprintOf(before) })] })
    world.plug(before)
    world.look()
    world.now += 10 * 60_000
    world.unplug('1-2')
    world.look()
    world.now += 4 * 60_000
    world.plug(after, { instance: '2' })
    expect(world.look().became).toEqual(['1-2 recent +'])
  })

  it('not what was allowed and never worked', () => {
    const world = createWorld({ rules: [sticks] })
    world.refusals.set('1-2', { kind: 'refused', reason: 'EIO' })
    world.plug(stick)
    world.look()
    expect(world.recent.list()).toEqual([])
  })

  it('not what was present only: it is not remembered as recent', () => {
    const world = createWorld()
    world.plug(stick)
    world.present.add(world.keyOf('1-2'))
    world.look()
    expect(world.recent.list()).toEqual([])
    world.use([sticks])
    world.look()
    expect(world.recent.list()).toMatchObject([{ key: world.keyOf('1-2'), instance: '1' }])
  })
})

describe('a kernel that refuses', () => {
  it('is asked three times per attachment, and told of once', () => {
    const world = createWorld({ rules: [sticks] })
    world.plug(stick)
    world.refusals.set('1-2', { kind: 'refused', reason: 'EIO' })
    for (let n = 0; n < 5; n++) expect(world.look()).toEqual({ hasWritten: false, became: ['1-2 global'] })
    expect(world.writes).toHaveLength(3)
    expect(world.told).toEqual(['authorize_failed 1-2: EIO'])
    world.plug(stick, { instance: '2' })
    world.look()
    expect([world.writes.length, world.told.length]).toEqual([4, 2])
    // It was gone in between, so the old number is another attachment, too.
    world.plug(stick, { instance: '1' })
    world.look()
    expect([world.writes.length, world.told.length]).toEqual([5, 3])
  })

  it('is asked three times again after it once accepted', () => {
    const world = createWorld({ rules: [sticks] })
    world.refusals.set('1-2', { kind: 'refused', reason: 'EIO' })
    world.plug(stick)
    world.look()
    world.look()
    world.refusals.clear()
    world.look()
    world.refusals.set('1-2', { kind: 'refused', reason: 'EIO' })
    world.plug(stick)
    for (let n = 0; n < 5; n++) world.look()
    expect(world.writes).toHaveLength(6)
  })

  it('keeps the count over looks at other devices', () => {
    const world = createWorld({ rules: [sticks] })
    world.refusals.set('1-2', { kind: 'refused', reason: 'EIO' })
    world.plug(stick)
    world.plug(mouse)
    for (let n = 0; n < 5; n++) {
      world.look()
      world.look('1-3')
    }
    expect([world.writes.length, world.told.length]).toEqual([3, 1])
  })

  it('leaves a device working that it does not take away: it is told once', () => {
    const world = createWorld()
    world.plug(stick, works)
    world.refusals.set('1-2', { kind: 'refused', reason: 'EBUSY' })
    for (let n = 0; n < 2; n++) expect(world.look()).toEqual({ hasWritten: false, became: ['1-2 unblockable +'] })
    expect(world.told).toEqual(['device_unblockable 1-2: the kernel did not take it away: EBUSY'])
    expect(world.logged).toEqual([])
    world.refusals.set('1-2', { kind: 'gone' })
    expect(world.look()).toEqual({ hasWritten: false, became: ['1-2 default +'] })
  })
})

describe('a device that is not what it claims', () => {
  const evidence = 'claims mass storage, bound rtl8150'

  it('is taken away, and its port is held: for every device there, until it is released', () => {
    const world = createWorld({ rules: [sticks] })
    world.lying.add('1-2')
    world.plug(stick)
    expect(world.look()).toEqual({ hasWritten: true, became: ['1-2 held global'] })
    expect(world.writes).toEqual(['1-2=1', '1-2=0'])
    expect(world.logged).toContain(`error driver_mismatch 1-2 ${evidence}`)
    expect([world.holds.list().length, world.told]).toEqual([1, []])
    world.lying.clear()
    world.plug(storageStick({ portPath: '1-2', serial: 'other' }), { instance: '2' })
    expect(world.look()).toEqual({ hasWritten: false, became: ['1-2 held global'] })
    world.holds.clear()
    expect(world.look().became).toEqual(['1-2 global +'])
  })

  it('is found out while it works', () => {
    const world = createWorld({ rules: [sticks] })
    world.plug(stick)
    world.look()
    world.lying.add('1-2')
    expect(world.look()).toEqual({ hasWritten: true, became: ['1-2 held global'] })
  })

  it('has no exception of the implicit block', () => {
    const world = createWorld({ rules: [sticks] })
    world.lying.add('1-2')
    world.plug(stick)
    world.look()
    world.use([])
    world.present.add(world.keyOf('1-2'))
    expect(world.look().became).toEqual(['1-2 held default'])
    world.holds.clear()
    world.lying.clear()
    expect(world.look().became).toEqual(['1-2 present +'])
  })

  it('is left working if the system runs from it', () => {
    const world = createWorld({ rules: [sticks] })
    world.lying.add('1-2')
    world.bootPorts.add('1-2')
    world.plug(stick, works)
    expect(world.look()).toEqual({ hasWritten: true, became: ['1-2 held boot-disk +'] })
    expect(world.writes).toEqual([])
    expect(world.look().became).toEqual(['1-2 held boot-disk +'])
  })

  it('is authorised if no port can be held only as long as nobody knows; no further device is', () => {
    const world = createWorld({ rules: [sticks] })
    fill(world)
    world.lying.add('1-2')
    world.plug(stick, works)
    world.plug(storageStick({ portPath: '1-4' }))
    world.plug(storageStick({ portPath: '1-6' }), works)
    const full = { hasWritten: true, became: ['1-2 kept-out global', '1-4 kept-out global', '1-6 global +'] }
    expect(world.look()).toEqual(full)
    const says = (what: string) =>
      `held_ports_full 1-2: ${evidence}; ${what}. The host holds 64 ports. It authorises no further device until a person releases a port.`
    expect(world.told).toEqual([says('the port cannot be held')])
    expect(world.look()).toEqual({ ...full, hasWritten: false })
    const [first] = world.holds.list() as [Hold]
    world.holds.release(first.id, false)
    expect(world.look().became).toEqual(['1-2 held global', '1-4 kept-out global', '1-6 global +'])
    expect([world.holds.isFull(), world.told.length]).toEqual([true, 1])
  })

  it('takes the last place: that is told', () => {
    const world = createWorld({ rules: [sticks] })
    fill(world, agentLimits.heldPorts - 1)
    world.lying.add('1-2')
    world.plug(stick)
    expect(world.look().became).toEqual(['1-2 held global'])
    expect(world.told).toEqual([expect.stringContaining(`${evidence}; the port is held. The host holds 64 ports.`)])
  })
})

describe('the disk that the system runs from', () => {
  const deny = rule({ effect: 'deny', vid: '0781' })
  const printing = storageStick({ portPath: '1-2', interfaces: ['08:06:50', '07:01:02'] })
  it.each<[string, PolicyRule[], ReturnType<typeof storageStick>, string]>([
    ['is spared by the implicit block', [], stick, '1-2 boot-disk +'],
    ['is spared by the implicit block even if it prints', [], printing, '1-2 boot-disk +'],
    ['is spared by a deny', [deny], stick, '1-2 boot-disk +'],
    ['is not spared by a deny if it is more than a disk', [deny], printing, '1-2 deny'],
  ])('%s', (_, rules, device, became) => {
    const world = createWorld({ rules })
    world.bootPorts.add('1-2')
    world.plug(device, works)
    world.plug(storageStick({ portPath: '1-7' }), works)
    expect(world.look().became).toEqual([became, expect.stringMatching(/^1-7 (deny|default)$/)])
  })

  it('is not authorised for that: only what works is spared', () => {
    const world = createWorld()
    world.bootPorts.add('1-2')
    world.plug(stick)
    expect(world.look()).toEqual({ hasWritten: false, became: ['1-2 default'] })
  })
})

describe('the last keyboard', () => {
  const both = (world: World): void => {
    world.plug(keyboard, works)
    world.plug(other, works)
  }
  it.each<[string, (world: World) => void, PolicyRule[], string[]]>([
    ['stays', (w) => w.plug(keyboard, works), [], ['1-1 last-keyboard +']],
    ['is the first of two; the second goes', both, [], ['1-1 last-keyboard +', '1-5 default']],
    [
      'is not the last beside an allowed one',
      both,
      [rule({ effect: 'allow', fingerprint: fingerprintOf(other) })],
      ['1-1 default', '1-5 global +'],
    ],
    ['is a keyboard: a mouse goes', (w) => w.plug(mouse, works), [], ['1-3 default']],
    [
      'is not the last beside a mouse that works',
      (w) => {
        w.plug(keyboard, works)
        w.plug(mouse, works)
      },
      [rule({ effect: 'allow', vid: '046D', pid: 'C077' })],
      ['1-1 last-keyboard +', '1-3 global +'],
    ],
    [
      'goes if it is denied',
      (w) => w.plug(keyboard, works),
      [rule({ effect: 'deny', kinds: ['Keyboard'] })],
      ['1-1 deny'],
    ],
    [
      'goes where the host has another',
      (w) => {
        w.plug(keyboard, works)
        w.otherKeyboards = 1
      },
      [],
      ['1-1 default'],
    ],
    [
      'goes where the policy does not spare it',
      (w) => {
        w.plug(keyboard, works)
        w.sparesLastKeyboard = false
      },
      [],
      ['1-1 default'],
    ],
    ['does not come back: only what works stays', (w) => w.plug(keyboard), [], ['1-1 default']],
    [
      'is not one that does not work',
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
    expect(world.look().became).toEqual(became)
  })

  it('is one that worked before this look, or at arming', () => {
    const world = createWorld()
    world.look()
    world.plug(keyboard, works)
    expect(world.look().became).toEqual(['1-1 default'])
    world.plug(keyboard, works)
    world.pass.settleAll()
    expect(world.look().became).toEqual(['1-1 last-keyboard +'])
    expect(world.look().became).toEqual(['1-1 last-keyboard +'])
    world.plug(keyboard, { ...works, instance: '2' })
    expect(world.look().became).toEqual(['1-1 default'])
  })

  it('is also one that came since the last full look and was let in', () => {
    const world = createWorld({ rules: [keyboards] })
    world.look()
    world.plug(keyboard)
    expect(world.look('1-1')).toEqual({ hasWritten: true, became: ['1-1 global +'] })
    world.use([])
    expect(world.look().became).toEqual(['1-1 last-keyboard +'])
  })

  it('is not one that was here and did not work', () => {
    const world = createWorld()
    world.plug(keyboard)
    world.look()
    world.plug(keyboard, works)
    expect(world.look().became).toEqual(['1-1 default'])
  })

  it('stays at the first look after arming, also at one at some devices', () => {
    const world = createWorld()
    world.plug(keyboard, works)
    expect([world.look('1-1').became, world.look().became]).toEqual([['1-1 last-keyboard +'], ['1-1 last-keyboard +']])
  })

  it('is not one at a held port', () => {
    const world = createWorld({ rules: [keyboards] })
    world.plug(keyboard)
    world.lying.add('1-1')
    world.look()
    world.use([])
    world.plug(keyboard, works)
    world.pass.settleAll()
    expect(world.look().became).toEqual(['1-1 held default'])
  })
})
