import { strings } from './strings.ts'
/** A filter of a list, as data: its name in the interface and in the address, and how a person sets it. */
export type Filter =
  | { name: string; label: string; kind: 'choice'; options: readonly Option[]; single?: boolean }
  | { name: string; label: string; kind: 'yesNo' }
  | { name: string; label: string; kind: 'text' }
  | { name: string; label: string; kind: 'tags' }
  /** An instant; `to` chooses the wording. */
  | { name: string; label: string; kind: 'instant' }
  /** `from..to` in one value. */
  | { name: string; label: string; kind: 'period' }

export interface Option {
  value: string
  label: string
}

/** The choice that the value means, whatever its case. */
const labelOf = (options: readonly Option[], value: string): string =>
  options.find((option) => option.value.toLowerCase() === value.trim().toLowerCase())?.label ?? value

/** An instant of an address to the minute; anything else as it is written. */
const instantText = (value: string): string =>
  value.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?Z$/, '$1 $2 UTC')

/** The value of a filter in words, for its chip. */
export const filterText = (filter: Filter, value: string): string => {
  switch (filter.kind) {
    case 'choice':
      return value
        .split(',')
        .map((part) => labelOf(filter.options, part))
        .join(' or ')
    case 'yesNo':
      return value.toLowerCase() === 'true' ? 'yes' : 'no'
    case 'tags':
      return value.split(',').join(' or ')
    case 'text':
      return `“${value}”`
    case 'instant':
      return instantText(value)
    case 'period': {
      const [from = '', to = ''] = value.split('..')
      if (!value.includes('..')) return instantText(value)
      if (to === '') return strings.sinceFrom({ from: instantText(from) })
      return from === ''
        ? strings.untilTo({ to: instantText(to) })
        : strings.fromToTo({ from: instantText(from), to: instantText(to) })
    }
  }
}

/** Adds or removes one value of a comma list. Null when none is left. */
export const toggled = (list: string | undefined, value: string): string | null => {
  const values = (list ?? '').split(',').filter((one) => one !== '')
  const next = values.includes(value) ? values.filter((one) => one !== value) : [...values, value]
  return next.length === 0 ? null : next.join(',')
}

/** The UTC instant, to the minute, of what a local date field holds; null when it holds none. */
export const instantOfField = (field: string): string | null => {
  const at = new Date(field)
  return Number.isNaN(at.getTime()) ? null : at.toISOString().replace(/:\d\d\.\d{3}Z$/, 'Z')
}

/** What a local date field shows for an instant of an address. */
export const fieldOfInstant = (value: string): string => {
  const at = new Date(value.length === 17 ? value.replace('Z', ':00Z') : value)
  if (Number.isNaN(at.getTime())) return ''
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000)
  return local.toISOString().slice(0, 16)
}
