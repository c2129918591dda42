import { hostileTexts } from '@portcullis/domain/testing'
import { describe, expect, it, vi } from 'vitest'
import { createNotify } from '../src/enforcement/notify.ts'
import { createLog } from '../src/log.ts'
import { createEventLog, registerEventSource, removeEventSource } from '../src/platform/windows/event-log.ts'
import { createMemoryRegistry } from './registry-memory.ts'

const setUp = (refuse = false) => {
  const events: [type: number, id: number, text: string][] = []
  const toEventLog = createEventLog((type, id, text) => {
    if (refuse) throw new Error('no log')
    events.push([type, id, text])
    return true
  })
  const clock = { now: () => 0, monotonic: () => 0 }
  return { events, toEventLog, log: createLog({ clock, level: 'debug', write: toEventLog }) }
}

describe('the event log of Windows', () => {
  it('contains only starts, stops, arming, freeing and errors', () => {
    const { events, log } = setUp()
    log.info('agent_starting', { version: '1.2.3' })
    log.info('check_in', { seq: 1 })
    log.debug('constructor')
    log.info('host_armed', { policy: 7 })
    log.warn('check_in_failed', { reason: 'network' })
    log.info('host_freed', { reason: 'The server removed this host.' })
    log.error('policy_refused', { message: 'forged' })
    log.info('agent_stopped')
    expect(events).toEqual([
      [4, 1, 'The agent started.\r\nversion: 1.2.3'],
      [4, 20, 'The host was armed.\r\npolicy: 7'],
      [2, 21, 'The host was freed.\r\nreason: The server removed this host.'],
      [1, 90, 'The agent reported an error.\r\nevent: policy_refused\r\nmessage: forged'],
      [4, 2, 'The agent stopped.'],
    ])
  })

  it('contains the case numbers shown to users, at most eight per ten seconds', () => {
    vi.useFakeTimers()
    try {
      const { events, log } = setUp()
      const clock = { now: () => Date.now(), monotonic: () => Date.now() }
      const shown: string[] = []
      const notify = createNotify({ show: (text) => void shown.push(text), clock, log })
      const block = (caseNumber: string, name = 'Stick\r\nid: 1', reason = 'no rule allows it') =>
        notify.add({ caseNumber, name, portPath: '1-2', reason, contact: '' })
      block('PC-7K2M4Q')
      vi.advanceTimersByTime(100)
      expect(shown).toHaveLength(1)
      expect(events).toEqual([
        [
          2,
          23,
          'Devices are blocked. Give the case number to your contact.\r\nPC-7K2M4Q: Stick id: 1 at port 1-2: no rule allows it',
        ],
      ])
      for (let i = 0; i < 100; i++) block(`PC-${i}`, 'x'.repeat(500), 'y'.repeat(500))
      vi.advanceTimersByTime(9_000)
      expect(events).toHaveLength(1)
      vi.advanceTimersByTime(1_000)
      expect(events).toHaveLength(2)
      // A device with long names must not push the numbers of others out of the event.
      expect(events[1]?.[2].match(/^PC-\d+: x+ at port 1-2: y+$/gm)).toHaveLength(8)
    } finally {
      vi.useRealTimers()
    }
  })

  it('says why a host is not enrolled, and does not repeat an unchanged reason', () => {
    const { events, log } = setUp()
    for (const reason of ['network', 'network', 'proxy', 'network'])
      log.warn('enrolment_failed', { step: 'enrol', reason, retryInMs: events.length })
    log.warn('not_enrolled', { reason: 'expired' })
    expect(events.map(([type, id, text]) => [type, id, /reason: (\w+)/.exec(text)?.[1]])).toEqual([
      [2, 13, 'network'],
      [2, 13, 'proxy'],
      [2, 13, 'network'],
      [1, 14, 'expired'],
    ])
  })

  it('cleans and bounds hostile texts', () => {
    const { events, log } = setUp()
    for (const text of [...Object.values(hostileTexts), 'a\r\nid: 1', '%1 %n', 'x'.repeat(100_000)])
      log.warn(
        'device_blocked',
        Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`${index}${text}`, text])),
      )
    log.warn('device_blocked', { name: 'a\r\nid: 1 %1', ports: 'x'.repeat(100_000) })
    for (const [, , text] of events) {
      expect(text.length).toBeLessThanOrEqual(3000)
      // Line ends separate members only.
      expect(text.split('\r\n').length).toBeLessThanOrEqual(17)
      expect(text.replaceAll('\r\n', '')).not.toMatch(/%[\d%]|[\p{Cc}\u202a-\u202e\u2066-\u2069]/u)
    }
    expect(events.at(-1)?.[2]).toMatch(/^A device was blocked\.\r\nname: a id: 1 % 1\r\nports: x{300}$/)
  })

  it('never makes the agent fail', () => {
    const { toEventLog, events, log } = setUp(true)
    log.error('policy_refused')
    for (const line of ['', '{', 'null', '[]', '{"level":"error"}']) toEventLog(line)
    expect(events).toEqual([])
  })

  it('registers its source, and removes it completely', () => {
    const { registry, dump } = createMemoryRegistry()
    registerEventSource(registry)
    expect(Object.keys(dump())).toHaveLength(2)
    removeEventSource(registry)
    removeEventSource(registry)
    expect(dump()).toEqual({})
  })
})
