/** Stores runs of parts as JSON files, one folder for each tree, so that a page never mixes trees. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Result, Verdict } from '../../rig/verdict.ts'

export interface Run {
  tree: string
  commit: string | null
  machine: string
  /** Start time, ISO 8601. */
  date: string
  command: string
  seed: number
  seconds: number
  verdict: Verdict
  results: Result[]
  /** Reason for missing results. */
  notRun: string[]
  /** Hash of the run with its part and form: shows that somebody edited a figure or presents another form. */
  digest: string
}

export type Form = 'full' | 'short'

export interface PartRuns {
  part: string
  form: Form
  /** Every run on this tree, oldest first. Runs that missed a bar are kept. */
  runs: Run[]
}

/** The source of all figures on the pages. */
export interface Proof {
  format: 1
  tree: string
  commit: string | null
  /** All parts of the proof, whether they ran or not. */
  names: string[]
  parts: PartRuns[]
}

const fileOf = (folder: string, part: string, form: Form): string =>
  join(folder, `${part.replaceAll('/', '+')}${form === 'short' ? '+short' : ''}.json`)

const keyOf = ({ part, form }: Pick<PartRuns, 'part' | 'form'>): string => `${part} ${form}`

/** Returns the digest of a run. */
export const digestOf = (part: string, form: Form, run: Omit<Run, 'digest'>): string => {
  const { tree, commit, machine, date, command, seed, seconds, verdict, results, notRun } = run
  const content = { part, form, tree, commit, machine, date, command, seed, seconds, verdict, results, notRun }
  return createHash('sha256').update(JSON.stringify(content)).digest('hex').slice(0, 20)
}

/** Lists the runs that differ from what was measured. */
export const editedRuns = (parts: readonly PartRuns[]): string[] =>
  parts.flatMap(({ part, form, runs }) =>
    runs
      .filter((run) => run.digest !== digestOf(part, form, run))
      .map((run) => `The run of ${part} of ${run.date} was edited: run it again`),
  )

/** Adds a run to the runs of its part. */
export const addRun = (base: string, part: string, form: Form, run: Run): void => {
  const folder = join(base, run.tree)
  mkdirSync(folder, { recursive: true })
  const file = fileOf(folder, part, form)
  const known: PartRuns = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { part, form, runs: [] }
  writeFileSync(file, `${JSON.stringify({ ...known, runs: [...known.runs, run] }, null, 2)}\n`)
}

/** Reads all runs on one tree. */
export const readRuns = (base: string, tree: string): PartRuns[] => {
  const folder = join(base, tree)
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .sort()
    .map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')) as PartRuns)
}

/** Merges runs on the same tree from several folders. Omits runs on other trees. */
export const joinRuns = (tree: string, ...lists: readonly (readonly PartRuns[])[]): PartRuns[] => {
  const joined = new Map<string, PartRuns>()
  for (const one of lists.flat()) {
    const known = joined.get(keyOf(one))?.runs ?? []
    const isKnown = (run: Run): boolean => known.some(({ date, seed }) => date === run.date && seed === run.seed)
    const added = one.runs.filter((run) => run.tree === tree && !isKnown(run))
    const runs = [...known, ...added].sort((a, b) => (a.date < b.date ? -1 : 1))
    if (runs.length > 0) joined.set(keyOf(one), { part: one.part, form: one.form, runs })
  }
  return [...joined.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
}

/**
 * Returns the run that a page shows. Another run on the same tree does not clear a miss: the last run that missed
 * counts, then the last run that passed, then the last run.
 */
export const shownRun = ({ runs }: Pick<PartRuns, 'runs'>): Run => {
  const last = (...verdicts: Verdict[]): Run | undefined => runs.findLast(({ verdict }) => verdicts.includes(verdict))
  return last('missed') ?? last('passed', 'measured') ?? (runs.at(-1) as Run)
}
