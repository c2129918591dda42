import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createHostTime } from '../src/host-time.ts'
import { temporaryDir } from './harness.ts'

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

type Step =
  | { do: 'pass'; ms: number }
  | { do: 'forge'; ms: number }
  | { do: 'restartAgent' }
  | { do: 'restartHost'; offMs: number }
  | { do: 'confirm'; delayMs: number }

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 5 * hour }) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('forge' as const), ms: fc.integer({ min: -400 * day, max: day }) }),
  },
  { weight: 1, arbitrary: fc.constant({ do: 'restartAgent' as const }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('restartHost' as const), offMs: fc.integer({ min: 0, max: day }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('confirm' as const), delayMs: fc.integer({ min: 0, max: minute }) }),
  },
)

describe('the time of a host', () => {
  it('is behind the truth at most by the time that the host was off, whatever its clock shows', () => {
    const began = 1_700_000_000_000
    fc.assert(
      fc.property(fc.array(anyStep, { maxLength: 40 }), (steps) => {
        const stateDir = temporaryDir()
        let truth = began
        let wall = 0
        let bootedAt = began - hour
        let boots = 0
        let off = 0
        let early = 0
        const create = () => {
          const since = bootedAt
          return createHostTime({
            stateDir,
            boot: { id: `boot-${boots}`, elapsed: () => truth - since },
            clock: { now: () => wall, monotonic: () => truth },
            reports: { add: (_, message) => expect.unreachable(message) },
          })
        }
        let time = create()
        const confirm = (delayMs: number) => {
          const asked = time.elapsed()
          truth += delayMs
          // The server answers at the end of the delay.
          time.confirm(truth, asked)
          off = 0
          early = delayMs
        }
        confirm(0)
        for (const step of steps) {
          if (step.do === 'pass')
            // As the agent: a check every second, which is only simulated at the minutes.
            for (let left = step.ms; left > 0; left -= minute) {
              truth += Math.min(left, minute)
              time.keep()
            }
          else if (step.do === 'forge') wall = truth + step.ms
          else if (step.do === 'confirm') confirm(step.delayMs)
          else {
            if (step.do === 'restartHost') {
              truth += step.offMs
              off += step.offMs
              early += minute
              boots++
              bootedAt = truth
            }
            time = create()
          }
          expect(time.now()).toBeGreaterThanOrEqual(truth - off)
          expect(time.now()).toBeLessThanOrEqual(Math.max(wall, truth - off + early))
        }
      }),
      { numRuns: 300 },
    )
  })

  it('does not stop if the host restarts again and again before the time is stored', () => {
    const stateDir = temporaryDir()
    let last = 0
    for (let n = 0; n < 100; n++) {
      const time = createHostTime({
        stateDir,
        boot: { id: `boot-${n}`, elapsed: () => 30_000 },
        clock: { now: () => 0, monotonic: () => 0 },
        reports: { add: () => undefined },
      })
      if (n === 0) time.confirm(1_000_000, 30_000)
      expect(time.now()).toBeGreaterThanOrEqual(last + (n === 0 ? 0 : 30_000))
      last = time.now()
    }
  })

  it('resumes after a restart of a container, which has a new uptime in the same boot', () => {
    const stateDir = temporaryDir()
    const create = (elapsed: number) =>
      createHostTime({
        stateDir,
        boot: { id: 'boot', elapsed: () => elapsed },
        clock: { now: () => 0, monotonic: () => 0 },
        reports: { add: () => undefined },
      })
    create(day).confirm(1_000_000, day)
    expect(create(hour).now()).toBeGreaterThanOrEqual(1_000_000 + hour)
  })

  it('follows the host clock if the time cannot be stored or the boot is unknown, and says so', () => {
    const stateDir = join(temporaryDir(), 'missing')
    const reports: string[] = []
    const time = createHostTime({
      stateDir,
      boot: { id: '', elapsed: () => day },
      clock: { now: () => 500, monotonic: () => 0 },
      reports: { add: (code) => reports.push(code) },
    })
    expect(time.now()).toBe(500)
    time.confirm(400, day)
    time.confirm(450, day)
    expect(time.now()).toBe(500)
    expect(reports).toEqual(['time_not_stored'])
  })
})

/** Creates the time of a host in a boot, with a host clock that is at 0. */
const create = (stateDir: string, id: string, elapsed: () => number, reports: string[] = []) =>
  createHostTime({
    stateDir,
    boot: { id, elapsed },
    clock: { now: () => 0, monotonic: () => 7 },
    reports: { add: (code, message) => void reports.push(`${code}: ${message}`) },
  })
const stored = (stateDir: string) => JSON.parse(readFileSync(join(stateDir, 'time.json'), 'utf8'))

describe('a stamp', () => {
  it('says when it was in its boot', () => {
    let elapsed = 500
    const time = create(temporaryDir(), 'one', () => elapsed)
    expect([time.monotonic(), time.elapsed()]).toEqual([7, 500])
    const stamp = time.stampOf(1_000)
    expect([stamp, time.stampOf(1_000, 100)]).toEqual([
      { at: 1_000, boot: 'one', elapsed: 500 },
      { at: 1_000, boot: 'one', elapsed: 100 },
    ])
    elapsed = 800
    expect(time.after(stamp)).toBe(1_300)
    // Of another boot, and of an earlier container in the same boot: the whole uptime has passed since.
    expect(time.after({ ...stamp, boot: 'other' })).toBe(1_800)
    expect(time.after({ ...stamp, elapsed: 801 })).toBe(1_800)
    expect(time.after({ ...stamp, elapsed: 800 })).toBe(1_000)
  })

  it('of an unknown boot counts no time', () => {
    const time = create(temporaryDir(), '', () => 800)
    expect(time.after({ at: 1_000, boot: 'one', elapsed: 500 })).toBe(1_000)
    expect(time.stampOf(1).boot).not.toBe('')
    expect(time.after(time.stampOf(1_000, 300))).toBe(1_500)
  })
})

describe('the stored time', () => {
  it('is that of the server, even if it is earlier', () => {
    const stateDir = temporaryDir()
    const time = create(stateDir, 'one', () => 500)
    expect(time.now()).toBe(0)
    time.confirm(9_000, 400)
    expect([stored(stateDir), time.now()]).toEqual([{ at: 9_000, boot: 'one', elapsed: 400 }, 9_100])
    time.confirm(5_000, 500)
    expect(time.now()).toBe(5_000)
  })

  it('is raised in memory by an earlier signature, and never lowered', () => {
    const stateDir = temporaryDir()
    let elapsed = 500
    const time = create(stateDir, 'one', () => elapsed)
    time.atLeast(3_000)
    expect(time.now()).toBe(3_000)
    elapsed = 600
    time.atLeast(3_050)
    expect(time.now()).toBe(3_100)
    time.atLeast(3_101)
    expect(time.now()).toBe(3_101)
    expect(() => stored(stateDir)).toThrow('ENOENT')
  })

  it('is kept every minute', () => {
    const stateDir = temporaryDir()
    let elapsed = 500
    const time = create(stateDir, 'one', () => elapsed)
    time.keep()
    expect(() => stored(stateDir)).toThrow('ENOENT')
    time.confirm(9_000, 500)
    elapsed += minute - 1
    time.keep()
    expect(stored(stateDir).at).toBe(9_000)
    elapsed += 1
    time.keep()
    expect(stored(stateDir)).toEqual({ at: 9_000 + minute, boot: 'one', elapsed: 500 + minute })
  })

  it('resumes unchanged after a restart of the agent, and a minute later after a restart of the host', () => {
    const stateDir = temporaryDir()
    create(stateDir, 'one', () => 500).confirm(9_000, 500)
    expect(create(stateDir, 'one', () => 700).now()).toBe(9_200)
    expect(stored(stateDir).at).toBe(9_000)
    expect(create(stateDir, 'two', () => 100).now()).toBe(9_100 + minute)
    expect(stored(stateDir)).toEqual({ at: 9_100 + minute, boot: 'two', elapsed: 100 })
    expect(create(stateDir, '', () => 100).now()).toBe(9_100 + minute)
  })

  it.each([
    '',
    'null',
    '1',
    '{}',
    '{"at":1e999,"boot":"one","elapsed":1}',
    '{"at":1,"boot":1,"elapsed":1}',
    '{"at":1,"boot":"one"}',
  ])('does not count if it is %j', (text) => {
    const stateDir = temporaryDir()
    writeFileSync(join(stateDir, 'time.json'), text)
    expect(create(stateDir, 'one', () => 500).now()).toBe(0)
  })

  it('that cannot be written is reported once until it can', () => {
    const dir = temporaryDir()
    const reports: string[] = []
    const time = create(join(dir, 'state'), 'one', () => 500, reports)
    time.confirm(1, 500)
    time.confirm(2, 500)
    expect(reports).toHaveLength(1)
    expect(reports[0]).toMatch(/^time_not_stored: .*ENOENT/)
  })
})
