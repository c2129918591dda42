import { expect, it } from 'vitest'
import { createPacer } from './pacer.ts'

it('sends refusals at a bounded rate, and occasional ones at once', () => {
  let now = 0
  const { delay } = createPacer({ perSecond: 100, mostMs: 5_000 }, () => now)
  expect(delay()).toBe(0)
  const delays = Array.from({ length: 270 }, delay)
  expect([delays[0], delays[99], delays.at(-1)]).toEqual([10, 1_000, 2_700])
  for (let i = 0; i < 10_000; i++) delay()
  expect(delay()).toBeLessThanOrEqual(5_000)
  now = 20_000
  expect(delay()).toBe(0)
})
