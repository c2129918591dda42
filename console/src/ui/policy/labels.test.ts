import { describe, expect, it } from 'vitest'
import { basisText, previewSentence, tagsOpenText, testSentence } from './labels.ts'

const preview = {
  agents: 0,
  peripherals: 0,
  matching: { agents: 0, peripherals: 0 },
  allowed: 0,
  blocked: 0,
  blockedNow: 0,
}

describe('previewSentence', () => {
  it('is red if devices stop working, and says how many', () => {
    expect(previewSentence({ ...preview, agents: 4, peripherals: 12, allowed: 2, blocked: 10, blockedNow: 3 })).toEqual(
      {
        severity: 'red',
        text: 'Changes 12 devices on 4 hosts: 2 will be allowed, 10 will be blocked. 3 attached devices stop working now.',
      },
    )
    expect(previewSentence({ ...preview, agents: 1, peripherals: 1, blocked: 1, blockedNow: 1 }).text).toBe(
      'Changes 1 device on 1 host: 1 will be blocked. 1 attached device stops working now.',
    )
  })

  it('distinguishes a rule without matches from one without changes', () => {
    expect(previewSentence(preview).text).toBe('No change: no device attached or seen in the last 30 days matches.')
    expect(previewSentence({ ...preview, matching: { agents: 2, peripherals: 5 } }).text).toBe(
      'No change: 5 matching devices on 2 hosts already have this outcome.',
    )
  })
})

describe('tagsOpenText', () => {
  it('names blocked attack tools, and counts hosts without blocked devices', () => {
    const worksAgain = { agents: 1, peripherals: 3, attackTools: 1 }
    expect(tagsOpenText({ worksAgain, newlyAllowed: 2 })).toEqual({
      severity: 'red',
      text: 'This change newly allows devices on 2 hosts. 1 blocked attack tool and 2 other blocked devices will work again on 1 host.',
    })
    expect(tagsOpenText({ worksAgain: null, newlyAllowed: 1 })).toEqual({
      severity: 'amber',
      text: 'This change newly allows devices on 1 host. Blocked devices will work again there.',
    })
    expect(tagsOpenText({ worksAgain: null, newlyAllowed: 0 })).toBe(null)
  })
})

describe('basisText', () => {
  it('states hosts, devices and the period', () => {
    const period = {
      computedAt: '2031-05-04T10:11:12.000Z',
      from: '2031-04-04T10:11:12.000Z',
      to: '2031-05-04T10:11:12.000Z',
    }
    const none = { agents: 0, peripherals: 0, attackTools: 0 }
    const counts = { newlyAllowed: none, newlyBlocked: none, worksAgain: none, stopsWorking: none }
    expect(basisText({ ...period, ...counts, agents: 1, peripherals: 12 })).toBe(
      'Based on 12 devices on 1 host, attached or seen from 2031-04-04 10:11 to 2031-05-04 10:11 UTC.',
    )
  })
})

describe('testSentence', () => {
  const totals = { days: 30, agents: 20, peripherals: 90, attachments: 400 }
  it('counts devices, hosts and times', () => {
    expect(testSentence({ ...totals, blocked: { agents: 9, peripherals: 14, attachments: 31 } })).toBe(
      'Over the last 30 days, arming would have blocked 14 devices on 9 hosts, 31 times.',
    )
    expect(testSentence({ ...totals, days: 1, blocked: { agents: 1, peripherals: 1, attachments: 0 } })).toBe(
      'Over the last day, arming would have blocked 1 device on 1 host.',
    )
  })
  it('says that nothing would have been blocked, or that there is nothing to check', () => {
    const none = { agents: 0, peripherals: 0, attachments: 0 }
    expect(testSentence({ ...totals, blocked: none })).toBe(
      'Over the last 30 days, arming would have blocked no devices on 20 hosts.',
    )
    expect(testSentence({ ...totals, peripherals: 0, blocked: none })).toContain('nothing to check')
  })
})
