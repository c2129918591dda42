import type { ReactNode } from 'react'
import base from './BaseTable.module.css'
import classes from './SmallTable.module.css'

export interface SmallTableProps {
  label: string
  head: readonly (string | { title: string; align: 'right' })[]
  /** Rows of cells, each with its key. Undefined while loading. */
  rows: readonly { key: string; cells: readonly ReactNode[]; quiet?: boolean }[] | undefined
  empty: ReactNode
}

const skeletonRows = [0, 1, 2]

/** A table for few rows. Long lists use DataTable. */
export const SmallTable = ({ label, head, rows, empty }: SmallTableProps) => (
  <div className={base.frame}>
    <table className={`${base.table} ${classes.table}`} aria-label={label} aria-busy={rows === undefined}>
      <thead>
        <tr>
          {head.map((cell) => (
            <th
              key={typeof cell === 'string' ? cell : cell.title}
              scope="col"
              data-align={typeof cell === 'string' ? undefined : cell.align}
            >
              {typeof cell === 'string' ? cell : cell.title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows === undefined
          ? skeletonRows.map((row) => (
              <tr key={row}>
                {head.map((cell) => (
                  <td key={typeof cell === 'string' ? cell : cell.title}>
                    <span className={base.skeleton} />
                  </td>
                ))}
              </tr>
            ))
          : rows.map(({ key, cells, quiet }) => (
              <tr key={key} data-quiet={quiet || undefined}>
                {cells.map((cell, index) => {
                  const column = head[index]!
                  const title = typeof column === 'string' ? column : column.title
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
    {rows?.length === 0 ? <div className={base.empty}>{empty}</div> : null}
  </div>
)
