import { describe, expect, it } from 'vitest'
import type { PolicyRuleResource } from '#features/contract.ts'
import {
  bodyOf,
  canPreview,
  draftOf,
  draftOfSearch,
  emptyDraft,
  faultsOf,
  inputOf,
  type RuleDraft,
} from './rule-draft.ts'

const now = Date.parse('2031-05-04T10:00:00Z')
const good: RuleDraft = { ...emptyDraft, scope: 'all', vid: '0781', pid: '5571', reason: 'audio desk' }
const rule: PolicyRuleResource = {
  id: 'r1',
  effect: 'deny',
  level: 'tag',
  sentence: 'Deny …',
  vid: '0781',
  pid: null,
  serial: null,
  kinds: ['Keyboard', 'Mass Storage'],
  fingerprint: null,
  host: null,
  hostIdentifier: null,
  tag: 'kiosk',
  expiresAt: '2031-06-01T00:00:00Z',
  reason: 'why not',
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

describe('a rule draft', () => {
  it('reports every fault at its field', () => {
    expect(faultsOf(good, { isGrant: false, now })).toEqual({})
    expect(Object.keys(faultsOf(emptyDraft, { isGrant: true, now })).sort()).toEqual([
      'device',
      'expires',
      'reason',
      'scope',
    ])
    expect(faultsOf({ ...good, vid: '78' }, { isGrant: false, now })).toHaveProperty('vid')
    expect(faultsOf({ ...good, vid: '' }, { isGrant: false, now })).toHaveProperty('vid')
    expect(faultsOf({ ...good, pid: '', serial: 'A1' }, { isGrant: false, now })).toHaveProperty('serial')
    expect(faultsOf({ ...good, scope: 'host' }, { isGrant: false, now })).toHaveProperty('host')
    expect(faultsOf({ ...good, scope: 'tag', tag: ' ' }, { isGrant: false, now })).toHaveProperty('tag')
    expect(faultsOf({ ...good, expires: '2031-05-01T00:00' }, { isGrant: false, now })).toHaveProperty('expires')
  })

  it('can be previewed when only the reason is missing', () => {
    expect(canPreview(faultsOf({ ...good, reason: '' }, { isGrant: false, now }))).toBe(true)
    expect(canPreview(faultsOf(emptyDraft, { isGrant: false, now }))).toBe(false)
  })

  it('becomes a request body without fields outside the scope', () => {
    expect(inputOf({ ...good, vid: '0abc', scope: 'tag', tag: ' kiosk ', host: 'left over' })).toEqual({
      effect: 'allow',
      vid: '0ABC',
      pid: '5571',
      serial: null,
      kinds: null,
      fingerprint: null,
      host: null,
      tag: 'kiosk',
      expiresAt: null,
      reason: 'audio desk',
    })
    // An override belongs to an allow.
    expect(inputOf({ ...good, effect: 'deny', overrideAttackTool: true })).not.toHaveProperty('overrideAttackTool')
    const grant = bodyOf({ ...good, effect: 'deny', expires: '2031-05-05T10:00' }, true)
    const expiresAt = new Date('2031-05-05T10:00').toISOString()
    expect(grant).toMatchObject({ effect: 'allow', isGrant: true, expiresAt })
    expect(bodyOf(good, false)).not.toHaveProperty('isGrant')
  })

  it('starts from a stored rule and gives the same rule back', () => {
    const { vid, kinds, tag, reason, effect } = inputOf(draftOf(rule))
    expect({ vid, kinds, tag, reason, effect }).toEqual({
      vid: '0781',
      kinds: ['Keyboard', 'Mass Storage'],
      tag: 'kiosk',
      reason: 'why not',
      effect: 'deny',
    })
    expect(Date.parse(inputOf(draftOf(rule)).expiresAt as string)).toBe(Date.parse('2031-06-01T00:00:00Z'))
  })

  it('starts from an address and ignores invalid ids', () => {
    expect(draftOfSearch({ device: '0781:5571', onTag: 'kiosk', make: 'deny' })).toMatchObject({
      effect: 'deny',
      vid: '0781',
      pid: '5571',
      scope: 'tag',
      tag: 'kiosk',
    })
    expect(draftOfSearch({ device: '<img>:x' })).toMatchObject({ vid: '', pid: '' })
  })
})
