// biome-ignore-all lint/a11y/useSemanticElements: virtual rows over any total can not be a table element
import { Checkbox } from '@mantine/core'
import type { MouseEvent } from 'react'
import type { Column } from './column.ts'
import classes from './DataTable.module.css'
import type { Selection } from './useSelection.ts'

export interface RowProps<RowData> {
  id: string
  index: number
  /** Pixels from the top of the body. */
  top: number
  template: string
  columns: readonly { column: Column<RowData>; width: number }[]
  /** Undefined while its page is on the way. */
  row: RowData | undefined
  /** Address of its full page; null while it is on the way. */
  href: string | null
  isOpen: boolean
  isCursor: boolean
  /** Its values changed a moment ago. */
  isMarked: boolean
  selection: Selection<RowData> | undefined
  onOpen: () => void
}

// A drag that selects text, a click on a link inside, or one meant for another tab is not "open this row".
const isOpening = (event: MouseEvent<HTMLElement>): boolean =>
  event.button === 0 &&
  !(event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) &&
  (event.target as HTMLElement).closest('a, button, input, label, [data-own-click]') === null &&
  (window.getSelection()?.isCollapsed ?? true)

/** One row: cells of the columns shown, or their skeleton. */
export const Row = <RowData,>(props: RowProps<RowData>) => {
  const { row, selection, columns } = props
  const selected = row !== undefined && selection?.has(row) === true
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keys of all its rows
    <div
      role="row"
      tabIndex={-1}
      id={props.id}
      aria-rowindex={props.index + 2}
      aria-selected={selection === undefined ? undefined : selected}
      className={classes.row}
      data-open={props.isOpen || undefined}
      data-cursor={props.isCursor || undefined}
      data-marked={props.isMarked || undefined}
      data-selected={selected || undefined}
      style={{ transform: `translateY(${props.top}px)`, gridTemplateColumns: props.template }}
      onClick={(event) => {
        if (isOpening(event)) props.onOpen()
      }}
      onAuxClick={(event) => {
        if (event.button === 1 && props.href !== null) window.open(props.href, '_blank', 'noopener')
      }}
    >
      {selection === undefined ? null : (
        <div role="gridcell" tabIndex={-1} className={classes.check}>
          <Checkbox
            aria-label="Select this row"
            tabIndex={-1}
            checked={selected}
            disabled={row === undefined}
            onChange={() => undefined}
            onClick={(event) => {
              if (row !== undefined) selection.toggle(row, props.index, event.shiftKey)
            }}
          />
        </div>
      )}
      {columns.map(({ column }) => (
        <div key={column.id} role="gridcell" tabIndex={-1} className={classes.cell} data-align={column.align}>
          {row === undefined ? (
            <span
              className={classes.skeleton}
              style={{ width: `${40 + ((props.index * 7 + column.id.length * 13) % 45)}%` }}
            />
          ) : (
            column.cell(row)
          )}
        </div>
      ))}
    </div>
  )
}
