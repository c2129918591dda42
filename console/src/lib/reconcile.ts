/** What a fresh read of a page means for the page that is shown. */
export interface Reconciled<Row> {
  /** The shown rows in their shown order, with new values where the fresh page has them. */
  rows: Row[]
  /** Ids whose values differ from what was shown. */
  changed: string[]
  /** Rows of the fresh page that are not shown here. */
  arrived: number
  /** Shown rows that the fresh page has not, or has elsewhere. */
  moved: number
}

/**
 * Lays a fresh page over the shown one without moving a row: values change in place, the order stays. Rows that came,
 * went or moved are only counted; they show when the reader asks for them.
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
