import { expect, it } from 'vitest'
import { runAgain } from './flaky.mjs'

const first = {
  passed: 7,
  failed: ['a.test.ts > opens', 'a.test.ts > closes'],
  skipped: [
    { name: 'a.test.ts > goes on', reason: 'its suite failed' },
    { name: 'b.test.ts > prints', reason: 'no printer' },
  ],
  failedFiles: ['a.test.ts'],
  files: [
    { file: 'a.test.ts', passed: 1 },
    { file: 'b.test.ts', passed: 6 },
  ],
}
const evaluate = async (result, second, passed = 4 - second.length) => {
  const lines = []
  const asked = []
  const evaluated = await runAgain(
    result,
    async (files) => {
      asked.push(...files)
      return { passed, failed: second, skipped: [], failedFiles: [] }
    },
    (line) => lines.push(line),
  )
  return { evaluated, lines, asked }
}

it('counts tests that failed once and passed alone as passed and flaky', async () => {
  const { evaluated, lines, asked } = await evaluate(first, [])
  // Six of the other file and four of this one, because the first run did not finish this file.
  expect([evaluated.passed, evaluated.failed, asked]).toEqual([10, [], ['a.test.ts']])
  expect(evaluated.skipped).toEqual([{ name: 'b.test.ts > prints', reason: 'no printer' }])
  expect(evaluated.flaky).toEqual(first.failed)
  expect(lines).toEqual(['again, alone: a.test.ts'])
})

it('reports tests that failed twice, and tests that failed only the second time', async () => {
  const { evaluated } = await evaluate(first, ['a.test.ts > closes', 'a.test.ts > waits'])
  expect([evaluated.passed, evaluated.failed]).toEqual([8, ['a.test.ts > closes', 'a.test.ts > waits']])
  expect(evaluated.flaky).toEqual(['a.test.ts > opens'])
})

it.each([
  ['vitest itself failed', { ...first, failed: [...first.failed, 'vitest exited with code 1'] }],
  ['many files failed', { ...first, failedFiles: ['a.test.ts', 'b', 'c', 'd'] }],
])('does not try again when %s', async (_name, result) => {
  const { evaluated, asked } = await evaluate(result, [])
  expect([evaluated, asked]).toEqual([result, []])
})

it('ignores a second run that ended early', async () => {
  expect((await evaluate(first, ['vitest exited with code -1 and without a result'])).evaluated).toEqual(first)
})
