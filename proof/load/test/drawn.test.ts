import { expect, it } from 'vitest'
import { drawUniformly } from '../../kit/loader.ts'

it('draws hosts from the whole fleet, the same ones for the same seed', () => {
  const drawn = [...drawUniformly(100_000, 5_000, 7)]
  expect(new Set(drawn).size).toBe(5_000)
  expect(drawUniformly(100_000, 5_000, 7)).toEqual(new Set(drawn))
  expect(drawUniformly(100_000, 5_000, 8)).not.toEqual(new Set(drawn))
  const tenths = Array.from({ length: 10 }, (_, i) => drawn.filter((one) => Math.floor(one / 10_000) === i).length)
  // 500 each, with a standard deviation of 21.
  expect(Math.min(...tenths)).toBeGreaterThan(400)
  expect(Math.max(...tenths)).toBeLessThan(600)
})

it('draws all hosts on request', () => {
  expect(drawUniformly(10, 10, 1).size).toBe(10)
  expect(drawUniformly(3, 5, 1)).toEqual(new Set([0, 1, 2]))
})
