/** Reads the accepted survivors: mutants that no test should detect, with the reasons. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../rig/root.ts'
import type { Survivor } from './stryker.ts'

/** A judgement is valid while its source line does not change, even if the line moves. */
export interface Judgement extends Omit<Survivor, 'line'> {
  /** The reason why the product behaves the same, or why the difference does not matter. */
  why: string
}

export const judgements = (): Judgement[] =>
  JSON.parse(readFileSync(join(root, 'mutation', 'judged.json'), 'utf8')) as Judgement[]

const keyOf = ({ file, source, mutator, replacement }: Omit<Survivor, 'line'>): string =>
  JSON.stringify([file, source, mutator, replacement])

/**
 * Returns the survivors without a judgement, and the judgements of mutants in `files` that no longer survive. A
 * judgement covers one survivor, because the same change of the same line may occur twice.
 */
export const compare = (
  survivors: readonly Survivor[],
  judged: readonly Judgement[],
  files: readonly string[],
): { unjudged: Survivor[]; obsolete: Judgement[] } => {
  const open = judged.filter((one) => files.includes(one.file))
  const unjudged = survivors.filter((survivor) => {
    const at = open.findIndex((one) => keyOf(one) === keyOf(survivor))
    if (at !== -1) open.splice(at, 1)
    return at === -1
  })
  return { unjudged, obsolete: open }
}
