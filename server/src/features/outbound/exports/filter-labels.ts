import type { ExportRequest } from './export-request.ts'
import { cellText, gradeText, headingOf } from './pdf-labels.ts'

/** Formats an instant for people. */
export const utcText = (at: Date): string => `${cellText('time', at.toISOString())} UTC`

/** Returns the last line of a cover, in which the printer replaces `{rows}` by their number. */
export const madeLine = (at: number, by: string): string =>
  `Created ${utcText(new Date(at))} for ${by}: {rows}. All times are UTC`

const listOf = (text: string, label: (part: string) => string = (part) => part): string =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .map(label)
    .join(' or ')

const filterValue = (name: string, kind: string, value: string, label: (part: string) => string): string => {
  switch (kind) {
    case 'enum':
      return `${name} is ${listOf(value)}`
    case 'boolean':
      return `${name} is ${cellText('truth', value.toLowerCase())}`
    case 'number':
      return /^[<>]=/.test(value)
        ? `${name} ${value.replace(/^>=\s*/, '≥ ').replace(/^<=\s*/, '≤ ')}`
        : `${name} is ${listOf(value, label)}`
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
  /** Returns the column heading for a name; a filter may have another name than its column. */
  function nameOf(name: string): string {
    const folded = name.toLowerCase()
    const column = list.columns.find(
      ({ key }) =>
        key.toLowerCase() === folded ||
        (list.spec.columns[key]?.names ?? []).some((one) => one.toLowerCase() === folded),
    )
    return column?.heading ?? headingOf(name, true)
  }
  const isGrade = (name: string): boolean =>
    list.columns.some(({ key, form }) => form === 'grade' && key.toLowerCase() === name.toLowerCase())
  const filters = given
    .filter(({ name }) => name !== 'sortBy')
    .map(({ name, value }) =>
      name.toLowerCase() === 'globalsearch'
        ? `any text contains “${value}”`
        : filterValue(
            nameOf(name),
            list.filterKinds.get(name.toLowerCase()) ?? 'text',
            value,
            isGrade(name) ? gradeText : (part) => part,
          ),
    )
  const sort = given.find(({ name }) => name === 'sortBy')?.value
  const text = filters.length === 0 ? 'All rows' : `Rows where ${filters.join(', and ')}`
  if (sort === undefined) return text
  const terms = sort.split(',').map((term) => {
    const { name, isDescending } = sortTerm(term)
    return `${nameOf(name)}${isDescending ? ', descending' : ''}`
  })
  return `${text}; sorted by ${terms.join(', then ')}`
}
