import { describe, expect, it } from 'vitest'
import { inputTime, inputValue, isReversed, presetOf, presetsAt } from './range.ts'

const now = Date.parse('2031-05-04T15:30:00')
const local = (text: string): string => new Date(text).toISOString()

describe('ranges of a timeline', () => {
  it('begin at midnight where the user is', () => {
    expect(presetsAt(now)).toEqual({
      day: {},
      today: { from: local('2031-05-04T00:00') },
      yesterday: { from: local('2031-05-03T00:00'), to: local('2031-05-03T23:59:59.999') },
      week: { from: local('2031-04-28T00:00') },
      month: { from: local('2031-04-05T00:00') },
    })
  })

  it('are recognised in an address', () => {
    for (const [name, range] of Object.entries(presetsAt(now))) expect(presetOf(range, now)).toBe(name)
    expect(presetOf({ from: local('2031-05-04T01:00') }, now)).toBeNull()
  })

  it('keep the minute that the user enters', () => {
    expect(inputValue(inputTime('2031-05-04T07:05'))).toBe('2031-05-04T07:05')
    expect([inputValue('soon'), inputValue(undefined), inputTime('')]).toEqual(['', '', undefined])
  })

  it('are refused if they end before they begin', () => {
    expect(isReversed({ from: local('2031-05-04T10:00'), to: local('2031-05-04T09:00') }, now)).toBe(true)
    expect(isReversed({ from: local('2031-05-04T16:00') }, now)).toBe(true)
    expect(isReversed({ from: local('2031-05-04T10:00') }, now)).toBe(false)
    expect(isReversed({}, now)).toBe(false)
  })
})
