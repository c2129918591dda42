import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from './bootstrap/say.mjs'
import { planOf, SLOW_TESTS } from './test-plan.mjs'

const slow = ['e2e/a.slow.test.ts']

it('leaves slow tests out of the ordinary run and reports them', () => {
  expect(planOf([], slow)).toEqual({
    filters: [],
    isWhole: true,
    isSlow: false,
    vitest: ['--project=unit', '--project=process', '--project=server', '--project=e2e'],
    note: 'left out: 1 slow test files (npm test -- --all runs them): e2e/a.slow.test.ts',
  })
})

it('runs everything with --all', () => {
  expect(planOf(['--all'], slow)).toEqual({ filters: [], isWhole: true, isSlow: true, vitest: [], note: undefined })
})

it('runs all tests that the arguments select, slow or not', () => {
  const plan = { filters: ['e2e/kernel'], isWhole: false, isSlow: true, vitest: ['e2e/kernel'], note: undefined }
  expect(planOf(['e2e/kernel'], slow)).toEqual(plan)
  expect(planOf(['--all', 'e2e/kernel'], slow)).toEqual(plan)
})

it('allows only tests of emulated machines, installed programs, the whole interface and recipes to be slow', () => {
  const files = globSync(SLOW_TESTS, { cwd: ROOT, exclude: ['**/node_modules', '.node'] })
  expect(files.length).toBeGreaterThan(0)
  expect(
    files.filter(
      (file) =>
        !/^(e2e\/(door|engines|installed|kernel|packages|programs|images|windows)|scripts\/release)\/|^poller\/test\/ssh-packages|^scripts\/recipes\./.test(
          file,
        ),
    ),
  ).toEqual([])
})

it('runs in full in continuous integration', () => {
  expect(readFileSync(join(ROOT, '.ci/run'), 'utf8')).toMatch(/^exec npm test -- --all$/m)
})
