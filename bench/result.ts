/** What a benchmark tells: figures beside their limits, never a verdict. */

export interface Figure {
  what: string
  value: number
  unit: string
  /** Told behind the figure. */
  beside?: string
  /** What to reach, or the peer's figure; undefined: only told. */
  limit?: number
  /** Whether more or less is better. */
  better: 'more' | 'less'
}

export interface BenchResult {
  name: string
  /** How it was run: sizes, times, what was left out. */
  conditions: string
  /** Size of the fleet, where it tells. */
  agents?: number
  figures: Figure[]
}

export const round = (value: number, digits = 2): number => Math.round(value * 10 ** digits) / 10 ** digits

/** Value to limit, above 1 when it is better than the limit. */
export const ratioOf = ({ value, limit, better }: Figure): number | null => {
  if (limit === undefined || !Number.isFinite(value)) return null
  // Where the limit is none at all, it is met or it is not.
  if (limit === 0) return value === 0 ? 1 : 0
  if (value === 0) return better === 'more' ? 0 : null
  return round(better === 'more' ? value / limit : limit / value)
}

/** Share of sorted values below. */
export const percentile = (values: readonly number[], share: number): number => {
  const sorted = [...values].sort((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.max(0, Math.ceil(sorted.length * share) - 1))] ?? 0
}

/** The table for a person. */
export const tableOf = ({ name, conditions, figures }: BenchResult): string => {
  const rows = figures.map((f) => [
    f.what,
    `${f.value} ${f.unit}${f.beside === undefined ? '' : `, ${f.beside}`}`.trim(),
    f.limit === undefined ? '' : `${f.better === 'more' ? '>=' : '<='} ${f.limit}`,
    ratioOf(f) === null ? '' : String(ratioOf(f)),
  ])
  const head = ['figure', 'reached', 'limit', 'ratio (1 = limit, more is better)']
  const widths = head.map((text, i) => Math.max(text.length, ...rows.map((row) => (row[i] as string).length)))
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => cell.padEnd(widths[i] as number))
      .join('  ')
      .trimEnd()
  return [`${name}: ${conditions}`, line(head), ...rows.map(line)].join('\n')
}
