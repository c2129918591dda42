import { invalid } from '@portcullis/platform/server/app-error.ts'
import { unknownName } from '@portcullis/platform/server/http/names.ts'
import { type CompiledList, compileList, type ListSpec } from '@portcullis/platform/server/list/compile.ts'
import { everyColumn } from '#features/contract.ts'
import { type ExportableList, type ExportColumn, fileColumns } from './exportable-list.ts'

/** The requested rows and columns of a file. */
export interface FileContent {
  filter: Readonly<Record<string, unknown>>
  sortBy: string | null
  columns: readonly string[] | null
}

export interface ExportRequest {
  list: ExportableList
  compiled: CompiledList
  columns: readonly ExportColumn[]
  /** Filters as given, for the cover. */
  given: readonly { name: string; value: string }[]
  sortBy: string | null
}

/** Returns the requested columns in the requested order; an empty request means all. */
export const chosenColumns = (
  known: readonly ExportColumn[],
  asked: FileContent['columns'],
  spec?: Pick<ListSpec, 'columns'>,
): readonly ExportColumn[] => {
  const names = asked ?? []
  if (names.length === 0 || (names.length === 1 && names[0] === everyColumn)) return known
  const byName = new Map([
    ...known.flatMap((column) =>
      (spec?.columns[column.key]?.names ?? []).map((name) => [name.toLowerCase(), column] as const),
    ),
    ...known.map((column) => [column.key.toLowerCase(), column] as const),
  ])
  const chosen = new Set<ExportColumn>()
  names.forEach((name, i) => {
    const column = byName.get(name.toLowerCase())
    if (column === undefined) {
      const keys = known.map(({ key }) => key)
      throw invalid(`body.columns[${i}]`, unknownName(name, keys, `${name} is not a column`))
    }
    if (chosen.has(column)) throw invalid(`body.columns[${i}]`, `${column.key} is given more than once`)
    chosen.add(column)
  })
  return [...chosen]
}

/** Parses the request for a file. Returns 400 and names the member of `place` if a filter is invalid. */
export const readExportRequest = (
  list: ExportableList,
  { filter, sortBy, columns }: FileContent,
  place: 'body' | 'body.filter',
): ExportRequest => {
  const given = Object.entries({ ...filter, ...list.fixed })
    .filter(([, value]) => value !== null && value !== undefined && value !== '')
    .map(([name, value]) => ({ name, value: String(value) }))
  return {
    list,
    compiled: compileList(
      list.spec,
      { ...Object.fromEntries(given.map(({ name, value }) => [name, value])), SortBy: sortBy ?? '' },
      place,
    ),
    columns: chosenColumns(fileColumns(list.definition), columns, list.spec),
    given,
    sortBy,
  }
}
