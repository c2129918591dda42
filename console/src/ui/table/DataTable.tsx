// biome-ignore-all lint/a11y/useSemanticElements: virtual rows over any total can not be a table element
import { useRouter } from '@tanstack/react-router'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useCallback, useEffect, useEffectEvent, useId, useMemo, useRef, useState } from 'react'
import type { LiveTopic } from '../../lib/live.ts'
import { nextSort, sortDirection } from '../../lib/view-state.ts'
import { ErrorState } from '../ErrorState.tsx'
import { Icon } from '../icons.tsx'
import { rowHeight } from '../theme/tokens.ts'
import { useKeys } from '../useKeys.ts'
import { useLatest } from '../useLatest.ts'
import type { View } from '../useView.ts'
import type { Column, RowSource } from './column.ts'
import classes from './DataTable.module.css'
import { HeaderRow } from './HeaderRow.tsx'
import { PendingBar } from './PendingBar.tsx'
import { Row } from './Row.tsx'
import { useRows } from './useRows.ts'
import type { Selection } from './useSelection.ts'

// Beyond this, browsers other than Chromium can not scroll; nobody reads that far, he filters.
const scrollLimit = 500_000

export interface DataTableProps<RowData> {
  /** What the rows are, for screen readers. */
  label: string
  columns: readonly Column<RowData>[]
  source: RowSource<RowData>
  view: View
  /** Live topics after which the rows on the screen are read again. */
  topics: readonly LiveTopic[]
  /** Address of a row's full page. */
  hrefOf: (row: RowData) => string
  /** A row opens that address at once, without a drawer. */
  opensPage?: boolean
  selection?: Selection<RowData>
  /** Shown when the list has no rows at all. */
  empty: ReactNode
  /** Hears the exact counts: all rows, and those the filters leave. */
  onCounts?: (counts: { total: number; filtered: number }) => void
}

/** The one list of the console: server-side sort and filter, virtual rows over any total, keyboard, selection, live marks. */
export const DataTable = <RowData,>(props: DataTableProps<RowData>) => {
  const { label, columns, source, view, topics, hrefOf, opensPage = false, selection, empty, onCounts } = props
  const router = useRouter()
  const scroller = useRef<HTMLDivElement>(null)
  const gridId = useId()
  const [cursor, setCursor] = useState<number | null>(null)
  const [pointerInside, setPointerInside] = useState(false)
  const [range, setRange] = useState({ first: 0, last: 40 })
  const calm = !pointerInside && cursor === null && view.state.open === null && (selection?.size ?? 0) === 0
  const rows = useRows(source, range, topics, calm)
  const count = Math.min(rows.filtered ?? 0, scrollLimit)

  const [widths, setWidths] = useState<Readonly<Record<string, number>>>({})
  const resized = Object.keys(widths).length > 0
  const shown = useMemo(
    () => columns.filter(({ id }) => view.state.columns.includes(id)),
    [columns, view.state.columns],
  )
  const widthOf = (column: Column<RowData>) => widths[column.id] ?? column.width
  const template = [
    ...(selection === undefined ? [] : ['36px']),
    ...shown.map((column) => {
      const width = widthOf(column)
      return column.grow === true && !resized ? `minmax(${width}px, ${width}fr)` : `${width}px`
    }),
    ...(resized ? ['minmax(0, 1fr)'] : []),
  ].join(' ')

  const virtual = useVirtualizer({
    count: rows.isFirst ? 24 : count,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 10,
    scrollPaddingStart: rowHeight,
  })
  const items = virtual.getVirtualItems()
  const first = items[0]?.index ?? 0
  const last = items.at(-1)?.index ?? 0
  useEffect(() => setRange({ first, last }), [first, last])

  const listKey = JSON.stringify(source.key)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list starts at its top
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 })
    setCursor(null)
  }, [listKey])

  const { total, filtered } = rows
  const report = useEffectEvent((counts: { total: number; filtered: number }) => onCounts?.(counts))
  useEffect(() => {
    if (total !== null && filtered !== null && !rows.isStale) report({ total, filtered })
  }, [total, filtered, rows.isStale])

  const moveTo = (index: number) => {
    if (count === 0) return
    const next = Math.max(0, Math.min(count - 1, index))
    setCursor(next)
    virtual.scrollToIndex(next, { align: 'auto' })
    const row = rows.rowAt(next)
    if (view.state.open !== null && row !== undefined) view.set({ open: source.idOf(row) }, { replace: true })
  }
  const atCursor = () => (cursor === null ? undefined : rows.rowAt(cursor))
  const pageRows = () => Math.max(1, Math.floor((scroller.current?.clientHeight ?? 640) / rowHeight) - 2)
  useKeys([
    { keys: 'j', description: 'Next row', run: () => moveTo((cursor ?? -1) + 1) },
    { keys: 'k', description: 'Previous row', run: () => moveTo((cursor ?? count) - 1) },
    { keys: 'ArrowDown', description: 'Next row', run: () => moveTo((cursor ?? -1) + 1) },
    { keys: 'ArrowUp', description: 'Previous row', run: () => moveTo((cursor ?? count) - 1) },
    { keys: 'PageDown', description: 'A page down', run: () => moveTo((cursor ?? 0) + pageRows()) },
    { keys: 'PageUp', description: 'A page up', run: () => moveTo((cursor ?? 0) - pageRows()) },
    { keys: 'Home', description: 'First row', run: () => moveTo(0) },
    { keys: 'End', description: 'Last row', run: () => moveTo(count - 1) },
    {
      keys: 'Enter',
      description: 'Open the row',
      run: () => {
        const row = atCursor()
        if (row !== undefined) open(row)
      },
    },
    {
      keys: 'x',
      description: 'Select the row',
      run: () => {
        const row = atCursor()
        if (row !== undefined) selection?.toggle(row, cursor ?? undefined)
      },
    },
    {
      keys: 'Escape',
      description: 'Close what is open',
      run: () => {
        if (view.state.open !== null) view.set({ open: null, tab: null })
        else if ((selection?.size ?? 0) > 0) selection?.clear()
        else setCursor(null)
      },
    },
  ])

  // Rows keep these two functions for their life, so that they are not drawn again with every move of the view.
  const open = (row: RowData) => {
    const id = source.idOf(row)
    if (opensPage) router.history.push(hrefOf(row))
    else view.set({ open: id === view.state.open ? null : id }, { replace: view.state.open !== null })
  }
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
      if (row !== undefined) latest.current.selection?.toggle(row, index, range)
    },
    [latest],
  )

  if (rows.failure !== null && rows.total === null) return <ErrorState failure={rows.failure} retry={rows.retry} />
  if (rows.total === 0 && !rows.isStale) return <>{empty}</>

  const width = shown.reduce((sum, column) => sum + widthOf(column), selection === undefined ? 0 : 36)
  return (
    <div className={classes.frame}>
      {rows.failure === null ? null : <ErrorState failure={rows.failure} retry={rows.retry} inline />}
      <PendingBar pending={rows.pending} apply={rows.apply} />
      <div
        ref={scroller}
        role="grid"
        id={gridId}
        aria-label={label}
        aria-rowcount={count + 1}
        aria-busy={rows.isFirst || rows.isStale}
        aria-multiselectable={selection !== undefined}
        aria-activedescendant={cursor === null ? undefined : `${gridId}-${cursor}`}
        tabIndex={0}
        className={classes.scroller}
        data-stale={rows.isStale || undefined}
        onPointerEnter={() => setPointerInside(true)}
        onPointerLeave={() => setPointerInside(false)}
      >
        <HeaderRow
          columns={shown}
          template={template}
          width={width}
          sort={view.state.sort}
          onSort={(column) => {
            if (column.sortKey === undefined) return
            const natural = column.naturalSort ?? 'asc'
            view.set({ sort: nextSort(view.state.sort, column.sortKey, natural, view.spec.defaultSort) })
          }}
          directionOf={(column) =>
            column.sortKey === undefined ? null : sortDirection(view.state.sort, column.sortKey)
          }
          onResize={(drawn) => setWidths((old) => ({ ...old, ...drawn }))}
          selection={selection}
        />
        <div className={classes.body} style={{ height: virtual.getTotalSize(), minWidth: width }} role="presentation">
          {items.map(({ index, start }) => {
            const row = rows.isFirst ? undefined : rows.rowAt(index)
            const id = row === undefined ? null : source.idOf(row)
            return (
              <Row
                key={index}
                id={`${gridId}-${index}`}
                index={index}
                top={start}
                template={template}
                columns={shown}
                row={row}
                href={row === undefined ? null : hrefOf(row)}
                isOpen={id !== null && id === view.state.open}
                isCursor={cursor === index}
                isMarked={id !== null && rows.marked.has(id)}
                isSelected={selection === undefined ? undefined : row !== undefined && selection.has(row)}
                onOpen={openAt}
                onToggle={toggleAt}
              />
            )
          })}
        </div>
        {rows.filtered === 0 && !rows.isFirst ? (
          <div className={classes.noMatch}>
            <Icon name="filter" size={20} />
            <p>Nothing matches these filters.</p>
            <button type="button" className={classes.linkButton} onClick={() => view.clearFilters()}>
              Clear all filters
            </button>
          </div>
        ) : null}
      </div>
      {(rows.filtered ?? 0) > scrollLimit ? (
        <p className={classes.note}>
          The first {scrollLimit.toLocaleString('en')} rows can be scrolled; narrow the filter to reach the others.
        </p>
      ) : null}
    </div>
  )
}
