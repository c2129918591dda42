import type { ReportListName } from '@portcullis/contract'
import { exportBody } from './export-body.ts'

/** What the editor of a new report is opened with. */
export interface ScheduleStart {
  list: ReportListName
  /** The query of the list: filters, search, sort. */
  query?: Readonly<Record<string, string>>
  /** Keys of the columns in their order; all when absent. */
  columns?: readonly string[]
}

/** The names in the address of the editor. */
export type ScheduleName = 'list' | 'sortBy' | 'columns' | `filter.${string}`

/** Search part of the address of the editor: all it begins with, so that a pasted link begins with the same. */
export const scheduleSearch = ({
  list,
  query = {},
  columns,
}: ScheduleStart): Readonly<Partial<Record<ScheduleName, string>>> => {
  const { SortBy, ...filters } = query
  return {
    list,
    ...Object.fromEntries(
      Object.entries(exportBody(filters)).map(([name, value]) => [`filter.${name}`, String(value)]),
    ),
    ...(SortBy === undefined ? {} : { sortBy: SortBy }),
    ...(columns === undefined ? {} : { columns: columns.join(',') }),
  }
}
