import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { AppError } from './app-error.ts'
import { requireTime, type TimeSpan, zoneless } from './time.ts'

const two = (n: number): string => String(n).padStart(2, '0')

const parseTime = (text: string): TimeSpan | null => {
  try {
    return requireTime('query.FromDate', text)
  } catch (error) {
    if (error instanceof AppError && error.message.startsWith('query.FromDate: must be a time')) return null
    throw error
  }
}

/** A time to the millisecond, in all the forms that clients use. */
const moment = fc.date({
  min: new Date('1900-01-02T00:00:00Z'),
  max: new Date('9999-12-30T00:00:00Z'),
  noInvalidDate: true,
})
const offset = fc.integer({ min: -14 * 60, max: 14 * 60 })

describe('requireTime', () => {
  it('parses what Date parses, with T or a space and any offset', () => {
    fc.assert(
      fc.property(
        moment,
        offset,
        fc.constantFrom('T', ' ', 't'),
        fc.constantFrom(':', ''),
        fc.constantFrom('seconds', 'minutes', 'fraction'),
        fc.integer({ min: 1, max: 9 }),
        (date, minutes, separator, colon, unit, digits) => {
          const local = new Date(date.getTime() + minutes * 60_000).toISOString()
          const zone = `${minutes < 0 ? '-' : '+'}${two(Math.floor(Math.abs(minutes) / 60))}${colon}${two(Math.abs(minutes) % 60)}`
          const fraction = local.slice(20, 23).padEnd(9, '0').slice(0, digits)
          const clock =
            unit === 'minutes'
              ? local.slice(11, 16)
              : unit === 'seconds'
                ? local.slice(11, 19)
                : `${local.slice(11, 19)}.${fraction}`
          const text = `${local.slice(0, 10)}${separator}${clock}${zone}`
          const exact = Date.parse(
            `${local.slice(0, 10)}T${unit === 'fraction' ? `${local.slice(11, 19)}.${fraction.slice(0, 3)}` : clock}${zone.slice(0, 3)}:${zone.slice(-2)}`,
          )
          const width = unit === 'minutes' ? 60_000 : unit === 'seconds' ? 1000 : 10 ** Math.max(0, 3 - digits)
          expect(parseTime(text), text).toEqual({ from: new Date(exact), to: new Date(exact + width) })
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('treats a missing zone as UTC, and a lost + as a +', () => {
    fc.assert(
      fc.property(moment, (date) => {
        const text = date.toISOString().slice(0, 23)
        expect(parseTime(text)?.from).toEqual(date)
        expect(parseTime(`${text}Z`)?.from).toEqual(date)
        expect(parseTime(`${text} 02:00`)?.from).toEqual(new Date(date.getTime() - 7_200_000))
        expect(parseTime(zoneless(date))?.from).toEqual(date)
      }),
    )
  })

  it('treats a date as the whole day, in both formats', () => {
    fc.assert(
      fc.property(moment, (date) => {
        const iso = date.toISOString().slice(0, 10)
        const [year, month, day] = iso.split('-')
        const from = new Date(`${iso}T00:00:00Z`)
        const span = { from, to: new Date(from.getTime() + 86_400_000) }
        expect(parseTime(iso)).toEqual(span)
        expect(parseTime(`${month}/${day}/${year}`)).toEqual(span)
      }),
    )
  })

  it.each(['9999-12-31', '12/31/9999', '9999-12-31T23:59:59Z', '9999-12-31T23:59', '9999-12-31T20:00:00-23:00'])(
    'stays within four-digit years with %j',
    (text) => {
      const span = parseTime(text)
      expect(span?.to.toISOString()).toMatch(/^9999-12-31T23:59:59/)
      expect((span?.from ?? 0) < (span?.to ?? 0)).toBe(true)
    },
  )

  it.each([
    '',
    'now',
    '2031',
    '2031-05',
    '2031-13-01',
    '2031-00-10',
    '2031-05-32',
    '2031-02-29',
    '04/31/2031',
    '13/01/2031',
    '2031-05-04T24:00:00',
    '2031-05-04T10:60',
    '2031-05-04T10:11:61',
    '2031-05-04T10',
    '2031-05-04T10:11:12.',
    '2031-05-04T10:11:12+1',
    '2031-05-04T10:11:12+24:00',
    '2031-05-04T10:11:12+01:60',
    '2031-5-4',
    '0001-01-01',
    '99999-01-01',
    '1930000000',
    '2031-05-04T10:11:12Z; drop',
    '٢٠٣١-٠٥-٠٤',
  ])('rejects %j', (text) => {
    expect(parseTime(text)).toBeNull()
  })

  it('never throws and never returns an invalid date', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[\d:TZ+\- ./]{0,30}$/)), (text) => {
        const span = parseTime(text)
        if (span !== null) expect(span.to.getTime()).toBeGreaterThan(span.from.getTime())
      }),
      { numRuns: 3_000 },
    )
  })
})
