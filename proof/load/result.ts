/** Results of benchmarks. */
import { type Finding, limitOf, type Outcome, type Result, resultOf, round, unmeasuredIn } from '../kit/verdict.ts'

/** Settings of benchmarks that do not depend on the fleet size. */
export interface Settings {
  isQuick: boolean
  databaseUrl: string | undefined
}

export interface BenchResult extends Outcome {
  /** Conditions of the run: sizes, times and omissions. */
  what: string
}

/** Returns the result of a benchmark. A benchmark without limits is informational and neither passes nor fails. */
export const benchResult = (
  name: string,
  result: BenchResult,
  run: { seconds: number; seed: number; agents?: number },
): Result => {
  const judged = resultOf(name, result.what, result, run)
  const isInformation = result.findings.length > 0 && result.findings.every((one) => limitOf(one) === '')
  const isWhole = judged.notRun.length === 0 && unmeasuredIn(result.findings).length === 0
  return isInformation && isWhole ? { ...judged, verdict: 'measured' } : judged
}

/** Returns the ratio of value and limit: above 1 if the value is better than the limit. */
export const ratioOf = ({ value, atMost, atLeast }: Finding): number | null => {
  const limit = atLeast ?? atMost
  if (limit === undefined) return null
  if (!Number.isFinite(value)) return 0
  if (limit === 0) return value === 0 ? 1 : 0
  if (value === 0) return atLeast === undefined ? Number.POSITIVE_INFINITY : 0
  return round(atLeast === undefined ? limit / value : value / limit)
}

/** Formats the table for the terminal. */
export const tableOf = ({ name, what, findings, notRun }: Result): string => {
  const rows = findings.map((one) => {
    const ratio = ratioOf(one)
    const reached = `${one.value} ${one.unit ?? ''}`.trim() + (one.beside === undefined ? '' : `, ${one.beside}`)
    return [one.what, reached, limitOf(one), String(ratio ?? ''), (ratio ?? 1) < 1 ? 'MISSED' : '']
  })
  const head = ['figure', 'reached', 'limit', 'ratio (1 = limit, more is better)', '']
  const widths = head.map((text, i) => Math.max(text.length, ...rows.map((row) => (row[i] as string).length)))
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] as number))
      .join('  ')
      .trimEnd()
  return [`${name}: ${what}`, line(head), ...rows.map(line), ...notRun.map((reason) => `NOT RUN: ${reason}`)].join('\n')
}
