import { parseReport } from '@portcullis/domain'
import { storageStick } from '@portcullis/domain/testing'
import { describe, expect, it } from 'vitest'
import { createEvaluator } from '../src/enforcement/evaluator.ts'
import type { RecentDevice } from '../src/enforcement/memory.ts'
import { createRecent } from '../src/enforcement/recent.ts'

const minute = 60_000
const evaluator = createEvaluator()
const identified = (portPath: string, instance = '1', bcdDevice = '0100') =>
  evaluator.identify({ report: storageStick({ portPath, bcdDevice }), instance })
const stick = identified('1-2')

const setUp = (known: readonly RecentDevice[] = []) => {
  const at = { now: 1_000_000_000, isAllowed: (_fingerprint: string): boolean => true }
  const recent = createRecent({
    clock: { now: () => at.now, monotonic: () => at.now },
    known,
    decide: (device) => ({
      effect: at.isAllowed(device.fingerprint) ? 'allow' : 'block',
      source: 'global',
      ruleId: 'r',
    }),
  })
  /** Removes the device after it worked, and advances the clock. */
  const goneFor = (ms: number): void => {
    recent.note(stick, true)
    recent.settle(new Set([stick.key]))
    recent.settle(new Set())
    at.now += ms
  }
  return { at, recent, goneFor }
}

describe('a device that worked recently', () => {
  it.each<[string, number, boolean]>([
    ['within five minutes', 5 * minute, true],
    ['but not later', 5 * minute + 1, false],
    ['if the clock was set back by five minutes', -5 * minute, true],
    ['but not if the clock was set back further', -5 * minute - 1, false],
  ])('keeps working %s', (_, ms, covers) => {
    const { recent, goneFor } = setUp()
    goneFor(ms)
    expect(recent.covers(identified('1-2', '2'))).toBe(covers)
    // The number of a removed attachment is forgotten, because the kernel reuses numbers.
    expect(recent.covers(stick)).toBe(covers)
    expect(recent.covers(identified('1-3', '1'))).toBe(false)
  })

  it('keeps working while it is attached', () => {
    const { at, recent } = setUp()
    recent.note(stick, true)
    recent.settle(new Set([stick.key]))
    at.now += 60 * minute
    expect(recent.covers(stick)).toBe(true)
    expect(recent.covers(identified('1-2', '2'))).toBe(false)
    recent.settle(new Set([stick.key]))
    expect(recent.covers(stick)).toBe(true)
  })

  it('is recognised only by its time if the kernel gives no number', () => {
    const { at, recent } = setUp()
    recent.note(identified('1-2', ''), true)
    at.now += 5 * minute
    expect(recent.covers(identified('1-2', ''))).toBe(true)
    at.now++
    expect(recent.covers(identified('1-2', ''))).toBe(false)
  })

  it('keeps working only while the policy allows its previous identity', () => {
    const { at, recent } = setUp()
    const [allowed, updated] = [stick, identified('1-2', '2', '0200')]
    at.isAllowed = (fingerprint) => fingerprint === allowed.device.fingerprint
    expect(updated.key).toBe(allowed.key)
    recent.note(allowed, true)
    // The memory keeps the identity that a rule allowed.
    at.now += 4 * minute
    recent.note(updated, false)
    at.now += 4 * minute
    expect(recent.covers(identified('1-2', '3', '0200'))).toBe(true)
    recent.note(updated, true)
    expect(recent.covers(identified('1-2', '3', '0200'))).toBe(false)
  })

  it('is not remembered unless a rule allowed it', () => {
    const { recent } = setUp()
    recent.note(stick, false)
    recent.settle(new Set([stick.key]))
    recent.settle(new Set())
    expect([recent.list(), recent.covers(stick)]).toEqual([[], false])
  })

  it('is forgotten five minutes after its removal, but not while it is attached', () => {
    const { at, recent, goneFor } = setUp()
    goneFor(5 * minute)
    recent.settle(new Set())
    expect(recent.list()).toMatchObject([{ instance: '' }])
    at.now++
    recent.settle(new Set([stick.key]))
    expect(recent.list()).toHaveLength(1)
    const second = setUp()
    second.goneFor(5 * minute + 1)
    second.recent.settle(new Set())
    expect(second.recent.list()).toEqual([])
    const third = setUp()
    third.goneFor(-5 * minute - 1)
    third.recent.settle(new Set())
    expect(third.recent.list()).toEqual([])
  })

  it('keeps its time and number over a restart of the agent, but not after clear', () => {
    const { recent, at } = setUp()
    recent.note(stick, true)
    expect(recent.list()).toEqual([{ key: stick.key, instance: '1', device: stick.device, at: at.now }])
    const next = setUp(recent.list())
    expect(next.recent.covers(stick)).toBe(true)
    next.recent.clear()
    expect(next.recent.covers(stick)).toBe(false)
  })

  it('is one of at most 512; the oldest are forgotten', () => {
    const device = stick.device
    const many = Array.from({ length: 513 }, (_, n) => ({ key: `k${n}`, instance: '', device, at: 1_000_000_000 }))
    const { recent } = setUp(many)
    recent.settle(new Set())
    expect(recent.list().map(({ key }) => key)).toEqual(many.slice(1).map(({ key }) => key))
    recent.settle(new Set())
    expect(recent.list()).toHaveLength(512)
  })
})

describe('a device is identified', () => {
  const policyless = createEvaluator()
  const of = (report: ReturnType<typeof storageStick>, instance = '1') => policyless.identify({ report, instance })

  it('by its port, its fingerprint without revision and its serial number', () => {
    const { key, device, portPath, instance, parsed } = of(storageStick({ portPath: '1-2', serial: 'S1' }))
    expect([key, portPath, instance]).toEqual([`1-2|${device.fingerprintWithoutRevision}|S1`, '1-2', '1'])
    expect(parsed).toEqual(parseReport(storageStick({ portPath: '1-2', serial: 'S1' })))
  })

  it.each([
    ['its product', { product: ' Ultra\u200b ', manufacturer: 'SanDisk' }, 'Ultra'],
    ['its manufacturer, if it has no product', { product: ' ', manufacturer: 'SanDisk' }, 'SanDisk'],
    ['its kind and IDs, if both are empty', { product: '', manufacturer: '' }, 'Mass Storage 0781:5581'],
    ['at most 80 characters of its product', { product: 'x'.repeat(100) }, 'x'.repeat(80)],
    ['at most 80 characters of its manufacturer', { product: '', manufacturer: 'x'.repeat(100) }, 'x'.repeat(80)],
  ])('to users by %s', (_, texts, name) => {
    expect(of(storageStick({ portPath: '1-2', ...texts })).name).toBe(name)
  })

  it('to users by its kind and IDs, if it has no texts', () => {
    const { product: _, manufacturer: __, ...nameless } = storageStick({ portPath: '1-2' })
    expect(of(nameless).name).toBe('Mass Storage 0781:5581')
  })

  it('once per attachment, and again only if its identity changes', () => {
    const report = storageStick({ portPath: '1-2' })
    const first = of(report)
    const mismatch = { bound: [{ interface: 0, claims: 'Mass Storage' as const, driver: 'x' }] }
    const enforced = { effect: 'allow' as const, source: 'hub' as const, ruleId: null, policyVersion: 1 }
    expect(of({ ...report, authorized: false })).toBe(first)
    expect(of({ ...report, mismatch, enforced })).toBe(first)
    expect(of({ ...report, product: 'x' }).name).toBe('x')
    expect(of(report, '2')).not.toBe(of(report, '1'))
    const again = of(report, '1')
    policyless.use(undefined)
    expect(of(report, '1')).not.toBe(again)
  })
})
