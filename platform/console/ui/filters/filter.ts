import { filterValueText } from '../../../contract/filter-text.ts'
import type { ListFilter } from '../../../contract/list.ts'
import { endsOf, rangeOf, toMinute } from '../../lib/range.ts'
import { strings } from './strings.ts'

/** A filter of a list, with translated labels. */
export interface Filter extends ListFilter {
  /** Heading above the values of a group, by value. */
  groups?: Readonly<Record<string, string>>
}

/** Properties of the editor of a filter. `change(null)` removes the filter. */
export interface EditorProps {
  filter: Filter
  value: string | undefined
  change: (value: string | null) => void
  close: () => void
}

export const rangeLabels: Readonly<Record<string, string>> = {
  today: strings.today,
  yesterday: strings.yesterday,
  '1h': strings.lastHour,
  '24h': strings.lastHours24,
  '7d': strings.lastDays7,
  '30d': strings.lastDays30,
}

/** Whether the range picker edits a filter. */
const isRange = ({ kind, period }: Filter): boolean => kind === 'time' || period !== undefined

/** Returns the value of a filter in the state of a list. A period is one value from two filters. */
export const setValueOf = ({ name, period }: Filter, set: Readonly<Record<string, string>>): string | undefined =>
  period === undefined ? set[name] : rangeOf(set[name], set[period.until])

/** Returns the change of the state of a list that sets a filter. */
export const changeOf = ({ name, period }: Filter, value: string | null): Record<string, string | null> => {
  if (period === undefined) return { [name]: value }
  const [from, to] = endsOf(value ?? '')
  return { [name]: from === '' ? null : from, [period.until]: to === '' ? null : to }
}

/** Returns the value of a filter as text for its chip. */
export const filterText = (filter: Filter, value: string): string =>
  (isRange(filter) ? rangeLabels[value] : undefined) ??
  filterValueText(filter.period === undefined ? filter : { ...filter, kind: 'time' }, value, {
    yes: strings.yes,
    no: strings.no,
    from: '',
  })
/** Adds or removes a value of a comma list; null if the list becomes empty. */
export const toggled = (list: string | undefined, value: string): string | null => {
  const values = (list ?? '').split(',').filter((one) => one !== '')
  const next = values.includes(value) ? values.filter((one) => one !== value) : [...values, value]
  return next.length === 0 ? null : next.join(',')
}

/** Returns the UTC instant of a local date field, to the minute; null if invalid. */
export const instantOfField = (field: string): string | null => {
  const at = new Date(field)
  return Number.isNaN(at.getTime()) ? null : toMinute(at.getTime())
}

/** Returns the value of a local date field for an instant. */
export const fieldOfInstant = (value: string): string => {
  const at = new Date(value.length === 17 ? value.replace('Z', ':00Z') : value)
  if (Number.isNaN(at.getTime())) return ''
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}
