import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { timeTicks } from './time-ticks.ts'

const at = (text: string): number => new Date(text).getTime()
const labels = (from: string, to: string, most = 7): string[] =>
  timeTicks(at(from), at(to), most).map(({ label }) => label)

describe('the ticks of an axis of time', () => {
  it('are round hours, days and months', () => {
    expect(labels('2031-05-04T09:10', '2031-05-04T14:20')).toEqual(['10:00', '11:00', '12:00', '13:00', '14:00'])
    expect(labels('2031-05-03T09:10', '2031-05-04T09:10')).toEqual(['12:00', '18:00', 'May 4', '06:00'])
    expect(labels('2031-05-01T09:10', '2031-05-04T09:10')).toEqual(expect.arrayContaining(['May 2', 'May 3', 'May 4']))
    expect(labels('2031-01-20T09:10', '2031-06-04T09:10')).toEqual([
      'Feb 2031',
      'Mar 2031',
      'Apr 2031',
      'May 2031',
      'Jun 2031',
    ])
  })

  it('are few, in order and inside any range', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: at('2001-01-01T00:00'), max: at('2040-01-01T00:00') }),
        fc.integer({ min: 1, max: 20 * 365 * 86_400_000 }),
        fc.integer({ min: 3, max: 12 }),
        (from, size, most) => {
          const ticks = timeTicks(from, from + size, most).map((tick) => tick.at)
          expect(ticks.length).toBeLessThanOrEqual(most)
          expect(ticks).toEqual(ticks.toSorted((a, b) => a - b))
          for (const tick of ticks) expect(tick >= from && tick <= from + size).toBe(true)
        },
      ),
      { numRuns: 200 },
    )
  })
})
