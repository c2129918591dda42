import type { PolicyRule } from '@portcullis/contract/policy-and-commands.ts'
import { describe, expect, it } from 'vitest'
import { decide, hasWhitelist, type PolicyDevice } from '../src/index.ts'

const now = Date.parse('2026-03-01T12:00:00Z')
const [lastInstantBefore, sameInstant, nextInstant] = [
  '2026-03-01T11:59:59.999Z',
  '2026-03-01T12:00:00.000Z',
  '2026-03-01T12:00:00.001Z',
]

const stick: PolicyDevice = {
  vid: '0781',
  pid: '5581',
  serial: 'S1',
  kinds: ['Mass Storage'],
  mayType: false,
  isHub: false,
  fingerprint: 'a'.repeat(32),
  fingerprintWithoutRevision: 'b'.repeat(32),
  ruleFingerprint: 'c'.repeat(32),
  attackTool: null,
}

type Kind = 'deny' | 'grant' | 'host' | 'tag' | 'global'

const ruleOf = (kind: Kind, more: Partial<PolicyRule> = {}): PolicyRule => ({
  id: kind,
  effect: kind === 'deny' ? 'deny' : 'allow',
  level: kind === 'deny' ? 'global' : kind,
  vid: '0781',
  ...more,
})

/** The winner and the effect if two kinds of rules match. */
const conflicts: readonly [winner: Kind, loser: Kind, effect: 'allow' | 'block', effectOfLoser: 'allow' | 'block'][] = [
  ['deny', 'grant', 'block', 'allow'],
  ['deny', 'host', 'block', 'allow'],
  ['deny', 'tag', 'block', 'allow'],
  ['deny', 'global', 'block', 'allow'],
  ['grant', 'host', 'allow', 'allow'],
  ['grant', 'tag', 'allow', 'allow'],
  ['grant', 'global', 'allow', 'allow'],
  ['host', 'tag', 'allow', 'allow'],
  ['host', 'global', 'allow', 'allow'],
  ['tag', 'global', 'allow', 'allow'],
]

describe.each(conflicts)('%s against %s', (winner, loser, effect, effectOfLoser) => {
  const wins = { effect, source: winner, ruleId: winner }
  const loses = { effect: effectOfLoser, source: loser, ruleId: loser }
  const inBothOrders = (strong: PolicyRule, weak: PolicyRule, device = stick) => [
    decide([strong, weak], device, now),
    decide([weak, strong], device, now),
  ]

  it('wins in either order', () => {
    expect(inBothOrders(ruleOf(winner), ruleOf(loser))).toEqual([wins, wins])
  })

  it('wins against a more specific rule', () => {
    const precise = ruleOf(loser, { pid: '5581', serial: 'S1', fingerprint: stick.fingerprint })
    expect(inBothOrders(ruleOf(winner), precise)).toEqual([wins, wins])
  })

  it.each([
    ['both do not expire', undefined, undefined],
    ['the winner is about to expire', nextInstant, undefined],
    ['the loser is about to expire', undefined, nextInstant],
    ['the loser has expired', undefined, lastInstantBefore],
  ])('wins when %s', (_when, strongEnd, weakEnd) => {
    const strong = ruleOf(winner, strongEnd === undefined ? {} : { expiresAt: strongEnd })
    const weak = ruleOf(loser, weakEnd === undefined ? {} : { expiresAt: weakEnd })
    expect(inBothOrders(strong, weak)).toEqual([wins, wins])
  })

  it.each([
    ['has expired', lastInstantBefore],
    ['expires at this instant', sameInstant],
  ])('loses when it %s', (_when, expiresAt) => {
    expect(inBothOrders(ruleOf(winner, { expiresAt }), ruleOf(loser))).toEqual([loses, loses])
  })

  it('loses if it refers to another device', () => {
    expect(inBothOrders(ruleOf(winner, { vid: '1234' }), ruleOf(loser))).toEqual([loses, loses])
  })
})

describe.each(['grant', 'host', 'tag', 'global'] as const)('a deny rule for a %s', (level) => {
  it.each(['grant', 'host', 'tag', 'global'] as const)(
    'wins against an allow rule for a %s, in either order',
    (other) => {
      const deny = ruleOf('deny', { level })
      const wins = { effect: 'block', source: 'deny', ruleId: 'deny' }
      expect(decide([deny, ruleOf(other)], stick, now)).toEqual(wins)
      expect(decide([ruleOf(other), deny], stick, now)).toEqual(wins)
    },
  )
})

describe.each(['suspected', 'confirmed'] as const)('a %s attack tool', (attackTool) => {
  const tool = { ...stick, attackTool }
  const known = { effect: 'block', source: 'attack-tool', ruleId: null }

  it('is blocked as an attack tool, whatever other rules allow or deny', () => {
    expect(decide([], tool, now)).toEqual(known)
    for (const kind of ['deny', 'grant', 'host', 'tag', 'global'] as const)
      expect(decide([ruleOf(kind)], tool, now), kind).toEqual(known)
  })

  it('is allowed by a rule of any level that overrides attack tools', () => {
    for (const kind of ['grant', 'host', 'tag', 'global'] as const) {
      const allow = ruleOf(kind, { overrideAttackTool: true })
      expect(decide([allow], tool, now), kind).toEqual({ effect: 'allow', source: kind, ruleId: kind })
      expect(decide([{ ...allow, overrideAttackTool: false }], tool, now), kind).toEqual(known)
      expect(decide([{ ...allow, expiresAt: sameInstant }], tool, now), kind).toEqual(known)
    }
  })

  it('is blocked if another rule denies it, in either order', () => {
    const allow = ruleOf('grant', { overrideAttackTool: true })
    const denied = { effect: 'block', source: 'deny', ruleId: 'deny' }
    expect(decide([allow, ruleOf('deny')], tool, now)).toEqual(denied)
    expect(decide([ruleOf('deny'), allow], tool, now)).toEqual(denied)
  })

  it('is allowed only by a level that overrides attack tools, even if a stronger level allows it', () => {
    const rules = [ruleOf('grant'), ruleOf('host'), ruleOf('global', { overrideAttackTool: true })]
    const expected = { effect: 'allow', source: 'global', ruleId: 'global' }
    expect(decide(rules, tool, now)).toEqual(expected)
    expect(decide(rules.toReversed(), tool, now)).toEqual(expected)
  })
})

describe('among rules of one level', () => {
  it.each<[string, Partial<PolicyRule>, Partial<PolicyRule>]>([
    ['a serial number before a fingerprint', { serial: 'S1' }, { fingerprint: 'a'.repeat(32), pid: '5581' }],
    ['a fingerprint before a product', { fingerprint: 'b'.repeat(32) }, { pid: '5581', kinds: ['Mass Storage'] }],
    ['a product before a vendor and kind', { pid: '5581' }, { kinds: ['Mass Storage'] }],
    ['the smaller id when both say as much', {}, {}],
  ])('the reported rule is the one with %s', (_what, more, less) => {
    const [first, second] = [ruleOf('host', { id: 'a', ...more }), ruleOf('host', { id: 'b', ...less })]
    expect(decide([first, second], stick, now).ruleId).toBe('a')
    expect(decide([second, first], stick, now).ruleId).toBe('a')
  })
})

it('an allow rule creates an allowlist until it expires', () => {
  const allow = ruleOf('host')
  expect(hasWhitelist(false, [{ ...allow, expiresAt: nextInstant }], now)).toBe(true)
  expect(hasWhitelist(false, [{ ...allow, expiresAt: sameInstant }], now)).toBe(false)
  expect(hasWhitelist(false, [{ ...allow, expiresAt: lastInstantBefore }], now)).toBe(false)
})
