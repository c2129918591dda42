import { type CellFormat, printedText } from '../cell-text.ts'

export type SummaryColumn = { name: string } & CellFormat

/** Values that a line names; the rest is one number. */
const most = 6

/** Counts the values of columns for the first page. */
export const createSummary = (columns: readonly SummaryColumn[]) => {
  const counts = columns.map(() => new Map<string, number>())
  return {
    /** Counts a row, whose cells of the summary start at `from`. */
    add: (row: readonly string[], from: number): void => {
      counts.forEach((known, i) => {
        const value = row[from + i] ?? ''
        known.set(value, (known.get(value) ?? 0) + 1)
      })
    },
    /** Returns a line for each column, with the most frequent values first. */
    lines: (): string[] =>
      columns.flatMap((column, i) => {
        const sorted = [...(counts[i] as Map<string, number>)].toSorted(([, a], [, b]) => b - a)
        if (sorted.length === 0) return []
        const parts = sorted
          .slice(0, most)
          .map(([value, count]) => `${count.toLocaleString('en')} ${printedText(column, value) || 'without'}`)
        const rest = sorted.slice(most).reduce((sum, [, count]) => sum + count, 0)
        return [
          `${column.name}: ${[...parts, ...(rest === 0 ? [] : [`${rest.toLocaleString('en')} others`])].join(', ')}`,
        ]
      }),
  }
}
