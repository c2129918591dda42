import { describe, expect, it } from 'vitest'
import { ticksOf } from './chart.ts'

describe('labels of an axis', () => {
  it.each([
    [0, [0, 1]],
    [1, [0, 1]],
    [4, [0, 1, 2, 3, 4]],
    [5, [0, 2, 4, 6]],
    [17, [0, 5, 10, 15, 20]],
    [38, [0, 10, 20, 30, 40]],
    [1_001, [0, 500, 1_000, 1_500]],
    [9_999, [0, 5_000, 10_000]],
  ])('for %d are %j', (most, labels) => expect(ticksOf(most)).toEqual(labels))

  it('reach the largest value in at most four steps', () => {
    for (let most = 0; most < 5_000; most += 7) {
      const labels = ticksOf(most)
      expect(labels.length).toBeLessThanOrEqual(5)
      expect(labels.at(-1)).toBeGreaterThanOrEqual(most)
    }
  })
})
