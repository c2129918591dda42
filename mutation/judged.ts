/** Survivors that somebody judged: why no test should notice them. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from '../rig/root.ts'
import type { Survivor } from './stryker.ts'

/** A judgement stays valid while the source line stays as it is, wherever the line moves. */
export interface Judgement extends Omit<Survivor, 'line'> {
  /** Why the product behaves the same, or why the difference does not matter. */
  why: string
}

export const judgements = (): Judgement[] =>
  JSON.parse(readFileSync(join(root, 'mutation', 'judged.json'), 'utf8')) as Judgement[]

const keyOf = ({ file, source, mutator, replacement }: Omit<Survivor, 'line'>): string =>
  JSON.stringify([file, source, mutator, replacement])

/**
 * Returns the survivors that nobody judged, and the judgements of mutants in `files` that no longer survive. A judgement
 * is good for one survivor: the same change of the same line may occur twice.
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
