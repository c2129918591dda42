// Invariant: Continuous integration fails if a test that the takeover matrix names is skipped or missing.

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ROOT } from './bootstrap/say.mjs'

const FILE = `import { beforeAll, describe, it } from 'vitest'
import { unless } from '@portcullis/domain/testing'
it('runs', unless(null), () => {})
it('breaks', () => { throw new Error('on purpose') })
it('says why inside', (ctx) => ctx.skip('no browser'))
describe('without a program', unless('no program'), () => { it('says why outside', () => {}) })
it.skip('says nothing', () => {})
describe('without its server', () => {
  beforeAll(() => { throw new Error('no server') })
  it('waits', () => {})
})
`

const FAILING = `import { beforeAll, it } from 'vitest'
beforeAll(() => { throw new Error('no database') })
it('asks', () => {})
`

const REPORTER = join(ROOT, 'scripts', 'summary-reporter.mjs')

let dir
beforeAll(() => {
  // Inside the checkout, because the file imports the checkout's packages.
  mkdirSync(join(ROOT, 'build'), { recursive: true })
  dir = mkdtempSync(join(ROOT, 'build', 'reporter-'))
  writeFileSync(join(dir, 'a.test.ts'), FILE)
  writeFileSync(join(dir, 'vitest.config.mjs'), 'export default {}')
  writeFileSync(join(dir, 'b.test.ts'), "throw new Error('does not load')")
  writeFileSync(join(dir, 'c.test.ts'), FAILING)
})
afterAll(() => rmSync(dir, { recursive: true, force: true }))

const summaryOf = (...args) => summaryWith(`--reporter=${REPORTER}`, ...args)

const summaryWith = (...args) => {
  const summary = join(dir, 'summary.json')
  const vitest = join(ROOT, 'node_modules', 'vitest', 'vitest.mjs')
  const inherited = Object.entries(process.env).filter(([name]) => !/^(VITEST|NODE_OPTIONS)/.test(name))
  const env = { ...Object.fromEntries(inherited), PORTCULLIS_TEST_SUMMARY: summary }
  const own = [vitest, 'run', `--root=${dir}`, ...args]
  const { output } = spawnSync(process.execPath, own, { cwd: dir, env, encoding: 'utf8' })
  try {
    return JSON.parse(readFileSync(summary, 'utf8'))
  } catch {
    throw new Error(`no summary: ${output}`)
  }
}

it('shows the reason of every skip, and counts a skip without a reason as failed', () => {
  const { passed, failed, skipped, failedFiles, files } = summaryOf()
  expect(passed).toBe(1)
  expect(skipped).toEqual([
    { name: 'a.test.ts > says why inside', reason: 'no browser' },
    { name: 'a.test.ts > without a program > says why outside', reason: 'no program' },
    { name: 'a.test.ts > without its server > waits', reason: 'its suite failed' },
    { name: 'c.test.ts > asks', reason: 'its file failed' },
  ])
  expect(failed.toSorted()).toEqual([
    'a.test.ts > breaks',
    'a.test.ts > says nothing (skipped without a reason)',
    'a.test.ts > without its server (before or after its tests)',
    'b.test.ts (could not be run)',
    'c.test.ts (could not be run)',
  ])
  expect(files.map(({ file, passed }) => [file, passed]).toSorted()).toEqual([
    ['a.test.ts', 1],
    ['b.test.ts', 0],
    ['c.test.ts', 0],
  ])
  expect(failedFiles.toSorted()).toEqual(['a.test.ts', 'b.test.ts', 'c.test.ts'])
})

it('does not count tests that the name pattern excludes', () => {
  const { passed, failed } = summaryOf('-t', 'runs', 'a.test.ts')
  expect([passed, failed]).toEqual([1, []])
})

it.each([
  [true, ['says why inside', 'without a program > says why outside', 'without its server > waits', 'was renamed']],
  [false, ['was renamed']],
])('fails for tests of the takeover matrix that did not run (in continuous integration: %s)', (isStrict, missing) => {
  const names = [
    'runs',
    'says why inside',
    'without a program > says why outside',
    'without its server > waits',
    'was renamed',
  ]
  const options = { isStrict, named: names.map((name) => ({ file: 'a.test.ts', name })) }
  const config = join(dir, 'named.config.mjs')
  writeFileSync(
    config,
    `export default { test: { reporters: [[${JSON.stringify(REPORTER)}, ${JSON.stringify(options)}]] } }`,
  )
  const why = ' (did not run, but the takeover matrix relies on it)'
  const { failed } = summaryWith(`--config=${config}`, 'a.test.ts')
  expect(failed.filter((name) => name.endsWith(why))).toEqual(missing.map((name) => `a.test.ts > ${name}${why}`))
})
