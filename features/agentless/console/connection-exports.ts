import {
  type Connection,
  type ConnectionStatus,
  type connectionFilters,
  type connectionStatusFilters,
  exportAgentlessCsv,
  exportAgentlessPdf,
  exportCsvConnections,
} from '#features/contract.ts'
import type { ExportedList } from '#features/reports/console/shared/ExportMenu.tsx'
import { strings } from './strings.ts'

type Query = Readonly<Record<string, string>>

/** Filters and orders that both lists support. */
const commonFilters: readonly (keyof typeof connectionFilters & keyof typeof connectionStatusFilters)[] = [
  'ComputerName',
  'IsOverrideDefaults',
]
const commonOrders: readonly (keyof Connection & keyof ConnectionStatus)[] = [
  'computerName',
  'platform',
  'isOverrideDefaults',
]

/**
 * Returns the part of a query of polls that the list of hosts supports. A search looks at different texts in each list.
 */
const computersQuery = (query: Query): { query: Query; isWhole: boolean } => {
  const { SortBy, ...filters } = query
  const known = Object.entries(filters).filter(([name]) => commonFilters.some((one) => one === name))
  const isSorted = SortBy !== undefined && commonOrders.some((order) => SortBy.startsWith(`${order}_`))
  return {
    query: { ...Object.fromEntries(known), ...(isSorted ? { SortBy } : {}) },
    isWhole: known.length === Object.keys(filters).length,
  }
}

/** Returns the files of the page: the polls as shown, and the hosts behind them. */
export const exportedLists = (query: Query, columns: readonly string[], rows: number | null): ExportedList[] => {
  const computers = computersQuery(query)

  return [
    {
      label: rows === null ? strings.runs : strings.runsShown({ rows }),
      name: 'runs',
      report: 'connectionRuns',
      query,
      columns,
      rows,
      files: [{ title: strings.runsCsv, ending: 'csv', operation: exportCsvConnections }],
    },
    {
      label: !computers.isWhole ? strings.hostsAll : rows === null ? strings.hosts : strings.hostsShown({ rows }),
      name: 'computers',
      report: 'connections',
      query: computers.query,
      rows: computers.isWhole ? rows : null,
      files: [
        { title: strings.hostsCsv, ending: 'csv', operation: exportAgentlessCsv },
        { title: strings.hostsPdf, ending: 'pdf', operation: exportAgentlessPdf },
      ],
    },
  ]
}
