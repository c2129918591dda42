// biome-ignore-all lint/a11y/useSemanticElements: virtual rows over any total cannot be a table element
import { Checkbox } from '@mantine/core'
import type { PointerEvent } from 'react'
import { Icon } from '../icons.tsx'
import type { Column } from './column.ts'
import classes from './DataTable.module.css'
import { strings } from './strings.ts'
import type { Selection } from './useSelection.ts'

export interface HeaderRowProps<RowData> {
  columns: readonly Column<RowData>[]
  template: string
  /** Undefined: the columns are a strip that scrolls, above cards. */
  width: number | undefined
  onSort: (column: Column<RowData>) => void
  directionOf: (column: Column<RowData>) => 'asc' | 'desc' | null
  /** New widths by column id. */
  onResize: (widths: Record<string, number>) => void
  selection: Selection<RowData> | undefined
}

const narrowest = 56
const widest = 900

/** Resizes a column with the pointer. All other columns keep their current width. */
const startResize = (
  down: PointerEvent<HTMLElement>,
  id: string,
  onResize: (widths: Record<string, number>) => void,
) => {
  const handle = down.currentTarget
  const handles = handle.parentElement?.parentElement?.querySelectorAll<HTMLElement>('[data-column]') ?? []
  const drawn: Record<string, number> = {}
  for (const { dataset, parentElement } of handles)
    if (dataset.column !== undefined && parentElement !== null)
      drawn[dataset.column] = parentElement.getBoundingClientRect().width
  const from = down.clientX
  const start = drawn[id]
  if (start === undefined) return
  handle.setPointerCapture(down.pointerId)
  const move = (event: globalThis.PointerEvent) =>
    onResize({ ...drawn, [id]: Math.round(Math.min(widest, Math.max(narrowest, start + event.clientX - from))) })
  handle.addEventListener('pointermove', move)
  handle.addEventListener('lostpointercapture', () => handle.removeEventListener('pointermove', move), { once: true })
  down.preventDefault()
}

const SelectAll = <RowData,>({ size, isPartial, clear, selectAll }: Selection<RowData>) => (
  <div role="columnheader" tabIndex={-1} className={classes.check}>
    <Checkbox
      aria-label={size > 0 ? strings.clearSelection : strings.selectRows}
      checked={size > 0 && !isPartial}
      indeterminate={isPartial}
      onChange={() => (size > 0 ? clear() : void selectAll())}
    />
  </div>
)

export const HeaderRow = <RowData,>(props: HeaderRowProps<RowData>) => (
  <div
    role="row"
    tabIndex={-1}
    aria-rowindex={1}
    className={classes.header}
    style={{ gridTemplateColumns: props.template, minWidth: props.width }}
  >
    {props.selection === undefined ? null : <SelectAll {...props.selection} />}
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
            data-column={column.id}
            className={classes.resize}
            onPointerDown={(event) => startResize(event, column.id, props.onResize)}
          />
        </div>
      )
    })}
  </div>
)
