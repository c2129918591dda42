/** Applies hand-written mutants one at a time, and runs the test that must detect each. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mutant } from './mutant.ts'
import { createTestRunner } from './tests.ts'

export interface Applied {
  mutant: Mutant
  /**
   * `lost`: the source no longer contains `find` exactly once. `broken`: the test also fails without the mutant, or no
   * test has that name.
   */
  outcome: 'killed' | 'survived' | 'lost' | 'broken'
  /** The test that failed. */
  failure: string
}

type Runner = ReturnType<typeof createTestRunner>

/** Returns the names of the tests that must fail. If a mutant names no test, all tests of the file run. */
const namesOf = (mutants: readonly Mutant[]): string[] => {
  const names = mutants.flatMap(({ named }) => named ?? [])
  return names.length === mutants.length ? [...new Set(names)] : []
}

/** Applies one mutant. `stale` lists the sources that the previous mutant changed. */
const applyOne = async (tree: string, runner: Runner, mutant: Mutant, stale: readonly string[]): Promise<Applied> => {
  const path = join(tree, mutant.file)
  const source = readFileSync(path, 'utf8')
  if (source.split(mutant.find).length !== 2) return { mutant, outcome: 'lost', failure: '' }
  writeFileSync(
    path,
    source.replace(mutant.find, () => mutant.replace),
  )
  const { outcome, failure } = await runner.run({
    test: mutant.test,
    named: namesOf([mutant]),
    changed: [...stale, path],
  })
  writeFileSync(path, source)
  return { mutant, outcome: ({ passed: 'survived', failed: 'killed', none: 'broken' } as const)[outcome], failure }
}

/**
 * Applies mutants to `trees`, copies of the checkout, one mutant per tree at a time, and restores the sources. All
 * mutants of a test file stay in one tree, so that its test runs only once without a mutant.
 */
export const apply = async (
  trees: readonly string[],
  mutants: readonly Mutant[],
  say: (line: string) => void,
): Promise<Applied[]> => {
  const results: Applied[] = []
  const note = (applied: Applied): void => {
    say(`${applied.outcome}: ${applied.mutant.does} (${applied.mutant.file}; ${applied.failure})`)
    results.push(applied)
  }
  // Start with the files with the most mutants, so that the trees finish at about the same time.
  const files = [...Map.groupBy(mutants, ({ test }) => test)].sort(([, a], [, b]) => a.length - b.length)
  const work = async (tree: string): Promise<void> => {
    const runner = createTestRunner(tree)
    let changed: string[] = []
    for (let next = files.pop(); next !== undefined; next = files.pop()) {
      const [test, some] = next
      const { outcome, failure } = await runner.run({ test, named: namesOf(some), changed })
      if (outcome !== 'passed') for (const mutant of some) note({ mutant, outcome: 'broken', failure })
      else
        for (const mutant of some) {
          note(await applyOne(tree, runner, mutant, changed))
          changed = [join(tree, mutant.file)]
        }
    }
    await runner.close()
  }
  await Promise.all(trees.map(work))
  return results
}
