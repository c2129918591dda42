import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../rig/database.ts'
import { root as ownRoot } from '../rig/root.ts'
import type { Check, Outcome } from '../rig/verdict.ts'
import { type Guard, type Proof, proofsOf } from './takeover/guard.ts'
import { guards } from './takeover/guards.ts'
import { cells } from './takeover/render.ts'

interface TestRun {
  testResults: { name: string; assertionResults: { title: string; status: string }[] }[]
}

/** Returns whether a copy of the checkout lacks exactly this clause of a guard. */
const isRemovedIn = (root: string, { removedBy }: Proof): boolean => {
  const expected = new Map<string, string>()
  for (const { file, find, replace } of removedBy)
    expected.set(
      file,
      (expected.get(file) ?? readFileSync(join(ownRoot, file), 'utf8')).replace(find, () => replace),
    )
  return [...expected].every(([file, text]) => readFileSync(join(root, file), 'utf8') === text)
}

/** Returns all proofs in the checkout itself, or those of the missing clauses in a broken copy. */
const proofsToTry = (root: string): Proof[] =>
  Object.values<Guard>(guards)
    .flatMap(proofsOf)
    .filter((proof) => root === ownRoot || isRemovedIn(root, proof))

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Runs the named tests of a checkout. */
const runTests = async (root: string, chosen: readonly Proof[]): Promise<TestRun> => {
  const folder = temporaryFolder('takeover')
  try {
    const report = join(folder, 'report.json')
    const files = [...new Set(chosen.map(({ test }) => test.file))]
    const names = [...new Set(chosen.map(({ test }) => `${escaped(test.name)}$`))].join('|')
    await new Promise<void>((done) => {
      const child = spawn(
        process.execPath,
        [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--reporter=json', `--outputFile=${report}`]
          .concat(files, '-t', names)
          .concat('--retry=0'),
        { cwd: root, stdio: 'ignore' },
      )
      child.once('error', () => done())
      child.once('close', () => done())
    })
    return existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as TestRun) : { testResults: [] }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const statusOf = (run: TestRun, { test }: Proof): string => {
  const file = run.testResults.find(({ name }) => name.endsWith(`/${test.file}`))
  return file?.assertionResults.find(({ title }) => title === test.name)?.status ?? 'did not run'
}

/** Proves each cell of the takeover matrix: its test passes here, and fails where the guard is removed. */
export const takeover: Check = {
  name: 'takeover',
  what: 'Every cell of the takeover matrix names passing tests. The self-test removes each clause of its guards and checks that the test fails.',
  run: async ({ root }): Promise<Outcome> => {
    const chosen = proofsToTry(root)
    const run = await runTests(root, chosen)
    const outcomes = chosen.map((proof) => ({ proof, status: statusOf(run, proof) }))
    const failed = outcomes.filter(({ status }) => status === 'failed')
    const absent = outcomes.filter(({ status }) => status !== 'failed' && status !== 'passed')
    return {
      findings: [
        { what: 'cells', value: cells.length },
        { what: 'guards tried', value: chosen.length, atLeast: 1 },
        { what: 'tests that failed', value: failed.length, atMost: 0 },
        { what: 'tests that did not run', value: absent.length, atMost: 0 },
      ],
      notes: [...failed, ...absent].map(({ proof, status }) => `${proof.test.file}: ${proof.test.name}: ${status}`),
    }
  },
  sabotages: Object.values<Guard>(guards).flatMap((guard) =>
    proofsOf(guard).map(({ removedBy }, i) => ({
      what: `removed: ${guard.does}${i === 0 ? '' : ` (clause ${i + 1})`}`,
      red: 'tests that failed',
      edits: removedBy,
    })),
  ),
}
