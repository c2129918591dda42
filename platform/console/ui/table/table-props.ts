import type { ReactNode } from 'react'
import type { LiveTopic } from '../../lib/live.ts'
import type { View } from '../useView.ts'
import type { Column, RowSource } from './column.ts'
import type { Selection } from './useSelection.ts'

/** The rows of a table, and what happens to them. */
export interface DataTableProps<RowData> {
  /** Name of the rows, for screen readers. */
  label: string
  columns: readonly Column<RowData>[]
  source: RowSource<RowData>
  view: View
  /** Live topics that reload the rows on the screen. */
  topics: readonly LiveTopic[]
  /** Address of a row's full page. */
  hrefOf: (row: RowData) => string
  /** Opens the full page instead of a drawer. */
  opensPage?: boolean
  selection?: Selection<RowData>
  /** Shown if the list has no rows. */
  empty: ReactNode
  /** Shown if no rows match the filters: where else to look. */
  noMatch?: ReactNode
  /** Receives the exact counts: all rows, and rows that match the filters. */
  onCounts?: (counts: { total: number; filtered: number }) => void
}
