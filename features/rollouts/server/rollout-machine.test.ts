import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  apply,
  type Control,
  control,
  controls,
  decide,
  type Limits,
  mayCommand,
  type Position,
  type Tally,
} from './rollout-machine.ts'

const limits: Limits = { dwellMs: 60_000, catchUpMs: 600_000, failurePercent: 10, blocksOverPercent: 10 }
const final = ['completed', 'reverted', 'cancelled']

const tally = (change: Partial<Tally> = {}): Tally => ({
  waiting: 0,
  offline: 0,
  pending: 0,
  commanded: 10,
  failed: 0,
  over: 0,
  settled: 10,
  accepted: { failed: 0, over: 0 },
  ...change,
})
const small = fc.nat(12)
const anyTally = fc.record({
  waiting: fc.nat(2),
  offline: fc.nat(2),
  pending: fc.nat(2),
  commanded: fc.integer({ min: 1, max: 20 }),
  failed: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, small),
  over: fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, small),
  settled: fc.nat(3),
  accepted: fc.record({ failed: fc.nat(3), over: fc.nat(3) }),
})
type Step = { pass: number; tallies: Tally[]; order: Control | null }
const steps = fc.array(
  fc.record<Step>({
    pass: fc.integer({ min: 0, max: 90_000 }),
    tallies: fc.array(anyTally, { minLength: 4, maxLength: 4 }),
    order: fc.option(fc.constantFrom(...controls), { nil: null, freq: 6 }),
  }),
  { maxLength: 60 },
)
const start = (kind: 'arm' | 'update'): Position => ({ kind, state: 'running', ring: -1, rings: 4, dwellUntil: null })

/** Runs a rollout through random events and passes each transition to the callback. */
const simulate = (
  kind: 'arm' | 'update',
  given: readonly Step[],
  see: (before: Position, after: Position, now: number, started: Tally[], order: Control | null) => void,
): void => {
  let position = start(kind)
  let now = 0
  for (const { pass, tallies, order } of given) {
    now += pass
    if (order !== null) {
      const state = control(position, order)
      const after = state === null ? position : { ...position, state }
      see(position, after, now, [], order)
      position = after
    }
    const started = tallies.slice(0, position.ring + 1)
    const after = apply(position, decide(position, started, limits, now))
    see(position, after, now, started, null)
    position = after
  }
}

describe('a rollout', () => {
  it('advances ring by ring after each dwell time, and completes', () => {
    let position = start('arm')
    const seen: string[] = []
    for (let now = 0; position.state === 'running'; now += 30_000) {
      const decision = decide(position, Array(position.ring + 1).fill(tally()), limits, now)
      if (decision.do !== 'nothing') seen.push(`${now / 1000} ${decision.do}${'ring' in decision ? decision.ring : ''}`)
      position = apply(position, decision)
    }
    expect(seen).toEqual([
      ...['0 startRing0', '30 dwell', '90 startRing1', '120 dwell', '180 startRing2', '210 dwell'],
      ...['270 startRing3', '300 dwell', '360 complete'],
    ])
  })

  it('never starts a ring before the dwell time of the previous one ended', () => {
    fc.assert(
      fc.property(fc.constantFrom('arm', 'update'), steps, (kind, given) => {
        let dwellingSince: number | null = null
        simulate(kind, given, (before, after, now) => {
          expect(after.ring - before.ring).toBeLessThanOrEqual(1)
          if (after.ring > before.ring && before.ring >= 0) {
            expect(dwellingSince).not.toBeNull()
            expect(now - (dwellingSince as number)).toBeGreaterThanOrEqual(limits.dwellMs)
          }
          if (after.ring > before.ring) dwellingSince = null
          else if (before.dwellUntil === null && after.dwellUntil !== null) dwellingSince = now
        })
      }),
    )
  })

  it('continues after a halt, a pause or an exceeded budget only by an order', () => {
    fc.assert(
      fc.property(steps, (given) => {
        simulate('arm', given, (before, after, _now, started, order) => {
          const isPassed = started.some(
            (t) =>
              (t.failed > t.accepted.failed && (t.failed - t.accepted.failed) * 100 > 10 * t.commanded) ||
              (t.over > t.accepted.over && (t.over - t.accepted.over) * 100 > 10 * t.commanded),
          )
          if (isPassed && (before.state === 'running' || before.state === 'paused')) expect(after.state).toBe('halted')
          if (order === null && before.state !== 'running') {
            expect(after.ring).toBe(before.ring)
            expect(['halted', before.state]).toContain(after.state)
          }
          for (let ring = 0; ring < 4; ring++)
            if (after.state !== 'running' || ring > after.ring) expect(mayCommand(after, ring)).toBe(false)
        })
      }),
    )
  })

  it('stays in a final state, whatever the order', () => {
    fc.assert(
      fc.property(fc.constantFrom('arm', 'update'), steps, (kind, given) => {
        simulate(kind, given, (before, after) => {
          if (final.includes(before.state)) expect(after).toEqual(before)
          if (kind === 'update') expect(after.state).not.toBe('reverted')
        })
      }),
    )
  })

  it('waits for at least one result, and after the last ring for offline hosts', () => {
    const last: Position = { ...start('arm'), ring: 3, dwellUntil: 1_000 }
    const rest = [tally(), tally(), tally()]
    expect(decide({ ...last, dwellUntil: null }, [...rest, tally({ settled: 0, offline: 3 })], limits, 0).do).toBe(
      'nothing',
    )
    expect(decide({ ...last, dwellUntil: null }, [...rest, tally({ settled: 0, commanded: 0 })], limits, 0).do).toBe(
      'dwell',
    )
    expect(decide(last, [...rest, tally({ offline: 1 })], limits, 2_000).do).toBe('nothing')
    expect(decide(last, [...rest, tally({ offline: 1 })], limits, 601_000).do).toBe('complete')
    expect(decide(last, [...rest, tally()], limits, 1_000).do).toBe('complete')
  })

  it('halts on the first failure over the budget, and does not count accepted failures', () => {
    const position: Position = { ...start('arm'), ring: 0 }
    const evaluate = (change: Partial<Tally>) => decide(position, [tally(change)], limits, 0)
    expect(evaluate({ failed: 1 }).do).toBe('dwell')
    expect(evaluate({ failed: 2 })).toEqual({
      do: 'halt',
      reason: '2 of 10 hosts of ring 1 failed, which exceeds the budget of 10 %.',
    })
    expect(evaluate({ over: 2 }).do).toBe('halt')
    expect(evaluate({ failed: 2, accepted: { failed: 1, over: 0 } }).do).toBe('dwell')
  })
})
