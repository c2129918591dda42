import { instantOf, isZone, wallOf } from '@portcullis/platform/server/wall-clock.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ReportCadence } from '#features/contract.ts'
import { dueRun, nextRun, rangeStart } from './cadence.ts'

const at = (text: string): number => Date.parse(text)
const times = (cadence: ReportCadence, from: string, n: number): string[] => {
  const found: string[] = []
  for (let last = at(from); found.length < n; ) {
    last = nextRun(cadence, last)
    found.push(new Date(last).toISOString().slice(0, 16))
  }
  return found
}
const daily = (time: string, timeZone: string): ReportCadence => ({ every: 'day', time, timeZone })

describe('scheduled times', () => {
  it('keep the wall-clock time in Berlin over both clock changes of 2031', () => {
    expect(times(daily('06:00', 'Europe/Berlin'), '2031-03-28T12:00:00Z', 3)).toEqual([
      '2031-03-29T05:00',
      '2031-03-30T04:00',
      '2031-03-31T04:00',
    ])
    expect(times(daily('06:00', 'Europe/Berlin'), '2031-10-25T12:00:00Z', 2)).toEqual([
      '2031-10-26T05:00',
      '2031-10-27T05:00',
    ])
  })

  it('run at the next existing time if skipped', () => {
    // 02:00 to 03:00 does not exist on 30 March 2031 in Berlin, and on 9 March 2031 in New York.
    expect(times(daily('02:30', 'Europe/Berlin'), '2031-03-29T12:00:00Z', 2)).toEqual([
      '2031-03-30T01:00',
      '2031-03-31T00:30',
    ])
    expect(times(daily('02:15', 'America/New_York'), '2031-03-08T12:00:00Z', 2)).toEqual([
      '2031-03-09T07:00',
      '2031-03-10T06:15',
    ])
    // Samoa skipped 30 December 2011.
    expect(times(daily('12:00', 'Pacific/Apia'), '2011-12-29T23:00:00Z', 2)).toEqual([
      '2011-12-30T10:00',
      '2011-12-30T22:00',
    ])
  })

  it('keep their day in zones where clocks change at midnight', () => {
    // Cairo skips 00:00 to 01:00 on 25 April 2025, Santiago on 7 September 2025.
    expect(times(daily('00:30', 'Africa/Cairo'), '2025-04-23T12:00:00Z', 3)).toEqual([
      '2025-04-23T22:30',
      '2025-04-24T22:00',
      '2025-04-25T21:30',
    ])
    expect(times(daily('23:45', 'America/Santiago'), '2025-09-06T12:00:00Z', 2)).toEqual([
      '2025-09-07T03:45',
      '2025-09-08T02:45',
    ])
    // Santiago repeats 23:00 to 24:00 on 5 April 2025. The first occurrence counts, even between the two.
    expect(times(daily('23:45', 'America/Santiago'), '2025-04-05T12:00:00Z', 2)).toEqual([
      '2025-04-06T02:45',
      '2025-04-07T03:45',
    ])
    expect(times(daily('23:45', 'America/Santiago'), '2025-04-06T02:50:00Z', 1)).toEqual(['2025-04-07T03:45'])
  })

  it('run once, at the first of two occurrences', () => {
    expect(times(daily('02:30', 'Europe/Berlin'), '2031-10-25T12:00:00Z', 2)).toEqual([
      '2031-10-26T00:30',
      '2031-10-27T01:30',
    ])
    expect(times(daily('01:30', 'America/New_York'), '2031-11-01T12:00:00Z', 2)).toEqual([
      '2031-11-02T05:30',
      '2031-11-03T06:30',
    ])
  })

  it('fall on the last day of a shorter month', () => {
    const monthly = (day: number): ReportCadence => ({ every: 'month', day, time: '00:00', timeZone: 'UTC' })
    expect(times(monthly(31), '2031-01-30T12:00:00Z', 5)).toEqual([
      '2031-01-31T00:00',
      '2031-02-28T00:00',
      '2031-03-31T00:00',
      '2031-04-30T00:00',
      '2031-05-31T00:00',
    ])
    expect(times(monthly(29), '2032-01-30T12:00:00Z', 2)).toEqual(['2032-02-29T00:00', '2032-03-29T00:00'])
  })

  it('fall on the weekday in the zone, not in UTC', () => {
    const monday: ReportCadence = { every: 'week', weekday: 1, time: '00:30', timeZone: 'Asia/Tokyo' }
    expect(times(monday, '2031-05-04T10:00:00Z', 2)).toEqual(['2031-05-04T15:30', '2031-05-11T15:30'])
    const sunday: ReportCadence = { every: 'week', weekday: 7, time: '23:30', timeZone: 'America/New_York' }
    expect(times(sunday, '2031-05-04T10:00:00Z', 1)).toEqual(['2031-05-05T03:30'])
  })

  const zones = [
    'UTC',
    'Europe/Berlin',
    'America/New_York',
    'Australia/Lord_Howe',
    'Asia/Kathmandu',
    'America/St_Johns',
    'Africa/Casablanca',
    // These zones change clocks at midnight; Apia once skipped a whole day.
    'Africa/Cairo',
    'America/Santiago',
    'Asia/Beirut',
    'Pacific/Apia',
  ]
  const anyCadence: fc.Arbitrary<ReportCadence> = fc
    .record({
      every: fc.constantFrom('day', 'week', 'month'),
      weekday: fc.integer({ min: 1, max: 7 }),
      day: fc.integer({ min: 1, max: 31 }),
      hour: fc.integer({ min: 0, max: 23 }),
      minute: fc.integer({ min: 0, max: 59 }),
      timeZone: fc.constantFrom(...zones),
    })
    .map(({ every, weekday, day, hour, minute, timeZone }) => ({
      every,
      ...(every === 'week' ? { weekday } : {}),
      ...(every === 'month' ? { day } : {}),
      time: `${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`,
      timeZone,
    }))

  it('increase strictly, at the day and time of the zone, or at the clock change that skips it', () => {
    fc.assert(
      fc.property(anyCadence, fc.integer({ min: at('2020-01-01'), max: at('2036-01-01') }), (cadence, start) => {
        let last = start
        for (let n = 0; n < 4; n++) {
          const next = nextRun(cadence, last)
          expect(next).toBeGreaterThan(last)
          // There is no time in between: just before it, it is still the next one.
          expect(nextRun(cadence, next - 1)).toBe(next)
          const wall = new Date(wallOf(next, cadence.timeZone))
          if (wall.toISOString().slice(11, 16) !== cadence.time) {
            const minuteBefore = wallOf(next - 60_000, cadence.timeZone)
            expect(wall.getTime() - minuteBefore).toBeGreaterThan(60_000)
          } else if (cadence.every === 'week') expect(wall.getUTCDay() || 7).toBe(cadence.weekday)
          else if (cadence.every === 'month') {
            const isLast = new Date(wall.getTime() + 86_400_000).getUTCDate() === 1
            expect(wall.getUTCDate() === cadence.day || (isLast && wall.getUTCDate() < (cadence.day ?? 0))).toBe(true)
          }
          last = next
        }
      }),
      { numRuns: 300 },
    )
  })

  it('are the first instants with that wall-clock time', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...zones),
        fc.integer({ min: at('2020-01-01') / 60_000, max: at('2036-01-01') / 60_000 }),
        (zone, minute) => {
          const found = instantOf(wallOf(minute * 60_000, zone), zone)
          expect(wallOf(found, zone)).toBe(wallOf(minute * 60_000, zone))
          expect(found).toBeLessThanOrEqual(minute * 60_000)
        },
      ),
      { numRuns: 500 },
    )
  })
})

describe('a schedule that missed runs', () => {
  it('runs once, for the newest time, and counts the earlier ones', () => {
    const cadence = daily('06:00', 'Europe/Berlin')
    expect(dueRun(cadence, at('2031-05-04T04:00:00Z'), at('2031-05-07T09:00:00Z'))).toEqual({
      at: at('2031-05-07T04:00:00Z'),
      missed: 3,
      next: at('2031-05-08T04:00:00Z'),
    })
    expect(dueRun(cadence, at('2031-05-04T04:00:00Z'), at('2031-05-04T04:00:00Z'))).toEqual({
      at: at('2031-05-04T04:00:00Z'),
      missed: 0,
      next: at('2031-05-05T04:00:00Z'),
    })
    const later = at('2041-05-04T09:00:00Z')
    expect(dueRun(cadence, at('2031-05-04T04:00:00Z'), later)).toMatchObject({
      missed: 1_000,
      next: at('2041-05-05T04:00:00Z'),
    })
  })
})

describe('a range', () => {
  it('is a day, week or month on the zone clock', () => {
    const from = (range: 'day' | 'week' | 'month', to: string, zone = 'Europe/Berlin') =>
      new Date(rangeStart(range, at(to), zone)).toISOString().slice(0, 16)
    expect(from('day', '2031-03-30T04:00:00Z')).toBe('2031-03-29T05:00')
    expect(from('day', '2031-10-26T05:00:00Z')).toBe('2031-10-25T04:00')
    expect(from('day', '2031-03-31T00:30:00Z')).toBe('2031-03-30T01:00')
    expect(from('day', '2031-10-27T01:30:00Z')).toBe('2031-10-26T00:30')
    expect(from('week', '2031-03-31T04:00:00Z')).toBe('2031-03-24T05:00')
    expect(from('month', '2031-03-31T04:00:00Z')).toBe('2031-02-28T05:00')
    expect(from('month', '2031-01-15T05:00:00Z')).toBe('2030-12-15T05:00')
  })
})

describe('a zone', () => {
  it.each(['UTC', 'Europe/Berlin', 'America/Argentina/Buenos_Aires', 'Etc/GMT+5'])('%s is known', (zone) => {
    expect(isZone(zone)).toBe(true)
  })
  it.each(['', '+02:00', 'Europe/Atlantis', '../etc/passwd', 'Europe/Berlin\n'])('%j is unknown', (zone) => {
    expect(isZone(zone)).toBe(false)
  })
})
