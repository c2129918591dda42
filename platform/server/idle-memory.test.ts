import { expect, it } from 'vitest'
import { createIdleMemory } from './idle-memory.ts'

const lookMs = 10_000

const setUp = () => {
  const at = { ms: 0, cpuMs: 0, bytes: 100e6, collected: 0 }
  const look = createIdleMemory({
    collect: () => {
      at.collected += 1
    },
    cpuMs: () => at.cpuMs,
    nowMs: () => at.ms,
    residentBytes: () => at.bytes,
  })
  return {
    at,
    /** Simulates this many samples with this share of one core. */
    pass: (looks: number, use: number): number => {
      for (let i = 0; i < looks; i++) {
        at.ms += lookMs
        at.cpuMs += use * lookMs
        look()
      }
      return at.collected
    },
  }
}

it('collects once after the start and once after each burst', () => {
  const { pass } = setUp()
  expect(pass(2, 0.05)).toBe(0)
  expect(pass(1, 0.05)).toBe(1)
  expect(pass(100, 0.05)).toBe(1)
  expect(pass(1, 0.9)).toBe(1)
  expect(pass(2, 0.05)).toBe(1)
  expect(pass(50, 0.05)).toBe(2)
})

it('never collects while the server is busy', () => {
  const { pass } = setUp()
  expect(pass(1_000, 0.3)).toBe(0)
})

it('collects the garbage of an idle server at most every ten minutes', () => {
  const { at, pass } = setUp()
  pass(3, 0.05)
  at.bytes += 30 * 1024 * 1024
  expect(pass(59, 0.05)).toBe(1)
  expect(pass(1, 0.05)).toBe(2)
  expect(pass(200, 0.05)).toBe(2)
})
