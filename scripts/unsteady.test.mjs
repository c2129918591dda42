import { expect, it } from 'vitest'
import { judgeAgain } from './unsteady.mjs'

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
const judge = async (result, second, passed = 4 - second.length) => {
  const said = []
  const asked = []
  const judged = await judgeAgain(
    result,
    async (files) => {
      asked.push(...files)
      return { passed, failed: second, skipped: [], failedFiles: [] }
    },
    (line) => said.push(line),
  )
  return { judged, said, asked }
}

it('counts tests that failed once and passed alone as passed and unsteady', async () => {
  const { judged, said, asked } = await judge(first, [])
  // Six of the other file, and four of this one: the first run had not come to all of its tests.
  expect([judged.passed, judged.failed, asked]).toEqual([10, [], ['a.test.ts']])
  expect(judged.skipped).toEqual([{ name: 'b.test.ts > prints', reason: 'no printer' }])
  expect(judged.unsteady).toEqual(first.failed)
  expect(said).toEqual(['again, alone: a.test.ts'])
})

it('keeps what failed twice, and what failed only the second time', async () => {
  const { judged } = await judge(first, ['a.test.ts > closes', 'a.test.ts > waits'])
  expect([judged.passed, judged.failed]).toEqual([8, ['a.test.ts > closes', 'a.test.ts > waits']])
  expect(judged.unsteady).toEqual(['a.test.ts > opens'])
})

it.each([
  ['vitest itself failed', { ...first, failed: [...first.failed, 'vitest ended with code 1'] }],
  ['many files failed', { ...first, failedFiles: ['a.test.ts', 'b', 'c', 'd'] }],
])('does not try again when %s', async (_name, result) => {
  const { judged, asked } = await judge(result, [])
  expect([judged, asked]).toEqual([result, []])
})

it('does not believe a second run that ended by itself', async () => {
  expect((await judge(first, ['vitest ended with code -1 and no result'])).judged).toEqual(first)
})
