// Invariant: A proof exits with code 1 if it misses a limit, and with code 3 if a part did not run.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { fromRoot } from './root.ts'
import { amount, type Finding, verdictOf, worstOf } from './verdict.ts'

const met: Finding = { what: 'lost', value: 0, atMost: 0 }
const missed: Finding = { what: 'kills', value: 1, atLeast: 2 }

/** Runs test checks through the command line of drills and gates. */
const run = (checks: string, ...args: string[]) => {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-verdict-'))
  const file = join(folder, 'results.json')
  const script = `const { runChecks } = await import(${JSON.stringify(fromRoot('proof/kit/run.ts'))})
    await runChecks('Gates', ${checks})`
  try {
    const ended = spawnSync(
      process.execPath,
      ['--input-type=module', '-e', script, '--', '--json', file, '--seed', '7', ...args],
      { encoding: 'utf8' },
    )
    return {
      code: ended.status,
      lastLine: ended.stdout.trim().split('\n').at(-1),
      results: JSON.parse(readFileSync(file, 'utf8')) as { verdict: string; seed: number; findings: Finding[] }[],
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const check = (name: string, outcome: string): string => `{ name: '${name}', what: 'w', run: async () => (${outcome}) }`
const passing = check('good', '{ findings: [{ what: "lost", value: 0, atMost: 0 }] }')
const missing = check('bad', '{ findings: [{ what: "lost", value: 1, atMost: 0 }], notRun: ["a part"] }')
const partial = check('partial', '{ findings: [{ what: "lost", value: 0, atMost: 0 }], notRun: ["a part"] }')
const empty = check('empty', '{ findings: [{ what: "seen", value: 3 }] }')

it('passes only when every limit is met and every part ran', () => {
  expect(verdictOf({ findings: [met] })).toBe('passed')
  expect(verdictOf({ findings: [met, missed] })).toBe('missed')
  expect(verdictOf({ findings: [met], notRun: ['Chromium is missing.'] })).toBe('incomplete')
  expect(verdictOf({ findings: [met, missed], notRun: ['Chromium is missing.'] })).toBe('missed')
  expect(verdictOf({ findings: [] })).toBe('incomplete')
  expect(verdictOf({ findings: [{ what: 'information', value: 3 }] })).toBe('incomplete')
  expect(verdictOf({ findings: [met, { what: 'information', value: Number.NaN }] })).toBe('incomplete')
})

it('counts a missing figure as missed', () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, null as never])
    expect(verdictOf({ findings: [{ what: 'p99', value, atMost: 5 }] }), String(value)).toBe('missed')
})

it('combines several parts to the worst verdict', () => {
  expect(worstOf(['passed', 'measured'])).toBe('passed')
  expect(worstOf(['passed', 'incomplete'])).toBe('incomplete')
  expect(worstOf(['incomplete', 'missed', 'passed'])).toBe('missed')
  expect(worstOf([])).toBe('incomplete')
})

it('exits with 0 only when everything passed', () => {
  const good = run(`[${passing}]`)
  expect([good.code, good.lastLine]).toEqual([0, 'passed: 1 passed, 0 missed, 0 incomplete'])
  expect(good.results.map(({ seed }) => seed)).toEqual([7])
})

it('exits with 1 when a limit is missed, even if other parts did not run', () => {
  const bad = run(`[${passing}, ${missing}, ${partial}]`)
  expect([bad.code, bad.lastLine]).toEqual([1, 'missed: 1 passed, 1 missed (bad), 1 incomplete (partial)'])
})

it('exits with 3 when a part did not run or no figure has a limit', () => {
  expect(run(`[${passing}, ${partial}]`).code).toBe(3)
  expect(run(`[${empty}]`).code).toBe(3)
})

it('exits with 1 when a check throws', () => {
  const thrown = run(`[{ name: 'thrown', what: 'w', run: async () => { throw new Error('gone') } }]`)
  expect([thrown.code, thrown.results[0]?.verdict]).toEqual([1, 'missed'])
})

it('exits with 3 when a check ends the process without a verdict', () => {
  const quitting = `{ name: 'quits', what: 'w', run: async () => process.exit(0) }`
  expect(run(`[${passing}, ${quitting}]`).code).toBe(3)
})

it('uses a different name for a reduced amount in the short form', () => {
  expect([amount(false, 'kills'), amount(true, 'kills')]).toEqual(['kills', 'kills (short form)'])
})
