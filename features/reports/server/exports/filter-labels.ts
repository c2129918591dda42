import { type ColumnLabel, columnName, icons } from '@portcullis/contract'
import { printedText, utcText } from './cell-text.ts'
import type { ExportRequest } from './export-request.ts'

/** Returns when and for whom a file was made. The printer adds the number of rows. */
export const madeText = (at: number, by: string): string => `Created ${utcText(new Date(at))} for ${by}`

type Labels = ColumnLabel['labels']

const listOf = (text: string, label: (part: string) => string = (part) => part): string =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(label)
    .join(' or ')

const truth = { form: 'truth', labels: {} } as const

const numberText = (name: string, value: string, labels: Labels): string => {
  const [, sign, number = ''] = /^([<>])=\s*(.*)$/.exec(value) ?? []
  if (sign === undefined) return `${name} is ${listOf(value, (part) => labels[part] ?? part)}`
  const label = labels[number]
  if (label !== undefined) return `${name} is ${label} or ${sign === '>' ? 'higher' : 'lower'}`
  return `${name} ${sign === '>' ? '≥' : '≤'} ${number}`
}

/** Returns the label of a value of a filter, which ignores case, or the value as the list writes it. */
const labelOf = (values: readonly string[], labels: Labels, given: string): string => {
  const value = values.find((known) => known.toLowerCase() === given.toLowerCase()) ?? given
  return labels[value] ?? value
}

interface GivenFilter {
  name: string
  kind: string
  value: string
  /** Values that the filter takes, if it takes some only. */
  values: readonly string[]
  labels: Labels
}

const filterValue = ({ name, kind, value, values, labels }: GivenFilter): string => {
  switch (kind) {
    case 'enum':
      return `${name} is ${listOf(value, (part) => labelOf(values, labels, part))}`
    case 'boolean':
      return `${name} is ${printedText(truth, value.toLowerCase())}`
    case 'number':
      return numberText(name, value, labels)
    case 'time': {
      const [from, to] = value.split('..')
      if (to === undefined) return `${name} is ${value}`
      return [name, from === '' ? '' : `from ${from}`, to === '' ? '' : `to ${to}`]
        .filter((part) => part !== '')
        .join(' ')
    }
    case 'tags':
      return `${name} has ${listOf(value)}`
    default:
      return `${name} contains “${value}”`
  }
}

/** Parses a term of a sort: `-name`, `name_desc` or `name_asc`. */
const sortTerm = (term: string): { name: string; isDescending: boolean } => ({
  name: term.trim().replace(/^[-+]|_(?:asc|desc)$/gi, ''),
  isDescending: /^-|_desc$/i.test(term.trim()),
})

/** Describes filters and sort in words, for people who read a file long after its request. */
export const filterText = ({ list, given }: ExportRequest): string => {
  /** Returns the label of a name; a filter may have another name than its column. */
  function labelOfName(name: string): Pick<ColumnLabel, 'name' | 'labels'> {
    const folded = name.toLowerCase()
    if (folded === 'devicon') return { name: 'Kind', labels: icons }
    const column = list.columns.find(
      ({ key }) =>
        key.toLowerCase() === folded ||
        (list.spec.columns[key]?.names ?? []).some((one) => one.toLowerCase() === folded),
    )
    return column?.label ?? { name: columnName(name), labels: {} }
  }
  const filters = given
    .filter(({ name }) => name !== 'sortBy')
    .map(({ name, value }) => {
      if (name.toLowerCase() === 'globalsearch') return `any text contains “${value}”`
      const label = labelOfName(name)
      return filterValue({
        ...label,
        kind: list.filterKinds.get(name.toLowerCase()) ?? 'text',
        value,
        values: list.filterValues.get(name.toLowerCase()) ?? [],
      })
    })
  const sort = given.find(({ name }) => name === 'sortBy')?.value
  const text = filters.length === 0 ? 'All rows' : `Rows where ${filters.join(', and ')}`
  if (sort === undefined) return text
  const terms = sort.split(',').map((term) => {
    const { name, isDescending } = sortTerm(term)
    return `${labelOfName(name).name}${isDescending ? ', descending' : ''}`
  })
  return `${text}; sorted by ${terms.join(', then ')}`
}
