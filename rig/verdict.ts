/** Results of drills, gates and benchmarks: figures and their bars. */

export interface Finding {
  /** In words, unique within its check: the member of the JSON line. */
  what: string
  value: number
  unit?: string
  /** Shown behind the figure. */
  beside?: string
  /** The most that passes. */
  atMost?: number
  /** The least that passes. */
  atLeast?: number
}

export interface Outcome {
  findings: Finding[]
  /** Parts that did not run, each with its reason. They make the outcome incomplete. */
  notRun?: string[]
  /** For a person: examples of what went wrong, conditions. */
  notes?: string[]
}

export interface CheckSettings {
  /** Ends within its share of five minutes. */
  isQuick: boolean
  /** Minutes that a soak takes; undefined: the check's own. */
  minutes: number | undefined
  /** Release that an upgrade starts from, as git names it; undefined: the last one. */
  from?: string
  /** Seed of the random parts of a run. Each run draws a new one unless `--seed` sets it. */
  seed: number
  /** Checkout that is tried; another one for a self-test. */
  root: string
}

/** A change of the product's source that makes it wrong: `find` has to be there once. */
export interface Sabotage {
  /** What is broken, in words. */
  what: string
  /** The figure that has to miss its bar for it; a slow machine may make others miss theirs. Absent: any. */
  red?: string
  edits: readonly { file: string; find: string; replace: string }[]
}

export interface Check {
  /** As it is called on the command line. */
  name: string
  /** What it shows, one sentence. */
  what: string
  run(settings: CheckSettings): Promise<Outcome>
  /** Spends its time waiting, not working: in the short form two of these run side by side. */
  isWaiting?: boolean
  /** Ways to break the product that this check has to see. A check without one proves nothing. */
  sabotages?: readonly Sabotage[]
}

export const isMet = ({ value, atMost, atLeast }: Finding): boolean =>
  Number.isFinite(value) && (atMost === undefined || value <= atMost) && (atLeast === undefined || value >= atLeast)

const isJudged = ({ atMost, atLeast }: Finding): boolean => atMost !== undefined || atLeast !== undefined

/**
 * `incomplete`: no bar was missed, but a part did not run or no figure has a bar. It never counts as passed.
 * `measured`: an informational benchmark without bars.
 */
export type Verdict = 'passed' | 'missed' | 'incomplete' | 'measured'

/** Lists the figures without a bar that have no number: they were not measured. */
export const unmeasuredIn = (findings: readonly Finding[]): string[] =>
  findings.filter((one) => !isJudged(one) && !Number.isFinite(one.value)).map(({ what }) => what)

/**
 * Returns the verdict of an outcome. A missed bar takes precedence over a part that did not run. A figure without a number
 * did not run.
 */
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

const barNumber = (bar: number): number => Math.round(bar * 100) / 100

/** Formats a bar, such as ">= 5"; empty if the figure has none. */
export const barOf = ({ atMost, atLeast }: Finding): string =>
  [
    ...(atLeast === undefined ? [] : [`>= ${barNumber(atLeast)}`]),
    ...(atMost === undefined ? [] : [`<= ${barNumber(atMost)}`]),
  ].join(', ')

/** The JSON result of a finished check, benchmark or self-test. */
export interface Result {
  name: string
  /** What it shows, one sentence. */
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
