import { describe, expect, it } from 'vitest'
import { durationText, exactUtc, parseTime, relativeTime } from './time.ts'

const at = Date.UTC(2031, 4, 4, 10, 11, 12)

describe('times of the interface', () => {
  it.each(['2031-05-04T10:11:12', '2031-05-04 10:11:12', '2031-05-04T10:11:12.000Z', '2031-05-04T12:11:12+02:00'])(
    'reads %s as the same instant',
    (text) => expect(parseTime(text)).toBe(at),
  )

  it.each([null, undefined, '', 'soon'])('reads %s as none', (text) => expect(parseTime(text)).toBeNull())

  it.each([
    [0, 'now'],
    [4_000, 'now'],
    [42_000, '42 s'],
    [89_000, '89 s'],
    [90_000, '2 min'],
    [3 * 3_600_000, '3 h'],
    [47 * 3_600_000, '2 d'],
    [70 * 86_400_000, '2 mo'],
    [-2 * 3_600_000, 'in 2 h'],
  ])('says %d ms as %s', (ago, text) => expect(relativeTime(at - ago, at)).toBe(text))

  it('shows UTC to the second', () => expect(exactUtc(at)).toBe('2031-05-04 10:11:12 UTC'))

  it.each([
    [0, '0 s'],
    [59, '59 s'],
    [3_660, '1 h 1 min'],
    [86_400, '1 d'],
    [90_061, '1 d 1 h'],
  ])('says a duration of %d s as %s', (seconds, text) => expect(durationText(seconds)).toBe(text))
})
