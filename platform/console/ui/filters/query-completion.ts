import type { Filter } from './filter.ts'

type Completed = Pick<Filter, 'name' | 'label' | 'kind' | 'values' | 'labels'>

/** A completion: the completed text, the part that it adds, and its explanation. */
export interface Completion {
  text: string
  added: string
  label: string
}

const mostShown = 12
const isIn = (text: string, part: string): boolean => text.toLowerCase().includes(part.toLowerCase())
const quotedIfNeeded = (value: string): string =>
  /[\s()"]/.test(value) ? `"${value.replace(/["\\]/g, '\\$&')}"` : value

const valuesOf = ({ kind, values, labels }: Completed): [value: string, label: string][] =>
  (kind === 'boolean' ? ['true', 'false'] : [...values]).map((value) => [value, labels[value] ?? ''])

/** Returns completions of the last term of a query: filter names, and the values of filters that have a fixed set. */
export const completionsOf = (text: string, filters: readonly Completed[]): Completion[] => {
  const [, name, list = '', part = ''] =
    /(?:^|[\s(])(?:([A-Za-z]\w*):)?((?:[^\s()",:]+,)*)([^\s()",:]*)$/.exec(text) ?? []
  const before = text.slice(0, text.length - part.length)
  const filter = filters.find((one) => one.name.toLowerCase() === name?.toLowerCase())
  if (filter !== undefined)
    return valuesOf(filter)
      .filter(([value, label]) => value !== part && (isIn(value, part) || isIn(label, part)))
      .map(([value, label]) => ({ added: list === '' ? quotedIfNeeded(value) : value, label }))
      .map(({ added, label }) => ({ text: before + added, added, label: label === added ? '' : label }))
      .slice(0, mostShown)
  if (name !== undefined || list !== '' || part === '' || /^(and|or|not)$/i.test(part)) return []
  return filters
    .filter((one) => isIn(one.name, part) || isIn(one.label, part))
    .map((one) => ({ text: `${before}${one.name}:`, added: `${one.name}:`, label: one.label }))
    .slice(0, mostShown)
}

/** Returns an example of a valid query for the list. */
export const exampleOf = (filters: readonly Completed[]): string => {
  const filter = filters.find(({ kind, values }) => kind === 'enum' && values.length > 0)
  const term = filter === undefined ? 'word' : `${filter.name}:${quotedIfNeeded(filter.values[0] ?? '')}`
  return `${term} AND NOT ("two words" OR word)`
}
