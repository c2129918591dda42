import { everyColumn } from '@portcullis/contract'
import { invalid } from '@portcullis/platform/server/app-error.ts'
import { unknownName } from '@portcullis/platform/server/http/names.ts'
import { type CompiledList, compileList, type ListSpec } from '@portcullis/platform/server/list/compile.ts'
import type { ExportableList, ExportColumn } from './exportable-list.ts'

/** The body of an export request, as its schema accepts it. */
export type ExportBody = Readonly<Record<string, unknown>> | null

export interface ExportRequest {
  list: ExportableList
  compiled: CompiledList
  columns: readonly ExportColumn[]
  /** Filters and sort as given, for the cover. */
  given: readonly { name: string; value: string }[]
}

/**
 * Returns the requested columns in the requested order; an empty request means all. Errors name the member below
 * `place`.
 */
export const chosenColumns = (
  list: { columns: readonly ExportColumn[]; spec?: Pick<ListSpec, 'columns'> },
  asked: readonly string[],
  place = 'body',
): readonly ExportColumn[] => {
  if (asked.length === 0 || (asked.length === 1 && asked[0] === everyColumn)) return list.columns
  const known = new Map<string, ExportColumn>()
  for (const column of list.columns)
    for (const name of [column.key, ...(list.spec?.columns[column.key]?.names ?? [])])
      known.set(name.toLowerCase(), column)
  const chosen = new Set<ExportColumn>()
  asked.forEach((name, i) => {
    const column = known.get(name.toLowerCase())
    const keys = list.columns.map(({ key }) => key)
    if (column === undefined)
      throw invalid(`${place}.columns[${i}]`, unknownName(name, keys, `${name} is not a column`))
    if (chosen.has(column)) throw invalid(`${place}.columns[${i}]`, `${column.key} is given more than once`)
    chosen.add(column)
  })
  return [...chosen]
}

/** Parses the body of an export. Returns 400 and names the member if it is invalid. */
export const readExportRequest = (list: ExportableList, body: ExportBody, place = 'body'): ExportRequest => {
  const { form: _form, columns, pageNumber: _pageNumber, pageSize: _pageSize, ...query } = body ?? {}
  const given = Object.entries(query)
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value]) => ({ name, value: String(value) }))
  const compiled = compileList(
    list.spec,
    Object.fromEntries(given.map(({ name, value }) => [name === 'sortBy' ? 'SortBy' : name, value])),
    place,
  )
  return {
    list,
    compiled,
    columns: chosenColumns(list, (columns as readonly string[] | null) ?? [], place.replace(/\.filter$/, '')),
    given,
  }
}
