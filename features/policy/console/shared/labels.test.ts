import { describe, expect, it } from 'vitest'
import { armingText, basisText, previewSentence, tagsOpenText, takesEffectText } from './labels.ts'

const none = { agents: 0, peripherals: 0, attackTools: 0 }
const noDevices = { agents: 0, peripherals: 0, attachments: 0 }
const unchanged = { changed: noDevices, newlyAllowed: none, newlyBlocked: none, stopsWorking: none }
const devices = (peripherals: number) => ({ ...none, peripherals })
const matching = { agents: 0, peripherals: 0 }
const period = { from: '2031-04-04T10:11:12.000Z', to: '2031-05-04T10:11:12.000Z', isEveryDevice: false }

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
    expect(previewSentence({ matching, prediction: unchanged }).text).toBe('No change: no known device matches.')
    expect(previewSentence({ matching: { agents: 2, peripherals: 5 }, prediction: unchanged }).text).toBe(
      'No change: 5 matching devices on 2 hosts already have this outcome.',
    )
  })

  it('accounts for every matching device', () => {
    const some = {
      ...unchanged,
      changed: { agents: 1, peripherals: 5, attachments: 0 },
      newlyAllowed: devices(5),
    }
    expect(previewSentence({ matching: { agents: 4, peripherals: 18 }, prediction: some }).text).toBe(
      'Changes 5 devices on 1 host, 0 attachments: 5 will be allowed. 13 other matching devices already have this outcome.',
    )
  })
})

describe('takesEffectText', () => {
  const counts = (peripherals: number) => ({ agents: peripherals, peripherals })
  const effect = (now: number, whenArmed: number, never: number) => ({
    now: counts(now),
    whenArmed: counts(whenArmed),
    never: counts(never),
  })
  const text = (changed: ReturnType<typeof effect> | null, matched = effect(0, 0, 0)) =>
    takesEffectText({
      prediction: {
        changed: { ...noDevices, peripherals: changed === null ? 0 : 1 },
        takesEffect: changed ?? effect(0, 0, 0),
      },
      matching: { takesEffect: matched },
    })

  it('says which decisions take effect later, and which never', () => {
    expect(text(effect(0, 2, 2))).toBe(
      '4 decisions: 2 take effect when their hosts are armed, 2 have no effect, because their hosts cannot block.',
    )
    expect(text(effect(3, 1, 1))).toBe(
      '5 decisions: 3 take effect now, 1 takes effect when its host is armed, 1 has no effect, because its host cannot block.',
    )
    expect(text(effect(3, 0, 0))).toBeNull()
  })

  it('counts the matching devices if no decision changes', () => {
    expect(text(null, effect(0, 1, 0))).toBe('1 decision: 1 takes effect when its host is armed.')
    expect(text(null)).toBeNull()
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
    const day = { ...period, from: '2031-05-03T10:11:12.000Z' }
    expect(basisText({ ...day, agents: 1, peripherals: 1, attachments: 1 })).toBe(
      'Based on the last day: 1 device on 1 host, 1 attachment.',
    )
    expect(basisText({ ...period, ...noDevices })).toBe(
      'Based on the last 30 days: no devices on hosts that can be armed.',
    )
    expect(basisText({ ...period, isEveryDevice: true, agents: 7, peripherals: 9, attachments: 12 })).toBe(
      'Based on all known devices: 9 devices on 7 hosts, 12 attachments in the last 30 days.',
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
