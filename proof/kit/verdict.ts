/** Results of drills, gates and benchmarks: figures and their limits. */

export interface Finding {
  /** Plain text, unique within its check. Used as the key in the JSON line. */
  what: string
  value: number
  unit?: string
  /** Shown after the figure. */
  beside?: string
  /** The largest value that passes. */
  atMost?: number
  /** The smallest value that passes. */
  atLeast?: number
  /** True if the limit follows from the same run, such as the figure of a peer. */
  isRelative?: boolean
}

const found = (what: string, value: number, unit: string, beside: string | undefined, limit = {}): Finding => ({
  ...{ what, value },
  ...(unit === '' ? {} : { unit }),
  ...(beside === undefined ? {} : { beside }),
  ...limit,
})

export const round = (value: number, digits = 2): number => Math.round(value * 10 ** digits) / 10 ** digits

/** Returns the value below which this share of the values lies. */
export const percentile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * share) - 1))] ?? Number.NaN
}

export const median = (values: readonly number[]): number => percentile(values, 0.5)

/** A figure without a limit, for information. */
export const figure = (what: string, value: number, unit = '', beside?: string): Finding =>
  found(what, value, unit, beside)

/** A figure that must not exceed its limit. Without a limit, it is for information. */
export const atMost = (what: string, value: number, limit: number | undefined, unit = '', beside?: string): Finding =>
  found(what, value, unit, beside, limit === undefined ? {} : { atMost: limit })

/** A figure that must reach its limit, if it has one. */
export const atLeast = (what: string, value: number, limit: number | undefined, unit = '', beside?: string): Finding =>
  found(what, value, unit, beside, limit === undefined ? {} : { atLeast: limit })

/** Marks a limit that follows from the same run, such as the figure of a peer. */
export const relative = (finding: Finding): Finding => ({ ...finding, isRelative: true })

export interface Outcome {
  findings: Finding[]
  /** Parts that did not run, each with its reason. They make the outcome incomplete. */
  notRun?: string[]
  /** Examples of failures, and conditions. */
  notes?: string[]
}

export interface CheckSettings {
  /** True for the short form, which takes its share of five minutes. */
  isQuick: boolean
  /** Duration of a soak in minutes. Undefined: the check's default. */
  minutes: number | undefined
  /** Git name of the release that an upgrade starts from. Undefined: the previous release. */
  from?: string
  /** Seed of the random parts of a run. Each run draws a new one unless `--seed` sets it. */
  seed: number
  /** Checkout under test. */
  root: string
}

export interface Check {
  /** Name on the command line. */
  name: string
  /** What the check shows, in one sentence. */
  what: string
  run(settings: CheckSettings): Promise<Outcome>
  /** True if the check mostly waits. Two such checks run at the same time in the short form. */
  isWaiting?: boolean
}

export const isMet = ({ value, atMost, atLeast }: Finding): boolean =>
  Number.isFinite(value) && (atMost === undefined || value <= atMost) && (atLeast === undefined || value >= atLeast)

export const hasLimit = ({ atMost, atLeast }: Finding): boolean => atMost !== undefined || atLeast !== undefined

/**
 * `incomplete`: no limit was missed, but a part did not run or no figure has a limit. It never counts as passed.
 * `measured`: an informational benchmark without limits.
 */
export type Verdict = 'passed' | 'missed' | 'incomplete' | 'measured'

/** Lists the figures without a limit that have no number: they were not measured. */
export const unmeasuredIn = (findings: readonly Finding[]): string[] =>
  findings.filter((one) => !hasLimit(one) && !Number.isFinite(one.value)).map(({ what }) => what)

/** Returns the verdict of an outcome. A missed limit takes precedence over parts or figures that were not measured. */
export const verdictOf = ({ findings, notRun = [] }: Outcome): Verdict => {
  if (findings.some((finding) => hasLimit(finding) && !isMet(finding))) return 'missed'
  return notRun.length > 0 || unmeasuredIn(findings).length > 0 || !findings.some(hasLimit) ? 'incomplete' : 'passed'
}

/** Returns the worst of several verdicts; `incomplete` if there are none. */
export const worstOf = (verdicts: readonly Verdict[]): Verdict => {
  if (verdicts.includes('missed')) return 'missed'
  if (verdicts.length === 0 || verdicts.includes('incomplete')) return 'incomplete'
  return verdicts.includes('passed') ? 'passed' : 'measured'
}

/** Returns the exit code of a run. Code 2 is reserved for invalid arguments. */
export const exitCodeOf = (verdict: Verdict): 0 | 1 | 3 => (verdict === 'missed' ? 1 : verdict === 'incomplete' ? 3 : 0)

/**
 * Names an amount of work that the short form reduces. The name differs, so that nobody mistakes a reduced limit for the limit
 * of the full form. Limits on the result itself are the same in both forms.
 */
export const amount = (isQuick: boolean, what: string): string => (isQuick ? `${what} (short form)` : what)

const rounded = (limit: number): number => Math.round(limit * 1_000) / 1_000

/** Formats a limit, such as ">= 5"; empty if the figure has none. */
export const limitOf = ({ atMost, atLeast }: Finding): string =>
  [
    ...(atLeast === undefined ? [] : [`>= ${rounded(atLeast)}`]),
    ...(atMost === undefined ? [] : [`<= ${rounded(atMost)}`]),
  ].join(', ')

/** The JSON result of a finished check or benchmark. */
export interface Result {
  name: string
  /** What it shows, in one sentence. */
  what: string
  verdict: Verdict
  seconds: number
  /** Seed of the random parts of the run. */
  seed: number
  /** Fleet size, if the figures depend on it. */
  agents?: number
  findings: Finding[]
  notRun: string[]
  notes: string[]
}

export const resultOf = (
  name: string,
  what: string,
  { findings, notRun = [], notes = [] }: Outcome,
  run: { seconds: number; seed: number; agents?: number },
): Result => ({ ...{ name, what, verdict: verdictOf({ findings, notRun }) }, ...run, findings, notRun, notes })
