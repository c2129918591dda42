import { useMemo, useState } from 'react'
import type { Column } from './column.ts'

/** Width of the column of checkboxes, in pixels. */
const checkWidth = 36

/** Returns the shown columns with their widths: as resized, else the default. */
export const useColumnWidths = <Row>(
  columns: readonly Column<Row>[],
  chosen: readonly string[],
  hasSelection: boolean,
) => {
  const [widths, setWidths] = useState<Readonly<Record<string, number>>>({})
  const resized = Object.keys(widths).length > 0
  const shown = useMemo(() => columns.filter(({ id }) => chosen.includes(id)), [columns, chosen])
  const widthOf = (column: Column<Row>) => widths[column.id] ?? column.width
  const template = [
    ...(hasSelection ? [`${checkWidth}px`] : []),
    ...shown.map((column) => {
      const width = widthOf(column)
      return column.grow === true && !resized ? `minmax(${width}px, ${width}fr)` : `${width}px`
    }),
    ...(resized ? ['minmax(0, 1fr)'] : []),
  ].join(' ')
  return {
    shown,
    template,
    width: shown.reduce((sum, column) => sum + widthOf(column), hasSelection ? checkWidth : 0),
    resize: (drawn: Readonly<Record<string, number>>) => setWidths((old) => ({ ...old, ...drawn })),
  }
}
