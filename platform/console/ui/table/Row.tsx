// biome-ignore-all lint/a11y/useSemanticElements: virtual rows over any total cannot be a table element
import { memo, type ReactNode } from 'react'
import { PlainLink } from '../PlainLink.tsx'
import type { Column } from './column.ts'
import classes from './DataTable.module.css'
import { isOpening } from './opening.ts'
import { strings } from './strings.ts'

export interface RowProps<RowData> {
  id: string
  index: number
  /** Pixels from the top of the body. */
  top: number
  template: string
  columns: readonly Column<RowData>[]
  /** Undefined while its page loads. */
  row: RowData | undefined
  /** Address of its full page; null while loading. */
  href: string | null
  isOpen: boolean
  isCursor: boolean
  /** Its values changed recently. */
  isMarked: boolean
  /** Undefined if rows cannot be selected. */
  isSelected: boolean | undefined
  onOpen: (index: number) => void
  onToggle: (index: number, range: boolean) => void
}

const skeletonWidth = (index: number, column: string) => `${40 + ((index * 7 + column.length * 13) % 45)}%`

/** The content of the first cell: a link to the page of the row, or to its panel if it has no page. */
const FirstCell = ({ href, open, children }: { href: string; open: () => void; children: ReactNode }) => (
  <PlainLink
    href={href}
    className={classes.first}
    // An address of this list opens the panel: going there would lose the filters.
    open={href.split('?')[0] === window.location.pathname ? open : undefined}
  >
    {children}
  </PlainLink>
)

const PlainRow = <RowData,>(props: RowProps<RowData>) => {
  const { row, index, isSelected } = props
  const cardTitle = props.columns.find(({ isTitle }) => isTitle) ?? props.columns[0]
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the grid handles the keys of all its rows
    <div
      role="row"
      tabIndex={-1}
      id={props.id}
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      className={classes.row}
      data-open={props.isOpen || undefined}
      data-cursor={props.isCursor || undefined}
      data-marked={props.isMarked || undefined}
      data-selected={isSelected || undefined}
      style={{ transform: `translateY(${props.top}px)`, gridTemplateColumns: props.template }}
      onClick={(event) => {
        if (isOpening(event)) props.onOpen(index)
      }}
      onAuxClick={(event) => {
        if (event.button === 1 && props.href !== null) window.open(props.href, '_blank', 'noopener')
      }}
    >
      {isSelected === undefined ? null : (
        <div role="gridcell" tabIndex={-1} className={classes.check}>
          <input
            type="checkbox"
            aria-label={strings.selectRow}
            tabIndex={-1}
            className={classes.checkbox}
            checked={isSelected}
            disabled={row === undefined}
            onChange={(event) => props.onToggle(index, (event.nativeEvent as globalThis.MouseEvent).shiftKey === true)}
          />
        </div>
      )}
      {props.columns.map((column, at) => (
        <div
          key={column.id}
          role="gridcell"
          tabIndex={-1}
          className={classes.cell}
          data-align={column.align}
          data-title={column.title}
          data-is-title={column === cardTitle || undefined}
        >
          {row === undefined ? (
            <span className={classes.skeleton} style={{ width: skeletonWidth(index, column.id) }} />
          ) : at === 0 && column.hasLink !== true && props.href !== null ? (
            <FirstCell href={props.href} open={() => props.onOpen(index)}>
              {column.cell(row)}
            </FirstCell>
          ) : (
            column.cell(row)
          )}
        </div>
      ))}
    </div>
  )
}

/** One row with its cells or their skeleton. Renders again only if its properties change. */
export const Row = memo(PlainRow) as typeof PlainRow
