/** Results of drills, gates and benchmarks: figures and their bars. */

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

export const isJudged = ({ atMost, atLeast }: Finding): boolean => atMost !== undefined || atLeast !== undefined

/**
 * `incomplete`: no bar was missed, but a part did not run or no figure has a bar. It never counts as passed.
 * `measured`: an informational benchmark without bars.
 */
export type Verdict = 'passed' | 'missed' | 'incomplete' | 'measured'

/** Lists the figures without a bar that have no number: they were not measured. */
export const unmeasuredIn = (findings: readonly Finding[]): string[] =>
  findings.filter((one) => !isJudged(one) && !Number.isFinite(one.value)).map(({ what }) => what)

/** Returns the verdict of an outcome. A missed bar takes precedence over parts or figures that were not measured. */
export const verdictOf = ({ findings, notRun = [] }: Outcome): Verdict => {
  if (findings.some((finding) => isJudged(finding) && !isMet(finding))) return 'missed'
  return notRun.length > 0 || unmeasuredIn(findings).length > 0 || !findings.some(isJudged) ? 'incomplete' : 'passed'
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
 * Names an amount of work that the short form reduces. The name differs, so that nobody mistakes a reduced bar for the bar
 * of the full form. Bars on the result itself are the same in both forms.
 */
export const amount = (isQuick: boolean, what: string): string => (isQuick ? `${what} (short form)` : what)

const barNumber = (bar: number): number => Math.round(bar * 1_000) / 1_000

/** Formats a bar, such as ">= 5"; empty if the figure has none. */
export const barOf = ({ atMost, atLeast }: Finding): string =>
  [
    ...(atLeast === undefined ? [] : [`>= ${barNumber(atLeast)}`]),
    ...(atMost === undefined ? [] : [`<= ${barNumber(atMost)}`]),
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
