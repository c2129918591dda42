// biome-ignore-all lint/a11y/useSemanticElements: virtual rows over any total cannot be a table element
import { type ReactNode, useId } from 'react'
import { nextSort, sortDirection } from '../../lib/view-state.ts'
import { ErrorState } from '../ErrorState.tsx'
import { Icon } from '../icons.tsx'
import type { Column } from './column.ts'
import classes from './DataTable.module.css'
import { HeaderRow } from './HeaderRow.tsx'
import { PendingBar } from './PendingBar.tsx'
import { Row } from './Row.tsx'
import scrolling from './scroller.module.css'
import { strings } from './strings.ts'
import type { DataTableProps } from './table-props.ts'
import { useColumnWidths } from './useColumnWidths.ts'
import { type Grid, useGrid } from './useGrid.ts'

interface RowsProps<RowData> extends Pick<DataTableProps<RowData>, 'source' | 'view' | 'hrefOf' | 'selection'> {
  gridId: string
  grid: Grid<RowData>
  columns: readonly Column<RowData>[]
  template: string
}

/** The rows on the screen. */
const Rows = <RowData,>(props: RowsProps<RowData>) => {
  const { gridId, grid, columns, template, source, view, hrefOf, selection } = props
  const { rows, items, cursor, openAt, toggleAt } = grid
  return items.map(({ index, start }) => {
    const row = rows.isFirst ? undefined : rows.rowAt(index)
    const id = row === undefined ? null : source.idOf(row)
    return (
      <Row
        key={index}
        id={`${gridId}-${index}`}
        index={index}
        top={start}
        template={template}
        columns={columns}
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
  })
}

const NoMatch = ({ clear, children }: { clear: () => void; children: ReactNode }) => (
  <div className={classes.noMatch}>
    <Icon name="filter" size={20} />
    <p>{strings.noMatch}</p>
    {children}
    <button type="button" className={classes.linkButton} onClick={clear}>
      {strings.clearFilters}
    </button>
  </div>
)

/** The list of the console: server-side sorting and filters, virtual rows, keyboard, selection, live updates. */
export const DataTable = <RowData,>(props: DataTableProps<RowData>) => {
  const { label, columns, view, selection, empty } = props
  const gridId = useId()
  const grid = useGrid(props)
  const { scroller, setPointerInside, rows, isFrozen, isCards, limit, count, virtual, cursor } = grid
  const { shown, template, width, resize } = useColumnWidths(columns, view.state.columns, selection !== undefined)
  const sortBy = ({ sortKey, naturalSort = 'asc' }: Column<RowData>) => {
    if (sortKey !== undefined)
      view.set({ sort: nextSort(view.state.sort, sortKey, naturalSort, view.spec.defaultSort) })
  }

  if (rows.failure !== null && rows.total === null) return <ErrorState failure={rows.failure} retry={rows.retry} />
  if (rows.total === 0 && !rows.isStale) return <>{empty}</>
  return (
    // The bar of pending rows is inside, so that it stays while the pointer moves to it.
    <div
      className={scrolling.frame}
      onPointerEnter={() => setPointerInside(true)}
      onPointerLeave={() => setPointerInside(false)}
    >
      <ErrorState failure={rows.failure} retry={rows.retry} inline />
      <PendingBar pending={rows.pending} isFrozen={isFrozen} apply={rows.apply} />
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
        className={`${scrolling.scroller} ${classes.scroller}`}
        data-stale={rows.isStale || undefined}
        data-cards={isCards || undefined}
      >
        <HeaderRow
          columns={shown}
          template={template}
          width={isCards ? undefined : width}
          onSort={sortBy}
          directionOf={({ sortKey }) => (sortKey === undefined ? null : sortDirection(view.state.sort, sortKey))}
          onResize={resize}
          selection={selection}
        />
        <div
          className={classes.body}
          style={{ height: virtual.getTotalSize(), minWidth: isCards ? undefined : width }}
          role="presentation"
        >
          <Rows {...props} {...{ gridId, grid, template }} columns={shown} />
        </div>
        {rows.filtered === 0 && !rows.isFirst ? <NoMatch clear={view.clearFilters}>{props.noMatch}</NoMatch> : null}
      </div>
      {(rows.filtered ?? 0) > limit ? <p className={classes.note}>{strings.scrollLimit({ limit })}</p> : null}
    </div>
  )
}
