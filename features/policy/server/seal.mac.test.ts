import { createHmac, randomBytes } from 'node:crypto'
import { Secret } from '@portcullis/platform/server/secret.ts'
import { describe, expect, it } from 'vitest'
import { createSeals, printOf, rulesPurpose, type SealedPart } from './seal.ts'

const secret = randomBytes(32)
const seals = createSeals(new Secret(secret))
const rule: SealedPart = {
  rule_id: '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f',
  effect: 'allow',
  is_grant: false,
  vid: '0781',
  pid: '5581',
  serial: 'S1',
  kinds: ['Mass Storage'],
  fingerprint: null,
  agent_id: null,
  tag_name: 'Audio desk',
  expires_at: new Date('2031-12-01T00:00:00Z'),
  reason: 'audio desk',
  override_attack_tool: false,
  origin: 'manual',
}
const isAuthentic = (change: Partial<SealedPart>, sealed: Partial<SealedPart> = {}): boolean =>
  seals.isAuthentic({ ...rule, ...change, seal: seals.sealOf({ ...rule, ...sealed }) })

it('derives its key for this purpose', () => {
  expect(rulesPurpose).toBe('policy-rules')
})

describe('the identity of a rule', () => {
  const identity = { rule_fingerprint: 'b'.repeat(32), exact_serial: true }
  const sealed = seals.sealed({ ...rule, ...identity })
  const unknown = { rule_fingerprint: null, exact_serial: false }

  it('is sealed together with the rule', () => {
    expect(sealed).toEqual({
      ...{ ...rule, ...identity, seal: seals.sealOf(rule) },
      identity_seal: createHmac('sha256', secret)
        .update(JSON.stringify(['identity', seals.sealOf(rule).toString('hex'), identity.rule_fingerprint, true]))
        .digest(),
    })
    expect(seals.withIdentity(sealed)).toBe(sealed)
  })

  it('is the same whether an unknown one is null or absent', () => {
    expect(seals.sealed({ ...rule, ...unknown }).identity_seal).toEqual(seals.sealed(rule).identity_seal)
  })

  it.each([
    ['another fingerprint', { rule_fingerprint: 'c'.repeat(32) }],
    ['no fingerprint', { rule_fingerprint: null }],
    ['a cleaned serial number', { exact_serial: false }],
    ['the seal of another rule', { seal: seals.sealOf({ ...rule, vid: null }) }],
    ['no seal', { identity_seal: null }],
  ])('does not count with %s', (_, change) => {
    expect(seals.withIdentity({ ...sealed, ...change })).toEqual({ ...sealed, ...change, ...unknown })
  })

  it('is the fingerprint for every port and speed, if it is known', () => {
    const fingerprint = 'a'.repeat(32)
    expect(printOf({ fingerprint, rule_fingerprint: 'b' })).toBe('b')
    expect(printOf({ fingerprint, rule_fingerprint: null })).toBe(fingerprint)
  })
})

describe('the seal of a rule', () => {
  it('matches its own rule, whatever the case of the tag', () => {
    expect(isAuthentic({})).toBe(true)
    expect(isAuthentic({ tag_name: 'AUDIO DESK' })).toBe(true)
    expect(isAuthentic({ tag_name: null, expires_at: null }, { tag_name: null, expires_at: null })).toBe(true)
    expect(seals.sealOf(rule)).toHaveLength(32)
  })

  it('stays valid from release to release', () => {
    const members = Object.values({ ...rule, tag_name: 'audio desk' })
    expect(seals.sealOf(rule)).toEqual(createHmac('sha256', secret).update(JSON.stringify(members)).digest())
  })

  it.each<[keyof SealedPart, Partial<SealedPart>]>([
    ['rule_id', { rule_id: '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e40' }],
    ['effect', { effect: 'deny' }],
    ['is_grant', { is_grant: true }],
    ['vid', { vid: null }],
    ['pid', { pid: '5583' }],
    ['serial', { serial: null }],
    ['kinds', { kinds: ['Mass Storage', 'Keyboard'] }],
    ['fingerprint', { fingerprint: 'a'.repeat(32) }],
    ['agent_id', { agent_id: '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e41' }],
    ['tag_name', { tag_name: 'elsewhere' }],
    ['tag_name', { tag_name: null }],
    ['expires_at', { expires_at: new Date('2031-12-01T00:00:00.001Z') }],
    ['expires_at', { expires_at: null }],
    ['reason', { reason: 'another reason' }],
    ['override_attack_tool', { override_attack_tool: true }],
    ['origin', { origin: 'approval' }],
  ])('is invalid for another %s, in either direction', (_field, change) => {
    expect(isAuthentic(change)).toBe(false)
    expect(isAuthentic({}, change)).toBe(false)
  })

  it('is invalid for a rule with swapped values', () => {
    expect(isAuthentic({ vid: rule.pid, pid: rule.vid })).toBe(false)
    expect(isAuthentic({ serial: null, fingerprint: rule.serial })).toBe(false)
  })

  it('is invalid with another key, when truncated, and when extended', () => {
    const seal = seals.sealOf(rule)
    const others = createSeals(new Secret(randomBytes(32)))
    expect(others.isAuthentic({ ...rule, seal })).toBe(false)
    expect(seals.isAuthentic({ ...rule, seal: seal.subarray(0, 31) })).toBe(false)
    expect(seals.isAuthentic({ ...rule, seal: Buffer.concat([seal, Buffer.alloc(1)]) })).toBe(false)
  })
})
