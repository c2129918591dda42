import { describe, expect, it } from 'vitest'
import { decidingRule, verdictOf } from './verdict.ts'

const device = {
  decision: 'block' as const,
  guard: '',
  inAction: false,
  isDisabled: false,
  isUnapprovedPeripherals: true,
  present: true,
  rule: 'default',
}

describe('verdictOf', () => {
  it('reports devices as blocked only if the host blocks them', () => {
    expect(verdictOf({ ...device, isDisabled: true }, true)).toEqual({ severity: 'red', word: 'Blocked' })
    expect(verdictOf(device, false).word).toBe('Not on the allowlist')
    expect(verdictOf({ ...device, present: false, isDisabled: true }, true).word).toBe('Not on the allowlist')
    expect(verdictOf({ ...device, guard: 'present' }, true).word).toBe('Not on the allowlist, still works')
  })

  it('names a deny rule', () => {
    const denied = { ...device, rule: '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f' }
    expect(verdictOf(denied, false).word).toBe('Denied by a rule')
    expect(verdictOf(denied, true).word).toBe('Denied by a rule, still works')
  })

  it('reports a change as waiting until the host confirms it', () => {
    expect(verdictOf({ ...device, inAction: true }, true).word).toBe('Not on the allowlist, waiting for host')
    expect(verdictOf({ ...device, decision: 'allow', isDisabled: true, inAction: true }, true).word).toBe(
      'Allowed, waiting for host',
    )
    expect(verdictOf({ ...device, decision: 'allow', isDisabled: true }, true)).toEqual({
      severity: 'amber',
      word: 'Allowed, not usable',
    })
    expect(verdictOf({ ...device, decision: 'allow' }, true).word).toBe('Allowed')
  })
})

describe('decidingRule', () => {
  it('returns ids of rules only, not the names of other sources', () => {
    expect(decidingRule({ rule: '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f' })).not.toBeNull()
    expect(decidingRule({ rule: 'attack-tool' })).toBeNull()
    expect(decidingRule({ rule: 'default' })).toBeNull()
  })
})
