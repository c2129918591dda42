import {
  type Connection,
  type ConnectionStatus,
  type connectionFilters,
  type connectionStatusFilters,
  exportAgentlessCsv,
  exportAgentlessPdf,
  exportCsvConnections,
} from '@portcullis/contract'
import type { ExportedList } from '../../ui/ExportMenu.tsx'
import { strings } from './strings.ts'

type Query = Readonly<Record<string, string>>

/** Filters and orders that runs and computers have in common. */
const commonFilters: readonly (keyof typeof connectionFilters & keyof typeof connectionStatusFilters)[] = [
  'ComputerName',
  'IsOverrideDefaults',
]
const commonOrders: readonly (keyof Connection & keyof ConnectionStatus)[] = [
  'computerName',
  'platform',
  'isOverrideDefaults',
]

/** What of the query of the runs is a question about computers, too. A search looks at other texts in each. */
const computersQuery = (query: Query): { query: Query; isWhole: boolean } => {
  const { SortBy, ...filters } = query
  const known = Object.entries(filters).filter(([name]) => commonFilters.some((one) => one === name))
  const isSorted = SortBy !== undefined && commonOrders.some((order) => SortBy.startsWith(`${order}_`))
  return {
    query: { ...Object.fromEntries(known), ...(isSorted ? { SortBy } : {}) },
    isWhole: known.length === Object.keys(filters).length,
  }
}

/** The files that the page of polled computers gives: its rows as shown, and the computers behind them. */
export const exportedLists = (query: Query, columns: readonly string[], rows: number | null): ExportedList[] => {
  const computers = computersQuery(query)
  const count = rows === null ? '' : strings.rowsAsShown({ rows })
  return [
    {
      label: strings.lastRunsCount({ count }),
      name: 'runs',
      report: 'connectionRuns',
      query,
      columns,
      rows,
      files: [{ title: strings.runsAsCsv, ending: 'csv', operation: exportCsvConnections }],
    },
    {
      label: computers.isWhole ? strings.computersCount({ count }) : strings.computersHoweverTheirLastRunWent,
      name: 'computers',
      report: 'connections',
      query: computers.query,
      rows: computers.isWhole ? rows : null,
      files: [
        { title: strings.computersAsCsv, ending: 'csv', operation: exportAgentlessCsv },
        { title: strings.computersAsPdf, ending: 'pdf', operation: exportAgentlessPdf },
      ],
    },
  ]
}
