/** Runs Stryker on one group. */
import { spawn } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../rig/root.ts'
import type { Group } from './groups.ts'

/** A mutant that no test detected. */
export interface Survivor {
  file: string
  line: number
  /** Source line of the mutant. */
  source: string
  /** Kind of the change, in Stryker's terms. */
  mutator: string
  replacement: string
}

export interface Measured {
  group: string
  killed: number
  /** Killed mutants whose tests exceeded the time limit. A slow test on a busy machine looks the same. */
  timedOut: number
  total: number
  seconds: number
  files: string[]
  survivors: Survivor[]
}

interface Report {
  files: Record<
    string,
    {
      source: string
      mutants: { status: string; mutatorName: string; replacement?: string; location: { start: { line: number } } }[]
    }
  >
}

const packages = join(root, 'mutation', 'node_modules', '@stryker-mutator')

const run = (program: string, args: string[], cwd: string): Promise<number> =>
  new Promise((done) => {
    const child = spawn(program, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] })
    child.once('error', () => done(-1))
    child.once('close', (code) => done(code ?? -1))
  })

/** Installs Stryker separately. Its 177 packages would slow down the first start of every other command. */
export const ensureStryker = async (): Promise<void> => {
  if (existsSync(join(packages, 'vitest-runner'))) return
  const code = await run('npm', ['ci', '--no-audit', '--no-fund'], join(root, 'mutation'))
  if (code !== 0) throw new Error(`npm ci in mutation/ ended with code ${code}.`)
}

const vitestConfig = ({ tests }: Group): string => `import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ${JSON.stringify(tests)},
    testTimeout: 60_000,
    hookTimeout: 60_000,
    isolate: false,
  },
})
`

const survived = new Set(['Survived', 'NoCoverage'])
const killed = new Set(['Killed', 'Timeout'])

/** Reads Stryker's report. Mutants that do not compile are not counted. */
export const readReport = (text: string): Pick<Measured, 'killed' | 'timedOut' | 'total' | 'files' | 'survivors'> => {
  const { files } = JSON.parse(text) as Report
  const all = Object.entries(files).flatMap(([file, { source, mutants }]) => {
    const lines = source.split('\n')
    return mutants.map(({ status, mutatorName, replacement = '', location: { start } }) => ({
      status,
      ...{ file, line: start.line, source: (lines[start.line - 1] ?? '').trim(), mutator: mutatorName, replacement },
    }))
  })
  return {
    killed: all.filter(({ status }) => killed.has(status)).length,
    timedOut: all.filter(({ status }) => status === 'Timeout').length,
    total: all.filter(({ status }) => killed.has(status) || survived.has(status)).length,
    files: Object.keys(files),
    survivors: all
      .filter(({ status }) => survived.has(status))
      .map(({ file, line, source, mutator, replacement }) => ({ file, line, source, mutator, replacement })),
  }
}

/** Mutates the group's files in `tree`, a copy of the checkout, and runs its tests against each mutant. */
export const measure = async (group: Group, tree: string): Promise<Measured> => {
  const startedAt = performance.now()
  writeFileSync(join(tree, 'vitest.mutation.ts'), vitestConfig(group))
  writeFileSync(
    join(tree, 'stryker.json'),
    JSON.stringify({
      testRunner: 'vitest',
      plugins: [join(packages, 'vitest-runner', 'dist', 'src', 'index.js')],
      vitest: { configFile: 'vitest.mutation.ts', related: false },
      mutate: group.mutate,
      // The tree is already a copy.
      inPlace: true,
      coverageAnalysis: 'perTest',
      // A second runner only helps while tests wait for a database or the clock.
      concurrency: 2,
      timeoutMS: 20_000,
      reporters: ['json'],
      jsonReporter: { fileName: 'mutation.json' },
      logLevel: 'warn',
    }),
  )
  const code = await run(process.execPath, [join(packages, 'core', 'bin', 'stryker.js'), 'run', 'stryker.json'], tree)
  if (code !== 0) throw new Error(`Stryker ended with code ${code} on ${group.name}.`)
  return {
    group: group.name,
    ...readReport(readFileSync(join(tree, 'mutation.json'), 'utf8')),
    seconds: Math.round((performance.now() - startedAt) / 1000),
  }
}
