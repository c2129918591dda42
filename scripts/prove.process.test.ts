import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { fromRoot, root } from '../rig/root.ts'
import type { Finding, Result, Verdict } from '../rig/verdict.ts'
import { checkProof } from './proof/check.ts'
import { devicesResult } from './proof/devices.ts'
import { proofOf, renderPages } from './proof/pages.ts'
import { parts, partsNamed } from './proof/parts.ts'
import { type Bar, readBars } from './proof/read-bars.ts'
import { judgeRun } from './proof/run-part.ts'
import {
  addRun,
  digestOf,
  editedRuns,
  type Form,
  joinRuns,
  type PartRuns,
  type Proof,
  type Run,
  readRuns,
  shownRun,
} from './proof/store.ts'
import { readTree } from './proof/tree.ts'

const tree = { hash: 'a'.repeat(20), commit: 'c'.repeat(40) }

const resultOf = (name: string, verdict: Verdict, findings: Finding[], notRun: string[] = []): Result => ({
  name,
  what: `What ${name} shows.`,
  verdict,
  seconds: 1,
  seed: 5,
  findings,
  notRun,
  notes: [],
})

const runOf = (verdict: Verdict, results: Result[], more: Partial<Omit<Run, 'digest'>> = {}): Omit<Run, 'digest'> => ({
  tree: tree.hash,
  commit: tree.commit,
  machine: '2 cores (Test), 4 GiB',
  date: '2026-11-23T10:00:00.000Z',
  command: 'npm run drill -- D1 --seed 5',
  seed: 5,
  seconds: 2,
  verdict,
  results,
  notRun: [],
  ...more,
})

const partOf = (part: string, runs: Omit<Run, 'digest'>[], form: Form = 'full'): PartRuns => ({
  part,
  form,
  runs: runs.map((run) => ({ ...run, digest: digestOf(part, form, run) })),
})

const good = partOf('drill/D1', [runOf('passed', [resultOf('D1', 'passed', [{ what: 'lost', value: 0, atMost: 0 }])])])
const bad = partOf('drill/D2', [
  runOf('missed', [resultOf('D2', 'missed', [{ what: 'memory grown', value: 162, unit: 'MiB', atMost: 64 }])]),
])
const gap = partOf('drill/D3', [
  runOf('incomplete', [resultOf('D3', 'incomplete', [{ what: 'lost', value: 0, atMost: 0 }], ['no disk here'])]),
])

const folders: string[] = []
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-prove-'))
  folders.push(folder)
  return folder
}
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

const write = (folder: string, files: Readonly<Record<string, string>>): void => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
}

/** A git checkout with one source file and the pages of its tree. */
const newCheckout = (parts: readonly PartRuns[] = []): string => {
  const folder = newFolder()
  write(folder, { 'server/src/a.ts': 'export const a = 1\n', 'README.md': '# It\n' })
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    ['-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-qm', 'a'],
  ])
    expect(spawnSync('git', args, { cwd: folder }).status).toBe(0)
  const { hash, commit } = readTree(folder)
  const runs = parts.map(({ part, form, runs }) =>
    partOf(
      part,
      runs.map((run) => ({ ...run, tree: hash })),
      form,
    ),
  )
  const proof = proofOf({ hash, commit }, runs)
  write(folder, { 'docs/proof/proof.json': JSON.stringify(proof), ...renderPages(proof) })
  return folder
}

describe('docs/proof', () => {
  it('matches its figures exactly (npm run prove -- --pages)', () => {
    const proof = JSON.parse(readFileSync(fromRoot('docs/proof/proof.json'), 'utf8')) as Proof
    for (const [path, text] of Object.entries(renderPages(proof)))
      expect(readFileSync(fromRoot(path), 'utf8'), path).toBe(text)
    expect(proof.parts.flatMap(({ runs }) => runs).filter((run) => run.tree !== proof.tree)).toEqual([])
    expect(editedRuns(proof.parts)).toEqual([])
  })
})

describe('a page', () => {
  const page = renderPages(proofOf(tree, [good, bad, gap]))['docs/proof/drill.md'] as string
  const head = page.slice(0, page.indexOf('## '))

  it('lists misses in red, gaps and absent parts first', () => {
    expect(head).toContain('🔴 **D2, memory grown: 162 MiB, bar <= 64**')
    expect(head).toContain('`drill/D3`: no disk here')
    expect(head).toMatch(/Did not run on this tree[\s\S]*`drill\/D4`/)
    expect(head).not.toContain('`drill/D1`')
    expect(head).toMatch(/^# Drills[\s\S]*1 of \d+ parts passed; 1 figure misses its bar; 1 gap;/)
  })

  it('states machine, date, command and seed of each part', () => {
    expect(page).toContain('2026-11-23 10:00 UTC')
    expect(page).toContain('seed 5: `npm run drill -- D1 --seed 5`; 2 cores (Test), 4 GiB')
    expect(head).toContain('Machine: 2 cores (Test), 4 GiB.')
    expect(head).toContain(tree.hash)
  })

  it('shows short forms separately from full forms', () => {
    const pages = renderPages(proofOf(tree, [partOf('drill/D1', good.runs, 'short')]))
    expect(pages['docs/proof/drill.md']).not.toContain('## D1')
    expect(pages['docs/proof/README.md']).toContain('| `drill/D1` (short form) | passed |')
  })

  it('escapes text from runs in cells and lines', () => {
    const odd = resultOf('D1', 'passed', [{ what: 'a|b\n| c', value: 0, atMost: 0 }])
    const text = renderPages(proofOf(tree, [partOf('drill/D1', [runOf('passed', [odd])])]))['docs/proof/drill.md']
    expect(text).toContain('| a\\|b | 0 (≤ 0) |')
  })

  it('shows benchmarks of all fleet sizes side by side', () => {
    const of = (agents: number, value: number): PartRuns => {
      const one = { ...resultOf('list', 'passed', [{ what: 'p50', value, unit: 'ms', atMost: 5 }]), agents }
      return partOf(`bench/${agents}`, [runOf('passed', [one])])
    }
    const text = renderPages(proofOf(tree, [of(10_000, 3), of(100_000, 6)]))['docs/proof/bench.md']
    expect(text).toContain('| figure | 10,000 hosts | 100,000 hosts |')
    expect(text).toContain('| p50 | 3 ms (≤ 5) | 🔴 **6 ms (≤ 5)** |')
  })
})

describe('the sizing guide', () => {
  const findings = [
    { what: 'TLS, 1 % changed: per core-second, server and database', value: 1_000, unit: '/s' },
    { what: 'TLS, 1 % changed: share of the server process in the CPU time', value: 60, unit: '%' },
  ]
  it('uses the benchmark of the same fleet size', () => {
    const part = partOf('bench/1000000', [runOf('passed', [resultOf('check-in', 'passed', findings)])])
    const text = renderPages(proofOf(tree, [part]))['docs/guide/sizing.md']
    expect(text).toMatch(/\| 1,000,000 \| not measured \| 16,667 \| 10 cores \| 6.67 cores \| not measured \|/)
    expect(text).toMatch(/\| 10,000 \| not measured \| 167 \| not measured \| not measured \|/)
  })
})

describe('runs', () => {
  it('of different trees are never combined', () => {
    const other = partOf('drill/D1', [runOf('passed', [], { tree: 'b'.repeat(20) })])
    expect(() => proofOf(tree, [other])).toThrow(/cannot be combined/)
    expect(joinRuns(tree.hash, [other], [good])).toEqual([good])
    expect(joinRuns(tree.hash, [good], [good])).toEqual([good])
    expect(joinRuns(tree.hash, [good], [bad]).map(({ part }) => part)).toEqual(['drill/D1', 'drill/D2'])
  })

  it('are kept: another run does not clear a miss', () => {
    const [passed] = good.runs as [Run]
    const missed = { ...(bad.runs[0] as Run), date: '2026-11-23T09:00:00.000Z' }
    const none = { ...passed, verdict: 'incomplete' as const, date: '2026-11-23T11:00:00.000Z' }
    expect(shownRun({ runs: [missed, passed] })).toBe(missed)
    expect(shownRun({ runs: [passed, none] })).toBe(passed)
    const base = newFolder()
    for (const run of partOf('drill/D2', [missed, passed]).runs) addRun(base, 'drill/D2', 'full', run)
    expect(readRuns(base, tree.hash)[0]?.runs).toHaveLength(2)
    const text = renderPages(proofOf(tree, readRuns(base, tree.hash)))['docs/proof/drill.md']
    expect(text).toContain('Ran 2 times on this tree: missed, passed.')
    expect(text).toContain('## D2: 🔴 MISSED')
  })

  it('with missing results are incomplete', () => {
    const result = (good.runs[0] as Run).results
    const [one, two] = [['D1'], ['D1', 'list']].map((expected) => ({ expected, page: 'drill' as const }))
    expect(judgeRun(one as never, 0, result)).toEqual({ verdict: 'passed', notRun: [] })
    expect(judgeRun(two as never, 0, result).verdict).toBe('incomplete')
    expect(judgeRun(one as never, null, result).verdict).toBe('incomplete')
    expect(judgeRun(one as never, 1, []).verdict).toBe('incomplete')
  })

  it('without a figure that has a bar are incomplete', () => {
    const bar = (figure: string, choice?: string): Bar => ({
      check: 'bench notices',
      figure,
      bar: '<= 0',
      isShortened: false,
      isAmount: false,
      isPassedOn: false,
      ...(choice === undefined ? {} : { choice }),
    })
    const bars = [bar('lost'), bar('{what}: p99'), bar('long (20 % more)', '1'), bar('short', '1')]
    const judged = (...figures: string[]) =>
      judgeRun(
        { expected: ['notices'], page: 'bench' },
        0,
        [
          resultOf(
            'notices',
            'passed',
            figures.map((what) => ({ what, value: 0, atMost: 0 })),
          ),
        ],
        bars,
      )
    expect(judged('data: lost', 'TLS: p99', 'long (20 % more)').notRun).toEqual([])
    expect(judged('lost (short form)', 'plain: p99', 'short').verdict).toBe('passed')
    expect(judged('TLS: p99', 'short')).toEqual({
      verdict: 'incomplete',
      notRun: ['notices: the figure "lost" is missing'],
    })
    expect(judged('lost', 'TLS: p99').notRun).toHaveLength(2)
  })

  it('of every benchmark have a figure with a bar', () => {
    const bars = readBars(root)
    const names = parts.filter(({ page }) => page === 'bench').flatMap(({ expected }) => expected)
    const bare = names.filter((name) => !bars.some(({ check }) => check === `bench ${name}`))
    // Loading the fleet does not measure the product.
    expect([...new Set(bare)]).toEqual(['load'])
  })

  it('of the device measurement become figures, and a missing figure makes it incomplete', () => {
    const fixtures = {
      ordinary: 3,
      falseConfirmed: { n: 1, share: 0.5, which: ['a tablet'] },
      falseSuspected: { share: 0 },
      missedTools: { n: 2, share: 0.1, which: ['x', 'y'] },
      wrongKinds: { share: 0 },
      modemsShownAsPhone: { n: 0 },
      unknown: { share: 0 },
    }
    const [own, ...others] = devicesResult(0, JSON.stringify({ fixtures }))
    expect(others).toEqual([])
    expect([own?.verdict, own?.findings, own?.notes]).toEqual([
      'missed',
      [
        { what: 'ordinary', value: 3 },
        { what: 'false confirmed: n', value: 1, atMost: 0 },
        { what: 'false confirmed: share', value: 0.5 },
        { what: 'false suspected: share', value: 0, atMost: 0.001 },
        { what: 'missed tools: n', value: 2 },
        { what: 'missed tools: share', value: 0.1, atMost: 0.15 },
        { what: 'wrong kinds: share', value: 0, atMost: 0.02 },
        { what: 'modems shown as phone: n', value: 0, atMost: 0 },
        { what: 'unknown: share', value: 0, atMost: 0.02 },
      ],
      ['false confirmed: a tablet', 'missed tools: x', 'missed tools: y'],
    ])
    expect(devicesResult(1, 'nothing')).toEqual([])
    const { missedTools: _, ...rest } = { ...fixtures, falseConfirmed: { n: 0 } }
    expect(devicesResult(0, JSON.stringify({ fixtures: rest }))[0]).toMatchObject({
      verdict: 'incomplete',
      notRun: ['fixtures: the figure "missed tools: share" is missing'],
    })
  })
})

describe('the tree', () => {
  it('changes with the product and not with the pages', () => {
    const folder = newCheckout()
    const { hash, commit } = readTree(folder)
    expect(commit).toMatch(/^[0-9a-f]{40}$/)
    write(folder, { 'docs/proof/bench.md': 'edited', 'README.md': 'edited' })
    expect(readTree(folder)).toEqual({ hash, commit })
    write(folder, { 'server/src/b.ts': '' })
    const added = readTree(folder)
    expect([added.hash === hash, added.commit]).toEqual([false, null])
    rmSync(join(folder, 'server/src/b.ts'))
    write(folder, { 'server/src/a.ts': 'export const a = 2\n' })
    expect(readTree(folder).hash).not.toBe(hash)
  })
})

describe('the check before a release', () => {
  it('accepts the pages of the current tree and lists the parts that did not run', () => {
    const checked = checkProof(newCheckout([good, bad, gap]))
    expect(checked.stale).toEqual([])
    expect(checked.misses).toEqual(['drill/D2 misses memory grown'])
    expect(checked.gaps).toContain('drill/D3 is incomplete')
    expect(checked.gaps).toContain('drill/D4 did not run')
    expect(checked.gaps).not.toContain('drill/D1 did not run')
  })

  it('rejects edited pages and pages of another tree', () => {
    const folder = newCheckout([good])
    write(folder, { 'server/src/a.ts': 'export const a = 2\n' })
    expect(checkProof(folder).stale.join()).toMatch(/docs\/proof belongs to tree/)
    const edited = newCheckout([bad])
    const page = join(edited, 'docs/proof/drill.md')
    writeFileSync(page, readFileSync(page, 'utf8').replace('162 MiB', '62 MiB'))
    expect(checkProof(edited).stale).toEqual([
      'docs/proof/drill.md does not match docs/proof/proof.json: run "npm run prove -- --pages"',
    ])
    rmSync(join(edited, 'docs/proof/proof.json'))
    expect(checkProof(edited).stale).toEqual(['docs/proof/proof.json is missing'])
  })

  it('rejects an edited figure and a short form presented as the full form, even on new pages', () => {
    const folder = newCheckout([bad])
    const file = join(folder, 'docs/proof/proof.json')
    const text = readFileSync(file, 'utf8').replace('"value":162', '"value":62')
    write(folder, { 'docs/proof/proof.json': text, ...renderPages(JSON.parse(text)) })
    expect(checkProof(folder).stale).toEqual([
      'The run of drill/D2 of 2026-11-23T10:00:00.000Z was edited: run it again',
    ])
    const short = { ...partOf('drill/D1', good.runs, 'short'), form: 'full' as const }
    expect(() => proofOf(tree, [short])).toThrow(/drill\/D1 .* was edited/)
  })
})

describe('the command line', () => {
  const prove = (...args: string[]) =>
    spawnSync(process.execPath, [fromRoot('scripts/prove.ts'), ...args], { encoding: 'utf8' })

  it('lists its parts, including self-tests and the device measurement', () => {
    const names = prove('--list').stdout.trim().split('\n')
    expect(names).toEqual(expect.arrayContaining(['gate/fuzz', 'drill/D1', 'bench/1000000', 'bench/kernel', 'devices']))
    expect(names).toContain('self-test/drill/D1')
    expect(prove('--list', 'gate').stdout).not.toContain('drill/')
    expect(partsNamed(['self-test/gate']).found.every(({ name }) => name.startsWith('self-test/gate/'))).toBe(true)
  })

  it('rejects unknown names', () => {
    const { status, stderr } = prove('drill/D99')
    expect([status, stderr.split('\n')[0]]).toEqual([2, 'Unknown parts: drill/D99'])
  })

  it('is an npm script', () => {
    expect(JSON.parse(readFileSync(fromRoot('package.json'), 'utf8')).scripts.prove).toBe(
      'node scripts/bootstrap.mjs prove',
    )
    expect(existsSync(fromRoot('scripts/prove.ts'))).toBe(true)
  })
})
