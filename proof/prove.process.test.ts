// Invariant: A limit that a proof applied before can be eased only with a row in docs/proof/limits.md.
// Invariant: All figures in the proof pages and the sizing guide come from docs/proof/proof.json, which keeps the
//   last result of each part. A result is stale if an input of its part changed.

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { gates } from './attack/gates.ts'
import { fixtures } from './devices/devices.ts'
import { measure } from './devices/measure.ts'
import { deviceResult } from './devices/result.ts'
import { drills } from './failure/drills.ts'
import { fromRoot, root } from './kit/root.ts'
import { type Finding, type Result, type Verdict, verdictOf } from './kit/verdict.ts'
import { alone, ofFleet } from './load/benchmarks.ts'
import { differingPages, renderPages } from './pages/pages.ts'
import { parts } from './pages/parts.ts'
import { digestOf, gapsOf, kept, type Proof, type Run, readProof, unrecordedLimits, withAges } from './pages/results.ts'
import { verdictOfRun } from './pages/run-part.ts'

const resultOf = (name: string, findings: Finding[], agents?: number): Result => ({
  name,
  what: 'It.',
  verdict: verdictOf({ findings }),
  seconds: 1,
  seed: 7,
  ...(agents === undefined ? {} : { agents }),
  findings,
  notRun: [],
  notes: [],
})

const runOf = (verdict: Verdict, more: Partial<Run> = {}): Run => ({
  form: 'full',
  commit: 'c'.repeat(40),
  version: '0.2.0',
  date: '2026-11-23T10:00:00.000Z',
  machine: 'two cores',
  command: 'node proof/failure/main.ts D1',
  seed: 7,
  seconds: 1,
  inputs: 'a',
  verdict,
  results: [],
  notRun: [],
  ...more,
})

const proofOf = (runs: Record<string, Run>, stale: Proof['stale'] = {}): Proof => ({
  at: '2026-11-28',
  stale,
  runs,
})

const write = (folder: string, path: string, text: string): void => {
  mkdirSync(dirname(join(folder, path)), { recursive: true })
  writeFileSync(join(folder, path), text)
}

/** A repository with one input of `gate/availability` and a page of limits. */
const newCheckout = () => {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-prove-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: folder })
  const commit = (path: string, text: string): void => {
    write(folder, path, text)
    git('add', '-A')
    git('commit', '-qm', path)
  }
  git('init', '-q')
  commit('docs/proof/limits.md', '')
  commit('proof/attack/availability.ts', 'one')
  return { folder, commit, head: () => git('rev-parse', 'HEAD').toString().trim() }
}

const lost = (value: number, atMost?: number): Finding => ({
  what: 'lost',
  value,
  ...(atMost === undefined ? {} : { atMost }),
})
const pageOf = (path: string, ...given: Parameters<typeof proofOf>): string =>
  renderPages(proofOf(...given))[path] ?? ''

describe('the catalogue', () => {
  it('has each drill, gate and benchmark in one part', () => {
    const of = (page: string) => parts.filter((part) => part.page === page).flatMap(({ checks }) => checks)
    expect(of('drill').sort()).toEqual(drills.map(({ name }) => name).sort())
    expect(of('gate').sort()).toEqual(gates.map(({ name }) => name).sort())
    expect(of('bench').sort()).toEqual([...Object.keys(ofFleet), ...Object.keys(alone), 'devices'].sort())
  })

  it('names only inputs that exist', () => {
    const absent = parts.flatMap(({ name, inputs }) =>
      inputs.filter((path) => !existsSync(fromRoot(path))).map((path) => `${name}: ${path}`),
    )
    expect(absent).toEqual([])
  })
})

describe('the published pages', () => {
  it('match docs/proof/proof.json', () => expect(differingPages(root, readProof(root))).toEqual([]))
  it('record each eased limit with its reason', () => expect(unrecordedLimits(root, readProof(root))).toEqual([]))
})

describe('the last result', () => {
  const missed = runOf('missed')
  it('is replaced by a full run, and not by an incomplete or short one', () => {
    const next = runOf('passed', { inputs: 'b' })
    expect(kept(runOf('passed'), next)).toBe(next)
    expect(kept(undefined, missed)).toBe(missed)
    expect(kept(missed, runOf('incomplete', { inputs: 'b' }))).toBe(missed)
    expect(kept(missed, runOf('passed', { form: 'short', inputs: 'b' }))).toBe(missed)
    expect(kept(runOf('passed', { form: 'short' }), missed)).toBe(missed)
  })

  it('keeps a miss until an input changes', () => {
    const again = kept(kept(missed, runOf('passed')), runOf('passed'))
    expect([again.verdict, again.again]).toEqual(['missed', ['passed', 'passed']])
    expect(kept(again, runOf('passed', { inputs: 'b' })).verdict).toBe('passed')
    expect(pageOf('docs/proof/drill.md', { 'drill/full-disk': again })).toContain(
      'Later runs on the same inputs: passed, passed. A miss stays.',
    )
  })

  it('lists limits that it eases, until the page of limits has a row', () => {
    const of = (...findings: Finding[]) => runOf('passed', { results: [resultOf('D1', findings)] })
    const before = of(
      lost(0, 0),
      { what: 'kills', value: 9, atLeast: 5 },
      { what: 'peer', value: 1, atMost: 2, isRelative: true },
    )
    const next = kept(before, of(lost(1, 1), { what: 'peer', value: 5, atMost: 9, isRelative: true }))
    expect(next.eased).toEqual([
      { what: 'lost', from: '<= 0', to: '<= 1' },
      { what: 'kills', from: '>= 5', to: 'none' },
    ])
    expect(kept(next, of(lost(1, 1))).eased).toHaveLength(2)
    // A check that is gone applies no limit.
    expect(kept(before, runOf('passed', { results: [resultOf('D2', [lost(0, 0)])] })).eased).toHaveLength(2)
    expect(kept(before, of(lost(0, 0), { what: 'kills', value: 9, atLeast: 6 })).eased).toBeUndefined()
    const { folder } = newCheckout()
    write(folder, 'docs/proof/limits.md', '| 2026-11-23 | drill D1 | lost | <= 0 | <= 1 | a reason | 0 | 1 |')
    expect(unrecordedLimits(folder, { runs: { 'drill/full-disk': next } })).toEqual([
      'docs/proof/limits.md has no row for drill/full-disk, kills: >= 5 became none',
    ])
    expect(pageOf('docs/proof/drill.md', { 'drill/full-disk': next })).toContain(
      '- drill/full-disk, lost: <= 0 became <= 1',
    )
  })
})

describe('the age of a result', () => {
  it('depends only on the inputs of its part', () => {
    const { folder, commit, head } = newCheckout()
    const part = parts.find(({ name }) => name === 'gate/availability')!
    const runs = { 'gate/availability': runOf('passed', { commit: head(), inputs: digestOf(folder, 'HEAD', part) }) }
    const staleNow = () => withAges(folder, { runs }, new Date()).stale
    commit('proof/attack/uploads.ts', 'one')
    expect(staleNow()).toEqual({})
    expect(gapsOf(folder, proofOf(runs))).not.toContain('gate/availability is stale')
    commit('proof/attack/availability.ts', 'two')
    commit('proof/attack/availability.ts', 'three')
    expect(staleNow()).toEqual({ 'gate/availability': 2 })
    expect(gapsOf(folder, proofOf(runs))).toContain('gate/availability is stale')
    commit('proof/attack/availability.ts', 'one')
    expect(staleNow()).toEqual({})
    // The measured commit is not part of this history.
    const strange = { 'gate/availability': runOf('passed', { inputs: '' }) }
    expect(withAges(folder, { runs: strange }, new Date()).stale).toEqual({ 'gate/availability': null })
  })

  it('is shown beside each figure', () => {
    const proof = [{ 'drill/backup': runOf('passed'), 'drill/soak': runOf('passed') }, { 'drill/soak': 3 }] as const
    const text = pageOf('docs/proof/README.md', ...proof)
    expect(text).toMatch(
      /\| \[backup\]\(drill.md#backup\) \| .* \| passed \| 2026-11-23, 0.2.0, `cccccccc` \| current \|/,
    )
    expect(text).toMatch(/\| \[soak\].*\| passed \| .* \| stale, 3 changes \|/)
    expect(text).toMatch(/\| \[polls\].*\| not measured \| \| \|/)
    expect(text).toContain('Ages as of 2026-11-28')
  })
})

describe('the pages', () => {
  it('show misses first, and count what did not run', () => {
    const results = [resultOf('D4', [{ what: 'memory grown', value: 162, unit: 'MiB', atMost: 64 }])]
    const runs = { 'drill/database-fails': runOf('missed', { results, notRun: ['D3: no result'] }) }
    const text = pageOf('docs/proof/drill.md', runs)
    expect(text.indexOf('drill/database-fails, memory grown: 162 MiB, limit <= 64')).toBeLessThan(
      text.indexOf('## Methods'),
    )
    expect(text).toContain('| memory grown | 🔴 **162 MiB (≤ 64)** |')
    expect(text).toContain('- drill/database-fails: D3: no result')
    expect(text).toMatch(
      /13 parts: 0 passed, 🔴 \*\*1 missed\*\*, 0 incomplete, 0 measured in their short form only, 12 not measured/,
    )
  })

  it('escape external text', () => {
    const runs = {
      'drill/full-disk': runOf('passed', { results: [resultOf('D5', [{ what: 'a|b\n| c', value: 0, atMost: 0 }])] }),
    }
    expect(pageOf('docs/proof/drill.md', runs)).toContain('| a\\|b | 0 (≤ 0) |')
  })

  it('show fleets of all sizes side by side, and say what ran in its short form only', () => {
    const of = (agents: number, value: number) =>
      resultOf('list', [{ what: 'p50', value, unit: 'ms', atMost: 5 }], agents)
    const runs = { 'bench/lists': runOf('missed', { form: 'short', results: [of(10_000, 3), of(100_000, 6)] }) }
    const text = pageOf('docs/proof/bench.md', runs)
    expect(text).toContain('| list | 10,000 hosts | 100,000 hosts |')
    expect(text).toContain('| p50 | 3 ms (≤ 5) | 🔴 **6 ms (≤ 5)** |')
    expect(text).toContain('**missed** (short form)')
  })

  it('derive the sizing table from the figures of the same fleet size', () => {
    const findings = [
      { what: 'TLS, 1 % changed: per core-second, server and database', value: 1_000, unit: '/s' },
      { what: 'TLS, 1 % changed: share of the server process in the CPU time', value: 60, unit: '%' },
    ]
    const runs = { 'bench/check-in': runOf('passed', { results: [resultOf('check-in', findings, 1_000_000)] }) }
    const text = pageOf('docs/guide/sizing.md', runs, { 'bench/check-in': 12 })
    expect(text).toMatch(/\| 1,000,000 \| not measured \| 16,667 \| 10 cores \| 6.67 cores \| not measured \|/)
    expect(text).toMatch(/\| 10,000 \| not measured \| 167 \| not measured \| not measured \|/)
    expect(text).toContain('stale, 12 changes')
  })
})

describe('a run', () => {
  const evaluated = (checks: string[], code: number | null, results: Result[], isOfFleet = false) =>
    verdictOfRun({ checks, isOfFleet }, 'full', code, results)
  it('is incomplete if a result is missing, even that of one fleet size', () => {
    const good = resultOf('D1', [lost(0, 0)])
    expect(evaluated(['D1'], 0, [good])).toEqual({ verdict: 'passed', notRun: [] })
    expect(evaluated(['D1', 'D2'], 0, [good]).verdict).toBe('incomplete')
    expect(evaluated(['D1'], null, [good]).verdict).toBe('incomplete')
    expect(evaluated(['D1'], 1, []).verdict).toBe('incomplete')
    const some = [10_000, 100_000].map((agents) => resultOf('list', [lost(0, 0)], agents))
    expect(evaluated(['list'], 0, some, true).notRun).toEqual([
      expect.stringMatching(/^list at 1,000,000 hosts: no result/),
    ])
  })

  it('of the device measurement evaluates the shares of mistakes', () => {
    const { findings, verdict } = deviceResult(measure(fixtures), 'It.', 1)
    expect(findings.filter(({ atMost }) => atMost !== undefined)).toHaveLength(6)
    expect(verdict).toBe('passed')
  })
})

describe('the command line', () => {
  const prove = (...args: string[]) =>
    spawnSync(process.execPath, [fromRoot('proof/prove.ts'), ...args], { encoding: 'utf8' })

  it('lists its parts', () => {
    expect(prove('--list').stdout).toMatch(/^drill\/backup: A restored server/m)
    expect(prove('--list', 'gate').stdout).not.toContain('proof/failure/')
  })

  it('rejects unknown names', () => {
    const { status, stderr } = prove('drill/D99')
    expect([status, stderr.split('\n')[0]]).toEqual([2, 'Unknown parts: drill/D99'])
  })
})
