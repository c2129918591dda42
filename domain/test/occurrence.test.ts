import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type HostClock, occurrenceOf } from '../src/index.ts'

const hour = 3_600_000
const receivedAt = Date.parse('2031-05-05T08:00:00Z')
const host = (more: Partial<HostClock> = {}): HostClock => ({
  clock: receivedAt,
  ageMs: 0,
  receivedAt,
  lastSeen: receivedAt - 60_000,
  lastSkewMs: 0,
  ...more,
})

describe('the time of a change', () => {
  it('is correct whatever the host clock shows', () => {
    const change = { happened: receivedAt - 60 * hour }
    for (const skew of [0, 5 * hour, -5 * hour])
      expect(occurrenceOf(change.happened + skew, false, host({ clock: receivedAt + skew }))).toEqual({
        at: change.happened,
        uncertaintyMs: 1_000,
      })
  })

  it('takes into account how long the check-in waited', () => {
    // Formed on Friday, one hour after the change, and delivered on Monday.
    const formed = receivedAt - 60 * hour
    expect(occurrenceOf(formed - hour, false, host({ clock: formed, ageMs: 60 * hour }))).toEqual({
      at: receivedAt - 61 * hour,
      uncertaintyMs: 1_000,
    })
  })

  it('covers the silence before a check-in without an age', () => {
    const silent = host({ ageMs: undefined, lastSeen: receivedAt - 10 * hour })
    expect(occurrenceOf(receivedAt - hour, false, silent)?.uncertaintyMs).toBe(10 * hour + 1_000)
  })

  it('covers both clocks after a restart', () => {
    // The clock was two hours ahead and was corrected while the host started.
    const found = occurrenceOf(receivedAt - hour, true, host({ lastSkewMs: 2 * hour }))
    expect(found).toEqual({ at: receivedAt - 2 * hour, uncertaintyMs: hour + 1_000 })
  })

  it('is unknown if the host clock contradicts itself', () => {
    expect(occurrenceOf(receivedAt + 1, false, host())).toBeUndefined()
    expect(occurrenceOf(0, false, host())).toBeUndefined()
    expect(occurrenceOf(receivedAt - hour, true, host({ lastSkewMs: -10 * hour }))).toBeUndefined()
  })

  it('is never later than the receipt, and contains the true time', () => {
    const anyMs = (max: number) => fc.integer({ min: 0, max })
    const check = fc.property(
      ...([
        anyMs(90 * 24 * hour),
        anyMs(90 * 24 * hour),
        fc.integer({ min: -hour * 99, max: hour * 99 }),
        anyMs(900),
      ] as const),
      (elapsed, ageMs, skew, transit) => {
        const sent = receivedAt - transit
        const happened = sent - ageMs - elapsed
        const found = occurrenceOf(happened + skew, false, host({ clock: sent - ageMs + skew, ageMs }))
        if (found === undefined) throw new Error('unknown')
        expect(found.at).toBeLessThanOrEqual(receivedAt)
        expect(Math.abs(found.at - happened)).toBeLessThanOrEqual(found.uncertaintyMs)
      },
    )
    fc.assert(check)
  })
})
