import { noticeEntities, noticeKinds, severityNames } from '@portcullis/contract'
import type { ViewSpec, ViewState } from '../../lib/view-state.ts'
import type { Filter } from '../../ui/filters/filter.ts'
import { kindWords } from './line.ts'

/** Filters of risk notices, by the interface's names. */
export const riskFilters = [
  {
    name: 'kind',
    label: 'About',
    kind: 'choice',
    options: noticeKinds.map((value) => ({ value, label: kindWords[value] })),
  },
  {
    name: 'severityString',
    label: 'Severity',
    kind: 'choice',
    options: severityNames.map((value) => ({ value, label: value })),
  },
  { name: 'isRead', label: 'Read', kind: 'yesNo' },
  { name: 'isPinned', label: 'Pinned', kind: 'yesNo' },
  { name: 'isDismissed', label: 'Dismissed', kind: 'yesNo' },
  {
    name: 'entityType',
    label: 'Concerns',
    kind: 'choice',
    options: noticeEntities.map((value) => ({
      value,
      label: { Agent: 'A host', Model: 'A model', Many: 'Many at once', Account: 'Account or API token' }[value],
    })),
  },
  { name: 'description', label: 'What happened', kind: 'text' },
  { name: 'entityId', label: 'Id of host or model', kind: 'text' },
  { name: 'fromDate', label: 'From', kind: 'instant' },
  { name: 'toDate', label: 'Until', kind: 'instant' },
] as const satisfies readonly Filter[]

export const noticesView: ViewSpec = {
  filters: riskFilters.map(({ name }) => name),
  defaultSort: '',
  defaultColumns: [],
}

/** The query of the list of risk notices; the search is in titles, which name host and device. */
export const riskQueryOf = ({ filters, search }: Pick<ViewState, 'filters' | 'search'>): Record<string, string> => ({
  ...filters,
  ...(search === '' ? {} : { title: search }),
})
