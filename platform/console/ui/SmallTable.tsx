import { VisuallyHidden } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import base from './BaseTable.module.css'
import { Text } from './layout/layout.tsx'
import classes from './SmallTable.module.css'
import { strings } from './strings.ts'
import { isOpening } from './table/opening.ts'

type Head = string | { title: string; align: 'right' }
/** Returns the header of a right-aligned column. */
export const right = (title: string) => ({ title, align: 'right' }) as const
const titleOf = (cell: Head): string => (typeof cell === 'string' ? cell : cell.title)

export interface SmallRow {
  key: string
  cells: readonly ReactNode[]
  quiet?: boolean
  /** Where a click on the row leads: the address of the link in its first cell. */
  href?: string | undefined
}

export interface SmallTableProps {
  label: string
  /** A column without a title holds the actions of its row. */
  head: readonly Head[]
  /** Rows of cells, each with its key. Undefined while loading. */
  rows: readonly SmallRow[] | undefined
  empty: ReactNode
}

const skeletonRows = [0, 1, 2]

/** A table for few rows. Long lists use DataTable. */
export const SmallTable = ({ label, head, rows, empty }: SmallTableProps) => {
  const router = useRouter()
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table scrolls by keyboard only with the focus in it
    <div className={base.frame} tabIndex={0}>
      <table className={`${base.table} ${classes.table}`} aria-label={label} aria-busy={rows === undefined}>
        <thead>
          <tr>
            {head.map((cell) => (
              <th key={titleOf(cell)} scope="col" data-align={typeof cell === 'string' ? undefined : cell.align}>
                {titleOf(cell).trim() || <VisuallyHidden>{strings.actions}</VisuallyHidden>}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows === undefined
            ? skeletonRows.map((row) => (
                <tr key={row}>
                  {head.map((cell) => (
                    <td key={titleOf(cell)}>
                      <span className={base.skeleton} />
                    </td>
                  ))}
                </tr>
              ))
            : rows.map(({ key, cells, quiet, href }) => (
                // The link in the first cell does the same by keyboard.
                <tr
                  key={key}
                  data-quiet={quiet || undefined}
                  data-opens={href === undefined ? undefined : true}
                  onClick={(event) => {
                    if (href !== undefined && isOpening(event)) router.history.push(href)
                  }}
                >
                  {cells.map((cell, index) => {
                    const column = head[index] ?? ''
                    const title = titleOf(column)
                    return (
                      <td
                        key={title}
                        data-title={title}
                        data-align={typeof column === 'string' ? undefined : column.align}
                      >
                        {cell}
                      </td>
                    )
                  })}
                </tr>
              ))}
        </tbody>
      </table>
      {rows?.length === 0 ? (
        <Text as="div" pad={24} quiet style={{ textAlign: 'center' }}>
          {empty}
        </Text>
      ) : null}
    </div>
  )
}
