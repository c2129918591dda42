import { useCallback, useMemo, useRef, useState } from 'react'
import { tell, tellFailure } from '../tell.ts'
import type { RowSource } from './column.ts'
import { strings } from './strings.ts'
import { windowSize } from './useRows.ts'

/** Maximum number of ids read by one click. They are sent in one body. */
const selectionLimit = 10_000

/** Maximum number of rows in a range selection. */
const rangeLimit = 2_000

const rowsBetween = async <Row>(load: RowSource<Row>['load'], low: number, high: number): Promise<Row[]> => {
  const from = Math.floor(low / windowSize)
  const to = Math.floor(high / windowSize)
  const pages = await Promise.all(
    Array.from({ length: to - from + 1 }, (_, index) => load(from + index + 1, windowSize)),
  )
  return pages.flatMap((page) => page.data).slice(low - from * windowSize, high - from * windowSize + 1)
}

/** The selected rows. */
export interface Selection<Row> {
  size: number
  /** Some but not all rows are selected. */
  isPartial: boolean
  /** The filter is selected: all rows that match when the action runs. `ids` is empty. */
  isEverything: boolean
  ids: ReadonlySet<string>
  /** The selected rows, as they were at selection. */
  rows: () => Row[]
  has: (row: Row) => boolean
  toggle: (row: Row, index?: number, range?: boolean) => void
  /** Number of rows that `selectAll` would select. */
  selectable: number
  selectAll: () => Promise<void>
  clear: () => void
}

export interface SelectionOptions {
  /** Number of rows that match the filters. */
  filtered: number | null
  /** The filter as text. If set, "all" selects the filter instead of ids, without a limit. */
  byFilter?: string
}

/**
 * Selection by id or by filter. A range (Shift) and "all" without `byFilter` read the ids from the server, to include rows
 * that are not on the screen.
 */
export const useSelection = <Row>(source: RowSource<Row>, { filtered, byFilter }: SelectionOptions): Selection<Row> => {
  const [chosen, setChosen] = useState<ReadonlyMap<string, Row>>(new Map())
  const [everything, setEverything] = useState<string | null>(null)
  const anchor = useRef<number | null>(null)
  const { idOf, load } = source
  // The selection belongs to its filter: another filter matches other rows.
  const isEverything = everything !== null && everything === byFilter

  const readIds = useCallback(async () => {
    const page = await load(1, selectionLimit)
    return new Map(page.data.map((row) => [idOf(row), row] as const))
  }, [idOf, load])

  const toggle = useCallback(
    (row: Row, index?: number, range = false) => {
      const from = anchor.current
      if (index !== undefined) anchor.current = index
      if (isEverything) {
        // After one row is deselected, the others must be selected by id, up to the limit.
        if ((filtered ?? 0) > selectionLimit) {
          tell(strings.tooManyToDeselect({ limit: selectionLimit }))
          return
        }
        void readIds().then((rows) => {
          rows.delete(idOf(row))
          setEverything(null)
          setChosen(rows)
        }, tellFailure)
        return
      }
      if (range && from !== null && index !== undefined && from !== index) {
        const low = Math.min(from, index)
        const high = Math.min(Math.max(from, index), low + rangeLimit - 1)
        void rowsBetween(load, low, high).then(
          (rows) => setChosen((old) => new Map([...old, ...rows.map((one) => [idOf(one), one] as const)])),
          tellFailure,
        )
        return
      }
      setChosen((old) => {
        const next = new Map(old)
        if (!next.delete(idOf(row))) next.set(idOf(row), row)
        return next
      })
    },
    [idOf, load, readIds, isEverything, filtered],
  )
  const selectAll = useCallback(async () => {
    if (byFilter === undefined) setChosen(await readIds())
    else {
      setChosen(new Map())
      setEverything(byFilter)
    }
  }, [byFilter, readIds])
  const clear = useCallback(() => {
    anchor.current = null
    setEverything(null)
    setChosen(new Map())
  }, [])

  return useMemo(
    () => ({
      size: isEverything ? (filtered ?? 0) : chosen.size,
      isPartial: !isEverything && chosen.size > 0 && chosen.size < (filtered ?? Number.POSITIVE_INFINITY),
      isEverything,
      ids: new Set(isEverything ? [] : chosen.keys()),
      rows: () => (isEverything ? [] : [...chosen.values()]),
      has: (row: Row) => isEverything || chosen.has(idOf(row)),
      toggle,
      selectable: byFilter === undefined ? Math.min(filtered ?? 0, selectionLimit) : (filtered ?? 0),
      selectAll,
      clear,
    }),
    [chosen, isEverything, byFilter, filtered, idOf, toggle, selectAll, clear],
  )
}
