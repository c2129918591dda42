/** Results of benchmarks: figures and their limits. */
import { type Finding, type Result, unmeasuredIn, verdictOf } from '../kit/verdict.ts'

export interface Figure {
  what: string
  value: number
  unit: string
  /** Shown after the figure. */
  beside?: string
  /** The bar, or the peer's figure. A figure without a limit is informational. */
  limit?: number
  /** True if the limit follows from the same run. */
  isRelative?: boolean
  /** Whether more or less is better. */
  better: 'more' | 'less'
}

export interface BenchResult {
  name: string
  /** Conditions of the run: sizes, times and omissions. */
  conditions: string
  /** Fleet size, if it matters. */
  agents?: number
  figures: Figure[]
  /** Parts that did not run, each with its reason. */
  notRun?: string[]
}

export const round = (value: number, digits = 2): number => Math.round(value * 10 ** digits) / 10 ** digits

/** Converts a figure to a finding, as in drills and gates. The limit becomes a bar. */
const findingOf = ({ limit, better, unit, ...rest }: Figure): Finding => ({
  ...rest,
  ...(unit === '' ? {} : { unit }),
  ...(limit === undefined ? {} : better === 'more' ? { atLeast: limit } : { atMost: limit }),
})

/** Returns the verdict of a benchmark. A benchmark without limits is informational and neither passes nor fails. */
export const judged = (result: BenchResult, seconds: number, seed: number): Result => {
  const findings = result.figures.map(findingOf)
  const notRun = result.notRun ?? []
  const isInformation = result.figures.length > 0 && result.figures.every(({ limit }) => limit === undefined)
  return {
    name: result.name,
    what: result.conditions,
    verdict:
      isInformation && notRun.length === 0 && unmeasuredIn(findings).length === 0
        ? 'measured'
        : verdictOf({ findings, notRun }),
    seconds,
    seed,
    ...(result.agents === undefined ? {} : { agents: result.agents }),
    findings,
    notRun,
    notes: [],
  }
}

/** Returns the ratio of value and limit: above 1 if the value is better than the limit. */
export const ratioOf = ({ value, limit, better }: Figure): number | null => {
  if (limit === undefined) return null
  if (!Number.isFinite(value)) return 0
  if (limit === 0) return value === 0 ? 1 : 0
  if (value === 0) return better === 'more' ? 0 : Number.POSITIVE_INFINITY
  return round(better === 'more' ? value / limit : limit / value)
}

/** Returns the value below which this share of the values lies. */
export const percentile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * share) - 1))] ?? Number.NaN
}

/** Formats the table for the terminal. */
export const tableOf = ({ name, conditions, figures, notRun = [] }: BenchResult): string => {
  const rows = figures.map((f) => [
    f.what,
    `${`${f.value} ${f.unit}`.trim()}${f.beside === undefined ? '' : `, ${f.beside}`}`,
    f.limit === undefined ? '' : `${f.better === 'more' ? '>=' : '<='} ${f.limit}`,
    ratioOf(f) === null ? '' : String(ratioOf(f)),
    (ratioOf(f) ?? 1) < 1 ? 'MISSED' : '',
  ])
  const head = ['figure', 'reached', 'limit', 'ratio (1 = limit, more is better)', '']
  const widths = head.map((text, i) => Math.max(text.length, ...rows.map((row) => (row[i] as string).length)))
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] as number))
      .join('  ')
      .trimEnd()
  const missing = notRun.map((reason) => `NOT RUN: ${reason}`)
  return [`${name}: ${conditions}`, line(head), ...rows.map(line), ...missing].join('\n')
}
