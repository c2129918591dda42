import type { TObject, TSchema } from 'typebox'
import type { ListSpec, RowPlan } from '#platform/list/compile.ts'
import { type CellForm, headingOf } from './pdf-labels.ts'

/** What a column can hold. Only text that outsiders choose can look like a formula. */
export type CellKind = 'text' | 'fixed' | 'boolean' | 'number'

export interface ExportColumn {
  /** Response key and heading in a CSV. */
  key: string
  kind: CellKind
  /** Heading in a PDF. */
  heading: string
  /** Cell format in a PDF. */
  form: CellForm
}

/** A list that can be exported as a file. */
export interface ExportableList {
  spec: ListSpec
  plan: RowPlan
  /** Heading of a PDF. */
  title: string
  columns: readonly ExportColumn[]
  /** Keys of the default columns of a PDF, printed on A4; absent: all columns, on paper wide enough. */
  printed?: readonly string[]
  /** Kind of each filter (`x-filter`) by its case-folded name, for the cover. */
  filterKinds: ReadonlyMap<string, string>
  /** Path of the CSV export, which has no row limit; absent: the list exists in reports only. */
  csvPath?: string
  /** SQL expression over `spec.from` for the time that ranges apply to; absent: rows have no time. */
  time?: string
  /** Filters that define the list. */
  fixed?: Readonly<Record<string, string>>
}

/** Returns whether the text has a closed form: an enumeration, a pattern or a time. */
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

/** Returns the columns of a row schema. */
export const columnsOf = (row: TObject): ExportColumn[] => {
  // A severity with a name beside it is a syslog severity.
  const isGraded = !('severityString' in row.properties)
  return Object.entries(row.properties).map(([key, given]) => {
    const schema = given as TSchema
    return { key, kind: kindOf(schema), heading: headingOf(key, isGraded), form: formOf(key, schema, isGraded) }
  })
}

/** Returns columns in the form that the PDF printer takes. */
export const printedColumns = (columns: readonly ExportColumn[]) =>
  columns.map(({ heading, kind, form }) => ({ heading, isNumber: kind === 'number' && form !== 'grade', form }))

/** Completes a list with the columns of its row schema. */
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
