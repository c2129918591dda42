import { useMediaQuery } from '@mantine/hooks'
import { useRouter } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { useCallback, useEffect, useEffectEvent, useRef, useState } from 'react'
import { cardHeight, rowHeight } from '../theme/tokens.ts'
import { useLatest } from '../useLatest.ts'
import type { DataTableProps } from './table-props.ts'
import { useGridKeys } from './useGridKeys.ts'
import { useRows } from './useRows.ts'

/** Maximum height to scroll through in px: the limit of browsers other than Chromium. */
const scrollHeight = 500_000 * rowHeight
/** Rows of the skeleton. */
const firstRows = 24

/** The rows around the viewport. */
const useScrolledRows = <Row>(
  { source, topics, view, selection, onCounts }: DataTableProps<Row>,
  cursor: number | null,
) => {
  const scroller = useRef<HTMLDivElement>(null)
  const [pointerInside, setPointerInside] = useState(false)
  const [range, setRange] = useState({ first: 0, last: 40 })
  const isFrozen = (selection?.size ?? 0) > 0
  const calm = !pointerInside && cursor === null && view.state.open === null && !isFrozen
  const rows = useRows(source, range, topics, { calm, isFrozen })
  const isCards = useMediaQuery('(max-width: 700px)', undefined, { getInitialValueInEffect: false }) ?? false
  const height = isCards ? cardHeight : rowHeight
  const limit = Math.floor(scrollHeight / height)
  const count = Math.min(rows.filtered ?? 0, limit)
  const virtual = useVirtualizer({
    count: rows.isFirst ? firstRows : count,
    getScrollElement: () => scroller.current,
    estimateSize: () => height,
    overscan: 10,
    scrollPaddingStart: rowHeight,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: rows have another height after the phone was turned
  useEffect(() => virtual.measure(), [virtual, height])
  const items = virtual.getVirtualItems()
  const first = items[0]?.index ?? 0
  const last = items.at(-1)?.index ?? 0
  useEffect(() => setRange({ first, last }), [first, last])

  const { total, filtered, isStale } = rows
  const report = useEffectEvent((counts: { total: number; filtered: number }) => onCounts?.(counts))
  useEffect(() => {
    if (total !== null && filtered !== null && !isStale) report({ total, filtered })
  }, [total, filtered, isStale])
  return { scroller, setPointerInside, rows, isFrozen, isCards, height, limit, count, virtual, items }
}

/** Behaviour of a table: scrolling, cursor, keys, opening and selecting rows. */
export const useGrid = <Row>(props: DataTableProps<Row>) => {
  const { source, view, hrefOf, opensPage = false, selection } = props
  const router = useRouter()
  const [cursor, setCursor] = useState<number | null>(null)
  const scrolled = useScrolledRows(props, cursor)
  const { scroller, rows, height, count, virtual } = scrolled

  const listKey = JSON.stringify(source.key)
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new list starts at the top
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 })
    setCursor(null)
  }, [listKey])

  const open = (row: Row) => {
    const id = source.idOf(row)
    if (opensPage) router.history.push(hrefOf(row))
    else view.set({ open: id === view.state.open ? null : id }, { replace: view.state.open !== null })
  }
  const atCursor = () => (cursor === null ? undefined : rows.rowAt(cursor))
  useGridKeys({
    cursor,
    count,
    moveTo: (index) => {
      if (count === 0) return
      const next = Math.max(0, Math.min(count - 1, index))
      setCursor(next)
      virtual.scrollToIndex(next, { align: 'auto' })
      const row = rows.rowAt(next)
      if (view.state.open !== null && row !== undefined) view.set({ open: source.idOf(row) }, { replace: true })
    },
    pageRows: () => Math.max(1, Math.floor((scroller.current?.clientHeight ?? 640) / height) - 2),
    open: () => {
      const row = atCursor()
      if (row !== undefined) open(row)
    },
    select: () => {
      const row = atCursor()
      if (row !== undefined) selection?.toggle(row, cursor ?? undefined)
    },
    leave: () => {
      if (view.state.open !== null) view.set({ open: null, tab: null })
      else if ((selection?.size ?? 0) > 0) selection?.clear()
      else setCursor(null)
    },
  })

  // Stable functions, so that rows do not render again while scrolling.
  const latest = useLatest({ rows, open, selection })
  const openAt = useCallback(
    (index: number) => {
      const row = latest.current.rows.rowAt(index)
      if (row === undefined) return
      setCursor(index)
      latest.current.open(row)
    },
    [latest],
  )
  const toggleAt = useCallback(
    (index: number, range: boolean) => {
      const row = latest.current.rows.rowAt(index)
      if (row !== undefined)
        latest.current.selection?.toggle(row, index, range ? latest.current.rows.between : undefined)
    },
    [latest],
  )
  return { ...scrolled, cursor, openAt, toggleAt }
}

export type Grid<Row> = ReturnType<typeof useGrid<Row>>
