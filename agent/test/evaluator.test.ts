import type { PolicyRule } from '@portcullis/contract/agent-protocol.ts'
import { createAttackTools, type PolicyDecision } from '@portcullis/domain'
import { hub, plainKeyboard, rubberDucky, storageStick } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { createDriverCheck } from '../src/enforcement/driver-check.ts'
import { createEvaluator } from '../src/enforcement/evaluator.ts'
import type { DeviceInterface } from '../src/platform/platform.ts'
import { rule } from './enforcing.ts'
import { heldPolicy } from './passing.ts'

const stick = storageStick({ portPath: '1-2' })
const evaluateOf = (rules: readonly PolicyRule[]) => {
  const evaluator = createEvaluator()
  evaluator.use(heldPolicy(rules))
  return evaluator
}
const identify = (evaluator: ReturnType<typeof createEvaluator>, report = stick) =>
  evaluator.identify({ report, instance: '1' })

describe('an evaluator', () => {
  it('decides by the current policy, and allows only hubs without one', () => {
    const evaluator = evaluateOf([rule({ id: 'sticks', effect: 'allow', vid: '0781' })])
    const decide = (report = stick) => evaluator.decide(identify(evaluator, report).device, 0).source
    expect([decide(), evaluator.policy?.version]).toEqual(['global', 1])
    expect(decide(rubberDucky({ portPath: '1-2' }))).toBe('attack-tool')
    evaluator.use(undefined)
    expect([decide(), decide(hub({ portPath: '1-2' })), evaluator.policy]).toEqual(['default', 'hub', undefined])
    expect(decide(rubberDucky({ portPath: '1-2' }))).toBe('default')
    expect(evaluator.nextExpiry(0)).toBe(Number.POSITIVE_INFINITY)
  })

  it('drops the level suspected for an accepted fingerprint, and no other level', () => {
    const tool = rubberDucky({ portPath: '1-2' })
    const confirmed = rubberDucky({ portPath: '1-2', product: 'Sure' })
    const row = { id: 'd', group: 'own', vid: '03EB', pid: '2401', name: 'Ducky', kind: 'k', source: 's' } as const
    const attackTools = createAttackTools([{ ...row, support: [{ product: 'Sure' }] }], [])
    const plain = evaluateOf([])
    const prints = [tool, confirmed].map((report) => identify(plain, report).device.ruleFingerprint)
    const evaluator = createEvaluator()
    const { policy } = heldPolicy([rule({ id: 'all', effect: 'allow', kinds: ['Keyboard'] })])
    evaluator.use({ policy: { ...policy, accepted: prints }, attackTools })
    const sourceOf = (report: typeof tool) => evaluator.decide(identify(evaluator, report).device, 0).source
    expect(sourceOf(tool)).toBe('global')
    // At a port of another speed, packets have other sizes.
    expect(sourceOf(rubberDucky({ portPath: '2-1', bcdUsb: 0x0210, maxPacketSize0: 64 }))).toBe('global')
    expect(sourceOf({ ...tool, manufacturer: 'Other' })).toBe('attack-tool')
    expect(identify(evaluator, confirmed).device.attackTool).toBe('confirmed')
    expect(sourceOf(confirmed)).toBe('attack-tool')
  })

  const rules = [
    rule({ id: 'reason', effect: 'deny', vid: '0781', reason: ' Ask\u200b the desk. ' }),
    rule({ id: 'long', effect: 'deny', vid: '0781', reason: 'x'.repeat(300) }),
    rule({ id: 'mute', effect: 'deny', vid: '0781', reason: ' ' }),
    rule({ id: 'kinds', effect: 'allow', kinds: ['Mass Storage', 'Audio'] }),
    rule({ id: 'model', effect: 'allow', vid: '0781', pid: '5581' }),
    rule({ id: 'vendor', effect: 'allow', vid: '0781' }),
  ]
  it.each<[string, PolicyDecision['source'], string | null, string]>([
    ['the reason of the rule, cleaned', 'deny', 'reason', 'Ask the desk.'],
    ['200 characters of it', 'deny', 'long', 'x'.repeat(200)],
    ['that a rule denies it', 'deny', 'mute', 'Your organisation denies this device.'],
    ['that it is an attack tool', 'attack-tool', null, 'This device is a known attack tool or behaves like one.'],
    ['that it is not on the allowlist', 'default', null, 'This device is not on the allowlist of your organisation.'],
  ])('gives as the reason %s', (_, source, ruleId, text) => {
    expect(evaluateOf(rules).reasonOf({ effect: 'block', source, ruleId })).toBe(text)
  })

  it('gives the same reason without a policy', () => {
    const decision = { effect: 'block', source: 'default', ruleId: null } as const
    expect(createEvaluator().reasonOf(decision)).toBe('This device is not on the allowlist of your organisation.')
  })

  it.each<[string, PolicyDecision['source'], string | null, object]>([
    ['a hub: hubs', 'hub', null, { by: 'kinds', kinds: ['Hub'] }],
    ['one of some kinds: these kinds', 'global', 'kinds', { by: 'kinds', kinds: ['Mass Storage', 'Audio'] }],
    ['a model: its identity', 'global', 'model', { by: 'identity' }],
    ['a device of a vendor: its claimed kinds', 'global', 'vendor', { by: 'kinds', kinds: ['Mass Storage'] }],
    ['an exception without a rule: its identity', 'default', null, { by: 'identity' }],
  ])('returns the scope of a device that is allowed as %s', (_, source, ruleId, scope) => {
    const evaluator = evaluateOf(rules)
    expect(evaluator.scopeOf({ effect: 'allow', source, ruleId }, identify(evaluator).device)).toEqual(scope)
    expect(
      createEvaluator().scopeOf({ effect: 'allow', source: 'default', ruleId: 'model' }, identify(evaluator).device),
    ).toEqual({ by: 'identity' })
  })

  it('returns the end of the next grant', () => {
    const until = (...times: (string | undefined)[]) =>
      evaluateOf(
        times.map((expiresAt) =>
          rule({ effect: 'allow', vid: '0781', ...(expiresAt === undefined ? {} : { expiresAt }) }),
        ),
      ).nextExpiry(2_000)
    const at = (ms: number) => new Date(ms).toISOString()
    expect([until(at(5_000), at(3_000), undefined, at(4_000)), until(at(1_999), at(2_000), at(2_001))]).toEqual([
      3_000, 2_001,
    ])
    expect([until(), until(undefined), until(at(2_000)), until('no time')]).toEqual(
      Array(4).fill(Number.POSITIVE_INFINITY),
    )
  })
})

describe('the drivers of a device', () => {
  const evaluator = createEvaluator()
  const typing = plainKeyboard({ portPath: '1-1', interfaces: ['03:01:01', '08:06:50', '03:00:00'] })
  const identified = identify(evaluator, typing)
  const identity = { by: 'identity' } as const
  const setUp = (binds: Record<number, string>, accepts = false, foreign: string[] = []) => {
    const opened: string[] = []
    const state: DeviceInterface[] = [0, 1, 2, 3].map((number) => ({
      ...{ name: `1-1:1.${number}`, number, configuration: 1, driver: null, hidDrivers: [] },
      isAuthorized: false,
    }))
    const driverCheck = createDriverCheck({
      interfaces: {
        of: (portPath) => (portPath === '1-1' ? state.map((one) => ({ ...one })) : []),
        open(toOpen, mayGoOn = () => true) {
          for (const { name, wanted } of toOpen) {
            opened.push(`${name} ${wanted === 'any' ? 'any' : wanted[0]}`)
            const at = state.findIndex((one) => one.name === name)
            const one = state[at]
            if (one !== undefined) state[at] = { ...one, isAuthorized: true, driver: binds[at] ?? null }
            if (!mayGoOn()) return
          }
        },
      },
      holds: { isAccepted: (_, { bound }) => bound.length > 0 && accepts },
      isForeign: (name, instance) => foreign.includes(`${name}|${instance}`),
    })
    return { driverCheck, opened, state }
  }
  const wrong = (number: number, claims: string) => ({ bound: [{ interface: number, claims, driver: 'rtl8150' }] })

  it('are bound one by one; an interface without a descriptor stays closed', () => {
    const { driverCheck, opened, state } = setUp({ 0: 'usbhid', 1: 'usb-storage' })
    expect(driverCheck.open(identified, identity)).toBeNull()
    expect(opened.map((text) => text.split(' ')[0])).toEqual(['1-1:1.0', '1-1:1.1', '1-1:1.2'])
    expect(state.map(({ isAuthorized }) => isAuthorized)).toEqual([true, true, true, false])
    expect([driverCheck.open(identified, identity), opened.length]).toEqual([null, 3])
  })

  it('are compared after each binding, and a mismatch opens no further interfaces', () => {
    const { driverCheck, opened } = setUp({ 1: 'rtl8150' })
    expect(driverCheck.open(identified, identity)).toEqual(wrong(1, 'Mass Storage'))
    expect(opened).toHaveLength(2)
    expect(driverCheck.mismatch(identified, identity)).toEqual(wrong(1, 'Mass Storage'))
  })

  it('are compared even if no interface is closed', () => {
    const { driverCheck, state, opened } = setUp({})
    for (const one of state) Object.assign(one, { isAuthorized: true })
    Object.assign(state[0] ?? {}, { driver: 'rtl8150' })
    expect([driverCheck.open(identified, identity), opened]).toEqual([wrong(0, 'Keyboard'), []])
  })

  it('match if an operator accepted them', () => {
    const { driverCheck, opened } = setUp({ 1: 'rtl8150' }, true)
    expect([driverCheck.open(identified, identity), driverCheck.mismatch(identified, identity), opened.length]).toEqual(
      [null, null, 3],
    )
  })

  it('are not bound to an interface that was closed before arming', () => {
    const { driverCheck, opened } = setUp({}, false, ['1-1:1.1|1', '1-1:1.2|2'])
    driverCheck.open(identified, identity)
    expect(opened.map((text) => text.split(' ')[0])).toEqual(['1-1:1.0', '1-1:1.2'])
  })

  it('are reported as missing for each interface that stays closed, with the reason', () => {
    const { driverCheck, state } = setUp({}, false, ['1-1:1.1|1'])
    Object.assign(state[0] ?? {}, { isAuthorized: true })
    expect(driverCheck.closed(identified, identity)).toEqual([
      { interface: 1, reason: 'closed-before' },
      { interface: 2, reason: 'no-driver' },
      { interface: 3, reason: 'not-described' },
    ])
  })

  it('are not bound to anything if no interface is closed', () => {
    const evaluated = createDriverCheck({
      interfaces: {
        of: () => [],
        open: () => {
          throw new Error('opened')
        },
      },
      holds: { isAccepted: () => false },
      isForeign: () => false,
    })
    expect(evaluated.open(identified, identity)).toBeNull()
  })
})
