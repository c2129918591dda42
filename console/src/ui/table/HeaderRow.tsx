// biome-ignore-all lint/a11y/useSemanticElements: virtual rows over any total can not be a table element
import { Checkbox } from '@mantine/core'
import { Icon } from '../icons.tsx'
import type { Column } from './column.ts'
import classes from './DataTable.module.css'
import type { Selection } from './useSelection.ts'

export interface HeaderRowProps<RowData> {
  columns: readonly Column<RowData>[]
  template: string
  width: number
  sort: string
  onSort: (column: Column<RowData>) => void
  directionOf: (column: Column<RowData>) => 'asc' | 'desc' | null
  /** Handler of a drag on a column's edge. */
  onResize: (id: string) => ((event: unknown) => void) | undefined
  selection: Selection<RowData> | undefined
}

export const HeaderRow = <RowData,>(props: HeaderRowProps<RowData>) => (
  <div
    role="row"
    tabIndex={-1}
    aria-rowindex={1}
    className={classes.header}
    style={{ gridTemplateColumns: props.template, minWidth: props.width }}
  >
    {props.selection === undefined ? null : (
      <div role="columnheader" tabIndex={-1} className={classes.check}>
        <Checkbox
          aria-label={props.selection.size > 0 ? 'Clear the selection' : 'Select the rows of this list'}
          checked={props.selection.size > 0 && !props.selection.isPartial}
          indeterminate={props.selection.isPartial}
          onChange={() => (props.selection!.size > 0 ? props.selection!.clear() : void props.selection!.selectAll())}
        />
      </div>
    )}
    {props.columns.map((column) => {
      const direction = props.directionOf(column)
      return (
        <div
          key={column.id}
          role="columnheader"
          tabIndex={-1}
          aria-sort={direction === null ? 'none' : direction === 'asc' ? 'ascending' : 'descending'}
          className={classes.headerCell}
          data-align={column.align}
        >
          {column.sortKey === undefined ? (
            <span className={classes.headerText}>{column.title}</span>
          ) : (
            <button type="button" className={classes.sort} onClick={() => props.onSort(column)}>
              <span className={classes.headerText}>{column.title}</span>
              {direction === null ? null : <Icon name={direction === 'asc' ? 'up' : 'down'} size={12} />}
            </button>
          )}
          <span
            aria-hidden="true"
            className={classes.resize}
            onMouseDown={(event) => props.onResize(column.id)?.(event)}
            onTouchStart={(event) => props.onResize(column.id)?.(event)}
          />
        </div>
      )
    })}
  </div>
)
