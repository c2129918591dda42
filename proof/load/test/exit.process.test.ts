import { spawnSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { fromRoot } from '../../kit/root.ts'

const bench = (...args: string[]) =>
  spawnSync(process.execPath, [fromRoot('proof/load/main.ts'), ...args], {
    encoding: 'utf8',
    // Nothing listens on this port.
    env: { ...process.env, DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none' },
  })

it('exits with 3 and the reason when a benchmark did not run', () => {
  const { status, stdout } = bench('page', '--agents', '100')
  expect([status, stdout.trim().split('\n').at(-1)]).toEqual([3, 'incomplete: 0 passed, 0 missed, 1 incomplete (page)'])
  expect(stdout).toContain('NOT RUN: page: The server ended')
})

it('exits with 2 for unknown names and sizes', () => {
  expect(bench('nothing').status).toBe(2)
  expect(bench('page', '--agents', '5').status).toBe(2)
})
