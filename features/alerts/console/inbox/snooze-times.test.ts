import { describe, expect, it } from 'vitest'
import { snoozeTimes } from './snooze-times.ts'

const ends = (now: Date) => snoozeTimes(now).map(({ at }) => at.getTime())

describe('the ends of a snooze', () => {
  it('are different times on every day of the week', () => {
    for (let day = 1; day <= 7; day++) {
      const times = ends(new Date(2026, 10, day, 9))
      expect(new Set(times).size).toBe(times.length)
    }
  })

  it('include the next Monday morning', () => {
    for (let day = 1; day <= 7; day++)
      expect(ends(new Date(2026, 10, day, 9))).toContain(new Date(2026, 10, day < 2 ? 2 : 9, 8).getTime())
  })
})
