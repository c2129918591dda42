import { describe, expect, it } from 'vitest'
import { type Decision, decideLabel, rulesOf } from './decide.ts'

const subject = {
  name: 'Cruzer',
  vid: '0781',
  pid: '5571',
  devices: [
    { uuid: 'h1', hostIdentifier: 'KIOSK-1', deviceID: 'a', serialNumber: 'S1' },
    { uuid: 'h1', hostIdentifier: 'KIOSK-1', deviceID: 'b', serialNumber: 'S2' },
    { uuid: 'h2', hostIdentifier: 'KIOSK-2', deviceID: 'c', serialNumber: '' },
  ],
  tags: [],
  isAttackTool: false,
  evidence: [],
}
const decision: Decision = {
  effect: 'allow',
  scope: 'host',
  tag: '',
  serial: '',
  expiresAt: null,
  reason: ' audio ',
  overrideAttackTool: false,
}

describe('rulesOf', () => {
  it('makes one rule per host, however many devices it has', () => {
    expect(rulesOf(subject, decision)).toEqual([
      { effect: 'allow', vid: '0781', pid: '5571', serial: null, expiresAt: null, reason: 'audio', host: 'h1' },
      { effect: 'allow', vid: '0781', pid: '5571', serial: null, expiresAt: null, reason: 'audio', host: 'h2' },
    ])
  })

  it('makes one rule for a tag or for all hosts; only a grant expires', () => {
    const expiresAt = '2031-05-05T10:00:00Z'
    expect(rulesOf(subject, { ...decision, scope: 'tag', tag: 'kiosk', expiresAt })).toMatchObject([
      { tag: 'kiosk', expiresAt: null },
    ])
    expect(rulesOf(subject, { ...decision, effect: 'grant', scope: 'all', expiresAt })).toMatchObject([{ expiresAt }])
  })

  it('stores no reason that nobody wrote', () => {
    expect(rulesOf(subject, { ...decision, effect: 'deny', reason: ' ' })[0]?.reason).toBe('')
  })

  it('never sets an override on a deny', () => {
    expect(rulesOf(subject, { ...decision, effect: 'deny', overrideAttackTool: true })[0]).not.toHaveProperty(
      'overrideAttackTool',
    )
    expect(rulesOf(subject, { ...decision, overrideAttackTool: true })[0]).toHaveProperty('overrideAttackTool', true)
  })
})

describe('decideLabel', () => {
  it('names the decision and its scope', () => {
    expect(decideLabel(decision, 2)).toBe('Approve on 2 hosts')
    expect(decideLabel({ effect: 'deny', scope: 'all', tag: '' }, 2)).toBe('Deny on all hosts')
    expect(decideLabel({ effect: 'grant', scope: 'tag', tag: 'kiosk' }, 2)).toBe('Grant on tag kiosk')
  })
})
