import { useCallback, useMemo, useRef, useState } from 'react'
import type { RowSource } from './column.ts'
import { windowSize } from './useRows.ts'

/** At most so many rows are selected by one click: their ids travel in one body. */
export const selectionLimit = 10_000

/** A range by shift ends here: it is read in pages. */
const rangeLimit = 2_000

const rowsBetween = async <Row>(load: RowSource<Row>['load'], low: number, high: number): Promise<Row[]> => {
  const from = Math.floor(low / windowSize)
  const to = Math.floor(high / windowSize)
  const pages = await Promise.all(
    Array.from({ length: to - from + 1 }, (_, index) => load(from + index + 1, windowSize)),
  )
  return pages.flatMap((page) => page.data).slice(low - from * windowSize, high - from * windowSize + 1)
}

/** The rows a reader has chosen. */
export interface Selection<Row> {
  size: number
  /** Some, but not all rows of the list. */
  isPartial: boolean
  ids: ReadonlySet<string>
  /** The chosen rows as they were when chosen. */
  rows: () => Row[]
  has: (row: Row) => boolean
  toggle: (row: Row, index?: number, range?: boolean) => void
  selectAll: () => Promise<void>
  clear: () => void
}

/** Selection by id. A range (shift) and "all" read the ids from the server, so that rows off the screen count too. */
export const useSelection = <Row>(source: RowSource<Row>, filtered: number | null): Selection<Row> => {
  const [chosen, setChosen] = useState<ReadonlyMap<string, Row>>(new Map())
  const anchor = useRef<number | null>(null)
  const { idOf, load } = source

  const toggle = useCallback(
    (row: Row, index?: number, range = false) => {
      const from = anchor.current
      if (index !== undefined) anchor.current = index
      if (range && from !== null && index !== undefined && from !== index) {
        const low = Math.min(from, index)
        const high = Math.min(Math.max(from, index), low + rangeLimit - 1)
        void rowsBetween(load, low, high).then((rows) =>
          setChosen((old) => new Map([...old, ...rows.map((one) => [idOf(one), one] as const)])),
        )
        return
      }
      setChosen((old) => {
        const next = new Map(old)
        if (!next.delete(idOf(row))) next.set(idOf(row), row)
        return next
      })
    },
    [idOf, load],
  )
  const selectAll = useCallback(async () => {
    const page = await load(1, selectionLimit)
    setChosen(new Map(page.data.map((row) => [idOf(row), row])))
  }, [idOf, load])
  const clear = useCallback(() => {
    anchor.current = null
    setChosen(new Map())
  }, [])

  return useMemo(
    () => ({
      size: chosen.size,
      isPartial: chosen.size > 0 && chosen.size < (filtered ?? Number.POSITIVE_INFINITY),
      ids: new Set(chosen.keys()),
      rows: () => [...chosen.values()],
      has: (row: Row) => chosen.has(idOf(row)),
      toggle,
      selectAll,
      clear,
    }),
    [chosen, filtered, idOf, toggle, selectAll, clear],
  )
}
