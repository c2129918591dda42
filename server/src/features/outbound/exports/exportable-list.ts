import type { TObject, TSchema } from 'typebox'
import type { ListSpec, RowPlan } from '#platform/list/compile.ts'
import { type CellForm, headingOf } from './pdf-labels.ts'

/** What a cell of a column can hold. Only text that somebody outside chose can pass for a formula. */
export type CellKind = 'text' | 'fixed' | 'boolean' | 'number'

export interface ExportColumn {
  /** Response key; heads the column of a CSV. */
  key: string
  kind: CellKind
  /** Heads the column of a PDF. */
  heading: string
  /** How a PDF writes its cells. */
  form: CellForm
}

/** A list that can be taken away as a file. */
export interface ExportableList {
  spec: ListSpec
  plan: RowPlan
  /** Heading of a PDF. */
  title: string
  columns: readonly ExportColumn[]
  /** Keys of the columns of a PDF when none are chosen, which then is A4; absent: all columns, on paper wide enough. */
  printed?: readonly string[]
  /** Kind of each filter (`x-filter`) by its folded name, for the words on the cover. */
  filterKinds: ReadonlyMap<string, string>
  /** Path of the CSV, which has no limit of rows; absent: only reports are made of this list. */
  csvPath?: string
  /** Expression over `spec.from` of the time that a range is about; absent: rows have none. */
  time?: string
  /** Filters that make the list what it is. */
  fixed?: Readonly<Record<string, string>>
}

/** Text of a closed form: an enumeration, a pattern, a time. */
const isFixed = (schema: TSchema): boolean => 'enum' in schema || 'pattern' in schema || 'examples' in schema

const kindOf = (schema: TSchema & { type?: string }): CellKind => {
  if (schema.type === 'boolean') return 'boolean'
  if (schema.type === 'integer' || schema.type === 'number') return 'number'
  return isFixed(schema) ? 'fixed' : 'text'
}

const isTime = (schema: TSchema & { anyOf?: TSchema[]; format?: string; examples?: unknown[] }): boolean =>
  schema.format === 'date-time' ||
  /^\d{4}-\d\d-\d\dT/.test(String(schema.examples?.[0])) ||
  (schema.anyOf ?? []).some(isTime)

const formOf = (key: string, schema: TSchema, isGraded: boolean): CellForm => {
  if (key === 'severity') return isGraded ? 'grade' : 'plain'
  if (key === 'share') return 'share'
  if (kindOf(schema) === 'boolean') return 'truth'
  return isTime(schema) ? 'time' : 'plain'
}

/** Columns of a row shape. */
export const columnsOf = (row: TObject): ExportColumn[] => {
  // Where a severity has a name beside it, it is that of syslog.
  const isGraded = !('severityString' in row.properties)
  return Object.entries(row.properties).map(([key, given]) => {
    const schema = given as TSchema
    return { key, kind: kindOf(schema), heading: headingOf(key, isGraded), form: formOf(key, schema, isGraded) }
  })
}

/** Columns as a PDF is printed with them. */
export const printedColumns = (columns: readonly ExportColumn[]) =>
  columns.map(({ heading, kind, form }) => ({ heading, isNumber: kind === 'number' && form !== 'grade', form }))

/** A list with the columns of its row shape. */
export const exportableList = ({
  row,
  filters,
  ...list
}: Omit<ExportableList, 'columns' | 'filterKinds'> & {
  row: TObject
  filters: Readonly<Record<string, TSchema & { 'x-filter'?: string }>>
}): ExportableList => ({
  ...list,
  columns: columnsOf(row),
  filterKinds: new Map(
    Object.entries(filters).map(([name, schema]) => [name.toLowerCase(), schema['x-filter'] ?? 'text']),
  ),
})
