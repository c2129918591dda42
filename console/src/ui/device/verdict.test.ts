import { describe, expect, it } from 'vitest'
import { decidingRule, verdictOf } from './verdict.ts'

const device = {
  decision: 'block' as const,
  guard: '',
  inAction: false,
  isDisabled: false,
  isUnapprovedPeripherals: true,
  present: true,
}

describe('verdictOf', () => {
  it('says blocked only of what the host keeps off', () => {
    expect(verdictOf({ ...device, isDisabled: true }, true)).toEqual({ severity: 'red', word: 'blocked' })
    expect(verdictOf(device, false).word).toBe('would be blocked')
    expect(verdictOf({ ...device, present: false, isDisabled: true }, true).word).toBe('would be blocked')
    expect(verdictOf({ ...device, guard: 'present' }, true).word).toBe('not allowed, still works')
  })

  it('does not say done before the host has confirmed', () => {
    expect(verdictOf({ ...device, inAction: true }, true).word).toBe('not allowed, waiting for the host')
    expect(verdictOf({ ...device, decision: 'allow', isDisabled: true, inAction: true }, true).word).toBe(
      'allowed, waiting for the host',
    )
    expect(verdictOf({ ...device, decision: 'allow', isDisabled: true }, true)).toEqual({
      severity: 'amber',
      word: 'allowed, not usable',
    })
    expect(verdictOf({ ...device, decision: 'allow' }, true).word).toBe('allowed')
  })
})

describe('decidingRule', () => {
  it('is an id, never the name of a source', () => {
    expect(decidingRule({ rule: '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f' })).not.toBeNull()
    expect(decidingRule({ rule: 'attack-tool' })).toBeNull()
    expect(decidingRule({ rule: 'default' })).toBeNull()
  })
})
