import type { Search } from '@portcullis/platform/console/lib/view-state.ts'
import {
  type ExportForm,
  type ReportListName,
  type ReportSchedule,
  type ReportScheduleInput,
  reportListNames,
  reportTraits,
} from '#features/contract.ts'

/** A schedule in the form: every member has a value, filters are texts. */
export type Draft = Required<Omit<ReportScheduleInput, 'filter' | 'columns' | 'sortBy' | 'form'>> & {
  form: ExportForm
  filter: Readonly<Record<string, string>>
  columns: readonly string[]
  sortBy: string
}

const isList = (name: string | undefined): name is ReportListName => reportListNames.includes(name as ReportListName)

/** Changes the list and drops filters and columns that the new list does not have. */
export const withList = (draft: Draft, list: ReportListName): Draft => {
  const { filters, columns, time } = reportTraits[list]
  return {
    ...draft,
    list,
    filter: Object.fromEntries(
      Object.entries(draft.filter).filter(([name]) => filters.some((filter) => filter.name === name)),
    ),
    columns: draft.columns.filter((name) => columns.some(({ key }) => key === name)),
    sortBy: '',
    range: time === '' ? 'all' : draft.range,
  }
}

/** Returns a new schedule with the values of the URL. */
export const draftOf = (search: Search, timeZone: string): Draft => {
  const list = isList(search.list) ? search.list : 'agents'
  const filter = Object.entries(search).flatMap(([name, value]) =>
    name.startsWith('filter.') && value !== undefined ? [[name.slice('filter.'.length), value] as const] : [],
  )
  const known = reportTraits[list].columns.map(({ key }) => key)
  return {
    name: '',
    list,
    filter: Object.fromEntries(filter),
    columns: (search.columns ?? '').split(',').filter((name) => known.includes(name)),
    sortBy: search.sortBy ?? '',
    format: 'csv',
    form: 'readable',
    cadence: { every: 'week', weekday: 1, time: '06:00', timeZone },
    range: 'all',
    recipients: [],
    folder: null,
    keepFiles: 30,
    isEnabled: true,
  }
}

/** Returns a stored schedule for the form. */
export const draftOfStored = ({ filter, columns, sortBy, ...stored }: ReportSchedule): Draft => ({
  name: stored.name,
  list: stored.list,
  filter: Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, String(value ?? '')])),
  columns: columns ?? [],
  sortBy: sortBy ?? '',
  format: stored.format,
  form: stored.form,
  cadence: stored.cadence,
  range: stored.range,
  recipients: stored.recipients,
  folder: stored.folder,
  keepFiles: stored.keepFiles,
  isEnabled: stored.isEnabled,
})

/** Returns the request body of a draft. */
export const inputOf = (draft: Draft): ReportScheduleInput => ({
  ...draft,
  name: draft.name.trim(),
  // Pasted lists contain separators.
  recipients: draft.recipients.flatMap((text) => text.split(/[,;\s]+/)).filter((text) => text !== ''),
  filter: { ...draft.filter },
  columns: draft.columns.length === 0 ? null : [...draft.columns],
  sortBy: draft.sortBy === '' ? null : draft.sortBy,
  folder: draft.folder === null || draft.folder.trim() === '' ? null : draft.folder.trim(),
})

/** Returns the part of a draft that the preview depends on. */
export const contentOf = (draft: Draft) => {
  const { list, filter, sortBy, columns, format, cadence, range } = inputOf(draft)
  return { list, filter: filter ?? {}, sortBy: sortBy ?? null, columns: columns ?? null, format, cadence, range }
}
