import { type AlertKind, alertCatalogue, alertEntities, alertKinds, severityNames } from '@portcullis/contract'
import { messages } from '@portcullis/platform/console/lib/messages.ts'
import type { ViewSpec, ViewState } from '@portcullis/platform/console/lib/view-state.ts'
import type { Filter } from '@portcullis/platform/console/ui/filters/filter.ts'
import { strings } from './strings.ts'

const kindLabels = messages(
  Object.fromEntries(alertKinds.map((kind) => [kind, alertCatalogue[kind].title])) as Record<AlertKind, string>,
)

/** Filters of risk alerts, by the names of the API. */
export const riskFilters = [
  {
    name: 'kind',
    label: strings.kind,
    kind: 'choice',
    options: alertKinds.map((value) => ({ value, label: kindLabels[value] })),
  },
  {
    name: 'severityString',
    label: strings.severity,
    kind: 'choice',
    options: severityNames.map((value) => ({ value, label: value })),
  },
  { name: 'isRead', label: strings.read, kind: 'yesNo' },
  { name: 'isPinned', label: strings.pinned, kind: 'yesNo' },
  { name: 'isDismissed', label: strings.isDismissed, kind: 'yesNo' },
  {
    name: 'entityType',
    label: strings.concerns,
    kind: 'choice',
    options: alertEntities.map((value) => ({
      value,
      label: { Agent: strings.aHost, Model: strings.aModel, Many: strings.many, Account: strings.accountOrToken }[
        value
      ],
    })),
  },
  { name: 'host', label: strings.hostName, kind: 'text' },
  { name: 'description', label: strings.description, kind: 'text' },
  { name: 'entityId', label: strings.entityId, kind: 'text' },
  { name: 'fromDate', label: strings.from, kind: 'instant' },
  { name: 'toDate', label: strings.to, kind: 'instant' },
] as const satisfies readonly Filter[]

export const noticesView: ViewSpec = {
  filters: riskFilters.map(({ name }) => name),
  defaultSort: 'severity_asc',
  defaultColumns: [],
}

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
export const riskQueryOf = ({ filters, search }: Pick<ViewState, 'filters' | 'search'>): Record<string, string> => ({
  ...filters,
  ...(search === '' ? {} : { search }),
})
