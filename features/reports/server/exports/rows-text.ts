import { bodyFilters, columnsOf, filtersOf, filterText } from '#features/contract.ts'
import { utcText } from './cell-text.ts'
import type { ExportRequest } from './export-request.ts'

/** Returns when and for whom a file was made. The printer adds the number of rows. */
export const madeText = (at: number, by: string): string => `Created ${utcText(new Date(at))} for ${by}`

/** Describes filters and sort in words, for people who read a file long after its request. */
export const rowsText = ({ list: { definition }, given, sortBy }: ExportRequest): string => {
  const columns = columnsOf(definition.row)
  const filters = filtersOf({ row: definition.row, filters: bodyFilters(definition) })
  const known = new Map(filters.map((filter) => [filter.name.toLowerCase(), filter]))
  /** Returns the label of a sort key: a column, or a filter that has another name. */
  function labelOf(name: string): string {
    const key = Object.keys(columns).find((one) => one.toLowerCase() === name.toLowerCase())
    return (key === undefined ? undefined : columns[key]?.label) ?? known.get(name.toLowerCase())?.label ?? name
  }
  const conditions = given.map(({ name, value }) => {
    // A filter that defines the list is not among those that can be chosen.
    const filter = known.get(name.toLowerCase()) ?? { kind: 'boolean', label: labelOf(name), values: [], labels: {} }
    return filterText(filter, value)
  })
  const text = conditions.length === 0 ? 'All rows' : `Rows where ${conditions.join(', and ')}`
  if (sortBy === null || sortBy === '') return text
  const terms = sortBy.split(',').map((term) => {
    const name = term.trim().replace(/^[-+]|_(?:asc|desc)$/gi, '')
    return `${labelOf(name)}${/^-|_desc$/i.test(term.trim()) ? ', descending' : ''}`
  })
  return `${text}; sorted by ${terms.join(', then ')}`
}
