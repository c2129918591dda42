/** The result of reconciling a shown page with its newer version. */
export interface Reconciled<Row> {
  /** The shown rows in their order, with new values where the newer version has them. */
  rows: Row[]
  /** Ids of rows whose values changed. */
  changed: string[]
  /** Number of rows that are only in the newer version. */
  arrived: number
  /** Number of shown rows that the newer version lacks or has elsewhere. */
  moved: number
}

/**
 * Applies a newer version of a page without moving rows: values change in place. New, removed and moved rows are only
 * counted until the user shows them.
 */
export const reconcile = <Row>(
  shown: readonly Row[],
  fresh: readonly Row[],
  idOf: (row: Row) => string,
): Reconciled<Row> => {
  const freshById = new Map(fresh.map((row) => [idOf(row), row]))
  const shownIds = new Set(shown.map(idOf))
  const changed: string[] = []
  let moved = 0
  const rows = shown.map((row, index) => {
    const id = idOf(row)
    const next = freshById.get(id)
    const there = fresh[index]
    if (there === undefined || idOf(there) !== id) moved++
    if (next === undefined) return row
    if (JSON.stringify(next) === JSON.stringify(row)) return row
    changed.push(id)
    return next
  })
  return { rows, changed, arrived: fresh.filter((row) => !shownIds.has(idOf(row))).length, moved }
}
