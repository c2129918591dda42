/** The last result of each part, in docs/proof/proof.json, and how it ages. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Finding, hasLimit, isMet, limitOf, type Result, type Verdict } from '../kit/verdict.ts'
import { type Part, parts } from './parts.ts'

/** One run of a part. */
export interface Run {
  form: 'full' | 'short'
  /** The commit that was measured, and the version of the product there. */
  commit: string
  version: string
  /** Start time, ISO 8601. */
  date: string
  machine: string
  command: string
  /** Null if the result comes from an earlier page that does not state it. */
  seed: number | null
  seconds: number | null
  /** Digest of the part's inputs at the commit. Empty if they are not known. */
  inputs: string
  verdict: Verdict
  results: Result[]
  /** Reasons for missing results. */
  notRun: string[]
  /** Verdicts of later runs on the same inputs. They do not clear a miss. */
  again?: Verdict[]
  /** Limits that the run before applied, and that this one lacked or eased. */
  eased?: Eased[]
}

interface Eased {
  what: string
  from: string
  to: string
}

export interface Proof {
  /** The day on which the ages were determined. */
  at: string
  /** Stale parts, with the number of commits to their inputs since; null if it is not known. */
  stale: Record<string, number | null>
  runs: Record<string, Run>
}

export const git = (root: string, ...args: string[]): string | undefined => {
  const { status, stdout } = spawnSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
  return status === 0 ? stdout.trim() : undefined
}

/** Returns the digest of a part's inputs at a commit. */
export const digestOf = (root: string, commit: string, { inputs }: Part): string => {
  const listed = git(root, 'ls-tree', '-r', commit, '--', ...inputs)
  if (listed === undefined) throw new Error(`git has no commit ${commit}. Proofs need a checkout with its history.`)
  return createHash('sha256').update(listed).digest('hex').slice(0, 20)
}

/** Returns the changed files of the work tree, among these paths or anywhere. */
export const uncommitted = (root: string, paths: readonly string[] = []): string[] =>
  (git(root, 'status', '--porcelain', '--untracked-files=all', '--', ...paths) ?? 'no git').split('\n').filter(Boolean)

const fileOf = (root: string): string => join(root, 'docs', 'proof', 'proof.json')

export const readProof = (root: string): Proof =>
  existsSync(fileOf(root)) ? (JSON.parse(readFileSync(fileOf(root), 'utf8')) as Proof) : { at: '', stale: {}, runs: {} }

export const writeProof = (root: string, proof: Proof): void =>
  writeFileSync(fileOf(root), `${JSON.stringify(proof, null, 1)}\n`)

/** A result is stale if the content of an input of its part differs at the present commit. */
export const withAges = (root: string, { runs }: Pick<Proof, 'runs'>, now: Date): Proof => {
  const stale = parts.flatMap((part): [string, number | null][] => {
    const run = runs[part.name]
    if (run === undefined || run.inputs === digestOf(root, 'HEAD', part)) return []
    const commits = git(root, 'rev-list', '--count', `${run.commit}..HEAD`, '--', ...part.inputs)
    return [[part.name, commits === undefined ? null : Number(commits)]]
  })
  const known = parts.flatMap(({ name }) => (runs[name] === undefined ? [] : [[name, runs[name]] as const]))
  return {
    at: now.toISOString().slice(0, 10),
    stale: Object.fromEntries(stale),
    runs: Object.fromEntries(known),
  }
}

export const missesOf = ({ results }: Run): { result: Result; finding: Finding }[] =>
  results.flatMap((result) =>
    result.findings.filter((one) => hasLimit(one) && !isMet(one)).map((finding) => ({ result, finding })),
  )

const isEasier = (before: Finding, after: Finding): boolean =>
  (before.atMost !== undefined && !((after.atMost ?? Number.POSITIVE_INFINITY) <= before.atMost)) ||
  (before.atLeast !== undefined && !((after.atLeast ?? Number.NEGATIVE_INFINITY) >= before.atLeast))

/** Lists the limits of a run that the next one lacks or eases. */
const easedLimits = (last: Run, next: Run): Eased[] =>
  last.results.flatMap(({ name, agents, findings }) => {
    const now = next.results.find((one) => one.name === name && one.agents === agents)
    return findings.flatMap((one) => {
      const found = now?.findings.find(({ what }) => what === one.what)
      if (!hasLimit(one) || one.isRelative === true || found?.isRelative === true) return []
      if (found !== undefined && !isEasier(one, found)) return []
      return [{ what: one.what, from: limitOf(one), to: (found === undefined ? '' : limitOf(found)) || 'none' }]
    })
  })

/**
 * Returns the run to keep. A full run replaces the last one, unless it is incomplete, or the last one missed a limit on
 * the same inputs. A short run only fills a gap.
 */
export const kept = (last: Run | undefined, next: Run): Run => {
  if (last === undefined) return next
  if (last.form !== next.form) return next.form === 'full' ? next : last
  if (last.verdict === 'missed' && next.verdict !== 'missed' && last.inputs === next.inputs)
    return { ...last, again: [...(last.again ?? []), next.verdict] }
  if (next.verdict === 'incomplete' && last.verdict !== 'incomplete') return last
  // The limits of results without a digest are older than this comparison.
  const eased = next.form === 'full' && last.inputs !== '' ? [...(last.eased ?? []), ...easedLimits(last, next)] : []
  return eased.length === 0 ? next : { ...next, eased }
}

/** Lists the eased limits that the page of limits does not record in a row with the figure and its new limit. */
export const unrecordedLimits = (root: string, { runs }: Pick<Proof, 'runs'>): string[] => {
  const rows = readFileSync(join(root, 'docs', 'proof', 'limits.md'), 'utf8').split('\n')
  return Object.entries(runs).flatMap(([part, { eased = [] }]) =>
    eased
      .filter(({ what, to }) => !rows.some((row) => row.includes(`| ${what} |`) && row.includes(`| ${to} |`)))
      .map(({ what, from, to }) => `docs/proof/limits.md has no row for ${part}, ${what}: ${from} became ${to}`),
  )
}

/** Returns what a release still lacks. A published miss does not prevent it. */
export const gapsOf = (root: string, proof: Proof): string[] =>
  parts.flatMap((part) => {
    const run = proof.runs[part.name]
    if (run?.form !== 'full') return [`${part.name} was not measured in full`]
    if (run.inputs !== digestOf(root, 'HEAD', part)) return [`${part.name} is stale`]
    return run.verdict === 'incomplete' ? [`${part.name} is incomplete`] : []
  })
