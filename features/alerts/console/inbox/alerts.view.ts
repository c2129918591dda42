import { withTimes } from '@portcullis/platform/console/lib/range.ts'
import type { ViewState } from '@portcullis/platform/console/lib/view-state.ts'
import { listTable } from '@portcullis/platform/console/ui/list/list-table.tsx'
import { alertList } from '#features/contract.ts'
import { strings } from './strings.ts'

export const alertsTable = listTable(alertList)

/** Orders that the list offers. Severity 0 is the most severe. */
export const riskOrders = [
  { value: 'severity_asc', label: strings.bySeverity },
  { value: 'lastTime_desc', label: strings.byTime },
  { value: 'hostsCount_desc', label: strings.byHosts },
] as const

/** Returns the order in an address, or the default for an unknown one. */
export const riskOrderOf = (sort: string): (typeof riskOrders)[number]['value'] =>
  riskOrders.find(({ value }) => value.toLowerCase() === sort.toLowerCase())?.value ?? 'severity_asc'

/** Returns the query of the list of risk alerts. The search looks in titles, descriptions and names of hosts. */
export const riskQueryOf = (
  { filters, search }: Pick<ViewState, 'filters' | 'search'>,
  now: number,
): Record<string, string> => ({
  ...withTimes(filters, alertsTable.view, now),
  ...(search === '' ? {} : { search }),
})
