/** Checks whether the published proof matches the current tree. A release calls it. */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { barOf, isMet } from '../../rig/verdict.ts'
import { renderPages } from './pages.ts'
import { parts } from './parts.ts'
import { editedRuns, type Proof, shownRun } from './store.ts'
import { readTree } from './tree.ts'

export interface Checked {
  /** Reasons against releasing the pages: they belong to another tree, or somebody edited them. */
  stale: string[]
  /** Parts without a complete run. */
  gaps: string[]
  /** Published misses. They do not prevent a release. */
  misses: string[]
}

/** Lists the pages that differ from the pages rendered from the figures. */
export const editedPages = (root: string, proof: Proof): string[] =>
  Object.entries(renderPages(proof))
    .filter(([path, text]) => !existsSync(join(root, path)) || readFileSync(join(root, path), 'utf8') !== text)
    .map(([path]) => `${path} does not match docs/proof/proof.json: run "npm run prove -- --pages"`)

/** Compares docs/proof with the work tree. */
export const checkProof = (root: string): Checked => {
  const file = join(root, 'docs', 'proof', 'proof.json')
  if (!existsSync(file)) return { stale: ['docs/proof/proof.json is missing'], gaps: [], misses: [] }
  const proof = JSON.parse(readFileSync(file, 'utf8')) as Proof
  const { hash } = readTree(root)
  const full = proof.parts.filter(({ form }) => form === 'full').map((one) => ({ ...one, run: shownRun(one) }))
  return {
    stale: [
      ...(proof.tree === hash ? [] : [`docs/proof belongs to tree ${proof.tree}; the current tree is ${hash}`]),
      ...proof.parts.flatMap(({ part, runs }) =>
        runs.filter((run) => run.tree !== proof.tree).map((run) => `${part} contains a run of tree ${run.tree}`),
      ),
      ...editedRuns(proof.parts),
      ...editedPages(root, proof),
    ],
    gaps: parts.flatMap(({ name }) => {
      const verdict = full.find(({ part }) => part === name)?.run.verdict
      return verdict === undefined ? [`${name} did not run`] : verdict === 'incomplete' ? [`${name} is incomplete`] : []
    }),
    misses: full.flatMap(({ part, run }) =>
      run.results.flatMap(({ findings }) =>
        findings.filter((one) => barOf(one) !== '' && !isMet(one)).map(({ what }) => `${part} misses ${what}`),
      ),
    ),
  }
}
