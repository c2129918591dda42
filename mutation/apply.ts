/** Applies mutants that people wrote, one after the other, and runs the test that must notice each. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Mutant } from './mutant.ts'
import { createTestRunner } from './tests.ts'

export interface Applied {
  mutant: Mutant
  /**
   * `lost`: the source no longer contains `find` exactly once. `broken`: the test fails without the mutant, too, or there
   * is none of that name.
   */
  outcome: 'killed' | 'survived' | 'lost' | 'broken'
  /** The test that failed. */
  failure: string
}

type Runner = ReturnType<typeof createTestRunner>

/** The tests that must notice: all of the file when one mutant names none. */
const namesOf = (mutants: readonly Mutant[]): string[] => {
  const names = mutants.flatMap(({ named }) => named ?? [])
  return names.length === mutants.length ? [...new Set(names)] : []
}

/** `stale`: a source that the previous mutant had changed. */
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
 * Applies mutants to `trees`, copies of the checkout, one mutant in a tree at a time, and restores them. The mutants of
 * one test file stay in one tree: their test runs once without any first.
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
  // Those with the most mutants first, so that the trees end at about the same time.
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
