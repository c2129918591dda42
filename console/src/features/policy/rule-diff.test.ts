import type { PolicyRuleResource } from '@portcullis/contract'
import { describe, expect, it } from 'vitest'
import { differences, restoreWords } from './rule-diff.ts'

const rule: PolicyRuleResource = {
  id: 'r1',
  effect: 'allow',
  level: 'tag',
  sentence: '',
  vid: '0781',
  pid: null,
  serial: null,
  kinds: null,
  fingerprint: null,
  host: null,
  hostIdentifier: null,
  tag: 'kiosk',
  expiresAt: null,
  reason: 'desk',
  overrideAttackTool: false,
  origin: 'rule',
  state: 'In force',
  createdAt: '2031-05-01T00:00:00Z',
  createdBy: 'mia',
  changedAt: '2031-05-01T00:00:00Z',
  changedBy: 'mia',
}

describe('differences', () => {
  it('names what a person would name, with both values', () => {
    expect(differences(rule, { ...rule, pid: '5571', tag: null, level: 'global', kinds: ['Audio'] })).toEqual([
      { name: 'Product id', before: 'any', after: '5571' },
      { name: 'Kinds', before: 'any', after: 'Audio' },
      { name: 'Speaks to', before: 'tag kiosk', after: 'All hosts' },
    ])
  })
  it('is empty when only the writer differs', () => {
    expect(differences(rule, { ...rule, changedBy: 'tom', changedAt: '2031-06-01T00:00:00Z' })).toEqual([])
  })
})

describe('restoreWords', () => {
  it('says what comes, changes and goes, or that nothing does', () => {
    expect(restoreWords({ added: 2, changed: 1, deleted: 1200 })).toBe(
      'Of the rules and grants, 2 come back, 1 changes, 1,200 go.',
    )
    expect(restoreWords({ added: 0, changed: 0, deleted: 0 })).toContain('nothing would change')
  })
})
