import { spawn } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../rig/database.ts'
import { root as ownRoot } from '../rig/root.ts'
import type { Check, Outcome } from '../rig/verdict.ts'
import type { Guard } from './takeover/guard.ts'
import { guards } from './takeover/guards.ts'
import { cells } from './takeover/render.ts'

interface TestRun {
  testResults: { name: string; assertionResults: { title: string; status: string }[] }[]
}

/** Returns whether a copy of the checkout lacks exactly this guard. */
const isRemovedIn = (root: string, { removedBy }: Guard): boolean => {
  const expected = new Map<string, string>()
  for (const { file, find, replace } of removedBy)
    expected.set(
      file,
      (expected.get(file) ?? readFileSync(join(ownRoot, file), 'utf8')).replace(find, () => replace),
    )
  return [...expected].every(([file, text]) => readFileSync(join(root, file), 'utf8') === text)
}

/** Returns all guards in the checkout itself, or the missing guards in a broken copy. */
const guardsToTry = (root: string): Guard[] =>
  Object.values<Guard>(guards).filter((guard) => root === ownRoot || isRemovedIn(root, guard))

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')

/** Runs the named tests of a checkout. */
const runTests = async (root: string, chosen: readonly Guard[]): Promise<TestRun> => {
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

const statusOf = (run: TestRun, { test }: Guard): string => {
  const file = run.testResults.find(({ name }) => name.endsWith(`/${test.file}`))
  return file?.assertionResults.find(({ title }) => title === test.name)?.status ?? 'did not run'
}

/** Proves each cell of the takeover matrix: its test passes here, and fails where the guard is removed. */
export const takeover: Check = {
  name: 'takeover',
  what: 'Every cell of the takeover matrix names a passing test. The self-test removes the guard of each cell and checks that the test fails.',
  run: async ({ root }): Promise<Outcome> => {
    const chosen = guardsToTry(root)
    const run = await runTests(root, chosen)
    const outcomes = chosen.map((guard) => ({ guard, status: statusOf(run, guard) }))
    const failed = outcomes.filter(({ status }) => status === 'failed')
    const absent = outcomes.filter(({ status }) => status !== 'failed' && status !== 'passed')
    return {
      findings: [
        { what: 'cells', value: cells.length },
        { what: 'guards tried', value: chosen.length, atLeast: 1 },
        { what: 'tests that failed', value: failed.length, atMost: 0 },
        { what: 'tests that did not run', value: absent.length, atMost: 0 },
      ],
      notes: [...failed, ...absent].map(({ guard, status }) => `${guard.test.file}: ${guard.test.name}: ${status}`),
    }
  },
  sabotages: Object.values(guards).map(({ does, removedBy }: Guard) => ({
    what: `removed: ${does}`,
    red: 'tests that failed',
    edits: removedBy,
  })),
}
