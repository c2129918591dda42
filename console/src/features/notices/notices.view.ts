import { noticeEntities, noticeKinds, severityNames } from '@portcullis/contract'
import type { ViewSpec, ViewState } from '../../lib/view-state.ts'
import type { Filter } from '../../ui/filters/filter.ts'
import { kindLabels } from './line.ts'
import { strings } from './strings.ts'

/** Filters of risk alerts, by the names of the API. */
export const riskFilters = [
  {
    name: 'kind',
    label: strings.kind,
    kind: 'choice',
    options: noticeKinds.map((value) => ({ value, label: kindLabels[value] })),
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
    options: noticeEntities.map((value) => ({
      value,
      label: { Agent: strings.aHost, Model: strings.aModel, Many: strings.many, Account: strings.accountOrToken }[
        value
      ],
    })),
  },
  { name: 'description', label: strings.description, kind: 'text' },
  { name: 'entityId', label: strings.entityId, kind: 'text' },
  { name: 'fromDate', label: strings.from, kind: 'instant' },
  { name: 'toDate', label: strings.to, kind: 'instant' },
] as const satisfies readonly Filter[]

export const noticesView: ViewSpec = {
  filters: riskFilters.map(({ name }) => name),
  defaultSort: '',
  defaultColumns: [],
}

/** Returns the query of the list of risk alerts. The search looks in titles, which contain host and device. */
export const riskQueryOf = ({ filters, search }: Pick<ViewState, 'filters' | 'search'>): Record<string, string> => ({
  ...filters,
  ...(search === '' ? {} : { title: search }),
})
