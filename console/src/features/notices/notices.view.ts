import { noticeEntities, noticeKinds, severityNames } from '@portcullis/contract'
import type { ViewSpec, ViewState } from '../../lib/view-state.ts'
import type { Filter } from '../../ui/filters/filter.ts'
import { kindWords } from './line.ts'
import { strings } from './strings.ts'

/** Filters of risk notices, by the interface's names. */
export const riskFilters = [
  {
    name: 'kind',
    label: strings.about,
    kind: 'choice',
    options: noticeKinds.map((value) => ({ value, label: kindWords[value] })),
  },
  {
    name: 'severityString',
    label: strings.severity,
    kind: 'choice',
    options: severityNames.map((value) => ({ value, label: value })),
  },
  { name: 'isRead', label: strings.read, kind: 'yesNo' },
  { name: 'isPinned', label: strings.pinned, kind: 'yesNo' },
  { name: 'isDismissed', label: strings.dismissed2, kind: 'yesNo' },
  {
    name: 'entityType',
    label: strings.concerns,
    kind: 'choice',
    options: noticeEntities.map((value) => ({
      value,
      label: { Agent: 'A host', Model: 'A model', Many: strings.manyAtOnce, Account: strings.accountOrApiToken }[value],
    })),
  },
  { name: 'description', label: strings.whatHappened, kind: 'text' },
  { name: 'entityId', label: strings.idOfHostOrModel, kind: 'text' },
  { name: 'fromDate', label: strings.from, kind: 'instant' },
  { name: 'toDate', label: strings.until, kind: 'instant' },
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
