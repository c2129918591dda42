import { useCallback, useMemo, useRef, useState } from 'react'
import { tell, tellFailure } from '../tell.ts'
import type { RowSource } from './column.ts'
import { strings } from './strings.ts'

/** Maximum number of ids read by one click. They are sent in one body. */
export const selectionLimit = 10_000

/** Maximum number of rows in a range selection. */
const rangeLimit = 2_000

/** Reads rows by index, in the order of the screen. */
type Between<Row> = (low: number, high: number) => Promise<Row[]>

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
  /** Selects or deselects a row. With `between`, selects the rows between the last one and this one. */
  toggle: (row: Row, index?: number, between?: Between<Row>) => void
  /** Number of rows that `selectAll` would select. */
  selectable: number
  selectAll: () => Promise<void>
  /**
   * Selects the matching rows by id, up to the limit, so that the selection stays the same after an action that changes
   * which rows match.
   */
  pin: () => Promise<void>
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
  const anchor = useRef<{ index: number; id: string } | null>(null)
  const { idOf, load } = source
  // The selection belongs to its filter: another filter matches other rows.
  const isEverything = everything !== null && everything === byFilter

  const readIds = useCallback(async () => {
    const page = await load(1, selectionLimit)
    return new Map(page.data.map((row) => [idOf(row), row] as const))
  }, [idOf, load])

  const toggle = useCallback(
    (row: Row, index?: number, between?: Between<Row>) => {
      const from = anchor.current
      if (index !== undefined) anchor.current = { index, id: idOf(row) }
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
      if (between !== undefined && from !== null && index !== undefined && from.index !== index) {
        const low = Math.min(from.index, index)
        const high = Math.min(Math.max(from.index, index), low + rangeLimit - 1)
        void between(low, high).then((rows) => {
          // The order changed since the first click: the range would include other rows.
          const isMoved = from.index <= high && !rows.some((one) => idOf(one) === from.id)
          const some = isMoved ? [row] : rows
          setChosen((old) => new Map([...old, ...some.map((one) => [idOf(one), one] as const)]))
        }, tellFailure)
        return
      }
      setChosen((old) => {
        const next = new Map(old)
        if (!next.delete(idOf(row))) next.set(idOf(row), row)
        return next
      })
    },
    [idOf, readIds, isEverything, filtered],
  )
  const selectAll = useCallback(async () => {
    if (byFilter === undefined) setChosen(await readIds())
    else {
      setChosen(new Map())
      setEverything(byFilter)
    }
  }, [byFilter, readIds])
  const pin = useCallback(async () => {
    if (!isEverything || (filtered ?? 0) > selectionLimit) return
    setChosen(await readIds())
    setEverything(null)
  }, [isEverything, filtered, readIds])
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
      pin,
      clear,
    }),
    [chosen, isEverything, byFilter, filtered, idOf, toggle, selectAll, pin, clear],
  )
}
