import { describe, expect, it } from 'vitest'
import { endsOf, rangeAt, rangeOf, relativeRanges, withTimes } from './range.ts'

// In March, clocks change in many zones: a day is 23 or 25 hours long.
const nows = [
  Date.parse('2031-05-04T10:11:12Z'),
  Date.parse('2031-03-30T23:30:00Z'),
  Date.parse('2031-01-01T00:00:00Z'),
]

describe('a range relative to now', () => {
  it.each(nows)('begins in the past and ends after it begins (%s)', (now) => {
    for (const name of relativeRanges) {
      const [from, to] = endsOf(rangeAt(name, now))
      expect(Date.parse(from)).toBeLessThanOrEqual(now)
      if (to !== '') expect(Date.parse(to)).toBeGreaterThan(Date.parse(from))
    }
  })

  it('covers the whole local day before today', () => {
    for (const now of nows) {
      const [from, to] = endsOf(rangeAt('yesterday', now)).map((text) => new Date(text)) as [Date, Date]
      expect([from.getHours(), from.getMinutes(), to.getHours(), to.getMinutes()]).toEqual([0, 0, 23, 59])
      expect(from.toDateString()).toBe(to.toDateString())
      const today = new Date(now)
      expect(new Date(to.getTime() + 60_000).toDateString()).toBe(today.toDateString())
    }
  })

  it('is sent as times, for one filter or for two', () => {
    const now = nows[0] as number
    const spec = { ranges: { time: null, fromDate: 'toDate' } }
    const day = '2031-05-03T10:11Z'
    expect(withTimes({ time: '24h', name: 'today' }, spec, now)).toEqual({ time: `${day}..`, name: 'today' })
    expect(withTimes({ fromDate: '24h' }, spec, now)).toEqual({ fromDate: day })
    const { fromDate, toDate } = withTimes({ fromDate: 'yesterday' }, spec, now)
    expect(`${fromDate}..${toDate}`).toBe(rangeAt('yesterday', now))
    expect(withTimes({ fromDate: '2031-01-01', toDate: '2031-01-02' }, spec, now)).toEqual({
      fromDate: '2031-01-01',
      toDate: '2031-01-02',
    })
  })
})

describe('the ends of a range', () => {
  it('make the same range again', () => {
    for (const range of ['today', 'a..b', 'a..', '..b']) {
      const [from, to] = endsOf(range)
      expect(rangeOf(from === '' ? undefined : from, to === '' ? undefined : to)).toBe(range)
    }
    expect(rangeOf(undefined, undefined)).toBeUndefined()
  })
})
