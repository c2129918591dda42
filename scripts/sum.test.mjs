import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { report } from './sum.mjs'

let lines
beforeEach(() => {
  lines = []
  vi.spyOn(console, 'log').mockImplementation((line) => lines.push(line))
})
afterEach(() => vi.restoreAllMocks())

it('lists skipped and failed tests, and ends with the sum on a separate line', () => {
  const skipped = [{ name: 'a.test.ts > opens', reason: 'no chromium' }]
  expect(
    report([
      { passed: 4, failed: ['lint'] },
      { passed: 2, failed: [], skipped },
    ]),
  ).toBe(1)
  expect(lines).toEqual(['skipped: a.test.ts > opens (no chromium)', 'failed: lint', '6 passed, 1 failed, 1 skipped'])
})

it('counts and lists tests that passed only when run again, and lists tests that were left out', () => {
  expect(report([{ passed: 2, failed: [], flaky: ['a.test.ts > opens'] }], 'left out: 2 slow test files')).toBe(0)
  expect(lines).toEqual([
    'flaky: a.test.ts > opens',
    '1 flaky: failed, then passed when run again alone',
    'left out: 2 slow test files',
    '2 passed, 0 failed, 0 skipped',
  ])
})

it.each([
  ['all passed', [{ passed: 1, failed: [] }], 0],
  ['nothing ran', [{ passed: 0, failed: [] }], 1],
  ['all were skipped', [{ passed: 0, failed: [], skipped: [{ name: 'x', reason: 'y' }] }], 1],
])('decides the exit code: %s', (_name, parts, code) => {
  expect(report(parts)).toBe(code)
})
