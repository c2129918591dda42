import { describe, expect, it } from 'vitest'
import { armingText, basisText, previewSentence, tagsOpenText, unarmedText } from './labels.ts'

const none = { agents: 0, peripherals: 0, attackTools: 0 }
const noDevices = { agents: 0, peripherals: 0, attachments: 0 }
const unchanged = { changed: noDevices, newlyAllowed: none, newlyBlocked: none, stopsWorking: none }
const devices = (peripherals: number) => ({ ...none, peripherals })
const matching = { agents: 0, peripherals: 0 }
const period = { from: '2031-04-04T10:11:12.000Z', to: '2031-05-04T10:11:12.000Z' }

describe('previewSentence', () => {
  it('is red if devices stop working, and says how many', () => {
    const many = {
      changed: { agents: 4, peripherals: 12, attachments: 31 },
      newlyAllowed: devices(2),
      newlyBlocked: devices(10),
      stopsWorking: devices(3),
    }
    expect(previewSentence({ matching, prediction: many })).toEqual({
      severity: 'red',
      text: 'Changes 12 devices on 4 hosts, 31 attachments: 2 will be allowed, 10 will be blocked. 3 attached devices stop working now.',
    })
    const one = {
      changed: { agents: 1, peripherals: 1, attachments: 1 },
      newlyAllowed: none,
      newlyBlocked: devices(1),
      stopsWorking: devices(1),
    }
    expect(previewSentence({ matching, prediction: one }).text).toBe(
      'Changes 1 device on 1 host, 1 attachment: 1 will be blocked. 1 attached device stops working now.',
    )
  })

  it('distinguishes a rule without matches from one without changes', () => {
    expect(previewSentence({ matching, prediction: unchanged }).text).toBe(
      'No change: no device attached or seen in the last 30 days matches.',
    )
    expect(previewSentence({ matching: { agents: 2, peripherals: 5 }, prediction: unchanged }).text).toBe(
      'No change: 5 matching devices on 2 hosts already have this outcome.',
    )
  })
})

describe('unarmedText', () => {
  it('says that free hosts block nothing', () => {
    const none = { agents: 0, armedAgents: 0 }
    expect(unarmedText({ ...none, matching: { agents: 1, armedAgents: 0 } })).toBe(
      'The host with these devices is Free and blocks nothing. The decision takes effect when it is armed.',
    )
    expect(unarmedText({ agents: 3, armedAgents: 1, matching: none })).toBe(
      '1 of the 3 hosts with these devices is armed. The others block nothing until they are armed.',
    )
    expect(unarmedText({ agents: 3, armedAgents: 3, matching: { agents: 4, armedAgents: 3 } })).toBeNull()
    expect(unarmedText({ ...none, matching: none })).toBeNull()
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
  it('states the period, devices, hosts and attachments', () => {
    expect(basisText({ ...period, agents: 7, peripherals: 9, attachments: 12 })).toBe(
      'Based on the last 30 days: 9 devices on 7 hosts, 12 attachments.',
    )
    const day = { from: '2031-05-03T10:11:12.000Z', to: period.to }
    expect(basisText({ ...day, agents: 1, peripherals: 1, attachments: 1 })).toBe(
      'Based on the last day: 1 device on 1 host, 1 attachment.',
    )
    expect(basisText({ ...period, ...noDevices })).toBe(
      'Based on the last 30 days: no devices on hosts that can be armed.',
    )
  })
})

describe('armingText', () => {
  it('states blocked devices in the same form as their basis', () => {
    const examined = { ...period, agents: 20, peripherals: 90, attachments: 400 }
    expect(armingText({ ...examined, blocked: { agents: 9, peripherals: 14, attachments: 31 } })).toBe(
      'Arming blocks 14 devices on 9 hosts, 31 attachments. Based on the last 30 days: 90 devices on 20 hosts, 400 attachments.',
    )
    expect(armingText({ ...examined, blocked: noDevices })).toBe(
      'Arming blocks no devices. Based on the last 30 days: 90 devices on 20 hosts, 400 attachments.',
    )
  })
})
