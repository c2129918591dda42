import { exportBody } from '@portcullis/platform/console/lib/export-body.ts'
import type { ReportListName } from '#features/contract.ts'

/** The values with which the editor of a new report opens. */
export interface ScheduleStart {
  list: ReportListName
  /** The query of the list: filters, search, sort. */
  query?: Readonly<Record<string, string>>
  /** Keys of the columns in their order; all columns if absent. */
  columns?: readonly string[]
}

/** Names of search parameters of the editor. */
export type ScheduleName = 'list' | 'sortBy' | 'columns' | `filter.${string}`

/** Returns the search parameters of the editor with all its values, so that a copied link opens the same. */
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
