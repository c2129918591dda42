import { describe, expect, it } from 'vitest'
import { policyStates } from '#features/contract.ts'
import { decidingRule, verdictOf } from './verdict.ts'

describe('verdictOf', () => {
  it('has a distinct word for each state, red for blocked devices and attack tools', () => {
    const verdicts = policyStates.map((policyState) => verdictOf({ policyState }))
    expect(new Set(verdicts.map(({ word }) => word)).size).toBe(policyStates.length)
    expect(verdictOf({ policyState: 'blocked' })).toEqual({ severity: 'red', word: 'Blocked' })
    expect(verdictOf({ policyState: 'notListed' })).toEqual({ severity: 'amber', word: 'Not on the allowlist' })
    expect(verdictOf({ policyState: 'noAllowlist' })).toEqual({ severity: 'neutral', word: 'No allowlist' })
    expect(verdictOf({ policyState: 'attackToolWorks' })).toEqual({
      severity: 'red',
      word: 'Denied by a finding, still works',
    })
    expect(verdictOf({ policyState: 'deniedGone' }).severity).toBe('neutral')
  })
})

describe('decidingRule', () => {
  it('returns ids of rules only, not the names of other sources', () => {
    expect(decidingRule({ rule: '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f' })).not.toBeNull()
    expect(decidingRule({ rule: 'attack-tool' })).toBeNull()
    expect(decidingRule({ rule: 'default' })).toBeNull()
  })
})
