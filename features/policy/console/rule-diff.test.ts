import { describe, expect, it } from 'vitest'
import type { PolicyRuleResource } from '#features/contract.ts'
import { differences, restoreText } from './rule-diff.ts'

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
  groupId: null,
  group: null,
  hits: 0,
  isUnused: false,
  shadowedBy: null,
  origin: 'rule',
  state: 'In force',
  createdAt: '2031-05-01T00:00:00Z',
  createdBy: 'mia',
  changedAt: '2031-05-01T00:00:00Z',
  changedBy: 'mia',
}

describe('differences', () => {
  it('names each changed property with both values', () => {
    expect(differences(rule, { ...rule, pid: '5571', tag: null, level: 'global', kinds: ['Audio'] })).toEqual([
      { name: 'Product ID', before: 'Any', after: '5571' },
      { name: 'Kinds', before: 'Any', after: 'Audio' },
      { name: 'Scope', before: 'Tag kiosk', after: 'All hosts' },
    ])
  })
  it('is empty if only the author differs', () => {
    expect(differences(rule, { ...rule, changedBy: 'tom', changedAt: '2031-06-01T00:00:00Z' })).toEqual([])
  })
})

describe('restoreText', () => {
  it('says what returns, changes and is deleted, or that nothing will change', () => {
    expect(restoreText({ added: 2, changed: 1, deleted: 1200 })).toBe(
      '2 rules and grants return. 1 rule or grant changes. 1,200 rules and grants are deleted.',
    )
    expect(restoreText({ added: 0, changed: 0, deleted: 0 })).toContain('Nothing will change')
  })
})
