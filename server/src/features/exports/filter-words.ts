import type { ExportRequest } from './export-request.ts'

const listOf = (text: string): string =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
    .join(' or ')

const wordsOf = (name: string, kind: string, value: string): string => {
  if (name.toLowerCase() === 'globalsearch') return `any text contains “${value}”`
  switch (kind) {
    case 'enum':
      return `${name} is ${listOf(value)}`
    case 'boolean':
      return `${name} is ${value.toLowerCase()}`
    case 'number':
      return /^[<>]=/.test(value)
        ? `${name} ${value.replace(/^>=\s*/, '≥ ').replace(/^<=\s*/, '≤ ')}`
        : `${name} is ${listOf(value)}`
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

/** Filters and sort in words, for people who hold a file long after it was asked for. */
export const filterWords = ({ list, given }: ExportRequest): string => {
  const filters = given
    .filter(({ name }) => name !== 'sortBy')
    .map(({ name, value }) => wordsOf(name, list.filterKinds.get(name.toLowerCase()) ?? 'text', value))
  const sort = given.find(({ name }) => name === 'sortBy')?.value
  const words = filters.length === 0 ? 'All rows' : `Rows where ${filters.join(', and ')}`
  return sort === undefined ? words : `${words}; sorted by ${sort}`
}
