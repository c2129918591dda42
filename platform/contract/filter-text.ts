import type { ListFilter } from './list.ts'

const alternatives = new Intl.ListFormat('en', { type: 'disjunction' })

const anyOf = (value: string, labelOf: (part: string) => string = (part) => part): string =>
  alternatives.format(
    value
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map(labelOf),
  )

/** Formats an instant to the minute; other text stays unchanged. */
const instantText = (value: string): string =>
  value.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?Z$/, '$1 $2 UTC')

const periodText = (value: string, before: string): string => {
  const [from = '', to] = value.split('..')
  if (to === undefined) return instantText(value)
  if (to === '') return `since ${instantText(from)}`
  return from === '' ? `until ${instantText(to)}` : `${before}${instantText(from)} to ${instantText(to)}`
}

const numberText = (value: string, labels: ListFilter['labels']): string => {
  const [, sign, rest = ''] = /^([<>])=(.*)$/s.exec(value) ?? []
  if (sign === undefined) return anyOf(value, (part) => labels[part] ?? part)
  const number = rest.trim()
  const label = labels[number]
  if (label !== undefined) return `${label} or ${sign === '>' ? 'higher' : 'lower'}`
  return `${sign === '>' ? '≥' : '≤'} ${number}`
}

type Described = Pick<ListFilter, 'kind' | 'values' | 'labels'>

/** Describes the value of a filter for people: `Armed or Free`, `since 2031-05-04`. */
export const filterValueText = (
  { kind, values, labels }: Described,
  value: string,
  words = { yes: 'yes', no: 'no', from: 'from ' },
): string => {
  switch (kind) {
    case 'enum':
      return anyOf(value, (part) => {
        const known = values.find((one) => one.toLowerCase() === part.toLowerCase()) ?? part
        return labels[known] ?? known
      })
    case 'boolean':
      return value.toLowerCase() === 'true' ? words.yes : words.no
    case 'number':
      return numberText(value, labels)
    case 'tags':
      return anyOf(value)
    case 'time':
      return periodText(value, words.from)
    case 'instant':
      return instantText(value)
    case 'id':
    case 'query':
      return value
    default:
      return `“${value}”`
  }
}

/** Describes a filter with its value as a condition on rows. */
export const filterText = (filter: Described & { label: string }, value: string): string => {
  const text = filterValueText(filter, value)
  const isPlain =
    ['instant', 'query'].includes(filter.kind) || (filter.kind === 'time' && value.includes('..')) || /^[≤≥]/.test(text)
  if (isPlain) return `${filter.label} ${text}`
  const verb = filter.kind === 'text' ? 'contains' : filter.kind === 'tags' ? 'has' : 'is'
  return `${filter.label} ${verb} ${text}`
}
