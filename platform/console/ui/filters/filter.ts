import { language } from '../../lib/locale.ts'
import { strings } from './strings.ts'
/** A filter of a list: its name in the API and in the URL, its label, and its kind of editor. */
export type Filter =
  | { name: string; label: string; kind: 'choice'; options: readonly Option[]; single?: boolean }
  | { name: string; label: string; kind: 'yesNo' }
  | { name: string; label: string; kind: 'text' }
  | { name: string; label: string; kind: 'tags' }
  /** An instant. */
  | { name: string; label: string; kind: 'instant' }
  /** `from..to` in one value. */
  | { name: string; label: string; kind: 'period' }

export interface Option {
  value: string
  label: string
  /** Heading above the first option of its group. */
  group?: string
}

/** Joins alternatives: `a or b`. */
const anyOf = (values: readonly string[]): string =>
  new Intl.ListFormat(language, { type: 'disjunction' }).format(values)

/** Returns the label of a value, ignoring case. */
const labelOf = (options: readonly Option[], value: string): string =>
  options.find((option) => option.value.toLowerCase() === value.trim().toLowerCase())?.label ?? value

/** Formats an instant to the minute; other text stays unchanged. */
const instantText = (value: string): string =>
  value.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?Z$/, '$1 $2 UTC')

/** Returns the value of a filter as text for its chip. */
export const filterText = (filter: Filter, value: string): string => {
  switch (filter.kind) {
    case 'choice':
      return anyOf(value.split(',').map((part) => labelOf(filter.options, part)))
    case 'yesNo':
      return value.toLowerCase() === 'true' ? strings.yes : strings.no
    case 'tags':
      return anyOf(value.split(','))
    case 'text':
      return strings.quoted({ text: value })
    case 'instant':
      return instantText(value)
    case 'period': {
      const [from = '', to = ''] = value.split('..')
      if (!value.includes('..')) return instantText(value)
      if (to === '') return strings.since({ from: instantText(from) })
      return from === ''
        ? strings.upTo({ to: instantText(to) })
        : strings.fromTo({ from: instantText(from), to: instantText(to) })
    }
  }
}

/** Adds or removes a value of a comma list; null if the list becomes empty. */
export const toggled = (list: string | undefined, value: string): string | null => {
  const values = (list ?? '').split(',').filter((one) => one !== '')
  const next = values.includes(value) ? values.filter((one) => one !== value) : [...values, value]
  return next.length === 0 ? null : next.join(',')
}

/** Returns the UTC instant of a local date field, to the minute; null if invalid. */
export const instantOfField = (field: string): string | null => {
  const at = new Date(field)
  return Number.isNaN(at.getTime()) ? null : at.toISOString().replace(/:\d\d\.\d{3}Z$/, 'Z')
}

/** Returns the value of a local date field for an instant. */
export const fieldOfInstant = (value: string): string => {
  const at = new Date(value.length === 17 ? value.replace('Z', ':00Z') : value)
  if (Number.isNaN(at.getTime())) return ''
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}
