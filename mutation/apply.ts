/** Applies mutants that people wrote, one after the other, and runs the test that must notice each. */
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mutant } from './mutant.ts'

export interface Applied {
  mutant: Mutant
  /** `lost`: the source no longer contains `find` exactly once. `broken`: the test fails without the mutant, too. */
  outcome: 'killed' | 'survived' | 'lost' | 'broken'
}

const projectOf = (test: string): string => (/^(server|e2e)\//.exec(test)?.[1] ?? 'unit') as string

const passes = (tree: string, test: string): Promise<boolean> =>
  new Promise((done) => {
    const args = ['run', `--project=${projectOf(test)}`, '--bail=1', test]
    const child = spawn(process.execPath, [join(tree, 'node_modules', 'vitest', 'vitest.mjs'), ...args], {
      cwd: tree,
      stdio: 'ignore',
    })
    child.once('error', () => done(false))
    child.once('close', (code) => done(code === 0))
  })

/** Applies mutants of one test file to `tree`, a copy of the checkout, and restores it. */
const applyToOne = async (tree: string, test: string, mutants: readonly Mutant[]): Promise<Applied[]> => {
  if (!(await passes(tree, test))) return mutants.map((mutant) => ({ mutant, outcome: 'broken' }))
  const results: Applied[] = []
  for (const mutant of mutants) {
    const path = join(tree, mutant.file)
    const source = readFileSync(path, 'utf8')
    if (source.split(mutant.find).length !== 2) {
      results.push({ mutant, outcome: 'lost' })
      continue
    }
    writeFileSync(
      path,
      source.replace(mutant.find, () => mutant.replace),
    )
    results.push({ mutant, outcome: (await passes(tree, test)) ? 'survived' : 'killed' })
    writeFileSync(path, source)
  }
  return results
}

export const apply = async (
  tree: string,
  mutants: readonly Mutant[],
  say: (line: string) => void,
): Promise<Applied[]> => {
  const results: Applied[] = []
  for (const [test = '', some = []] of Map.groupBy(mutants, (mutant) => mutant.test))
    for (const applied of await applyToOne(tree, test, some)) {
      say(`${applied.outcome}: ${applied.mutant.does} (${applied.mutant.file})`)
      results.push(applied)
    }
  return results
}
