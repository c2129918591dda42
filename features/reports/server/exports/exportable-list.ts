import { type ColumnLabel, columnLabels, type ExportForm } from '@portcullis/contract'
import type { CsvColumn } from '@portcullis/platform/server/csv.ts'
import type { ListSpec, RowPlan } from '@portcullis/platform/server/list/compile.ts'
import type { TObject, TSchema } from 'typebox'

/** Content of a column. Only text that outsiders choose can look like a formula. `codes`: a list of values of an enumeration. */
export type CellKind = 'text' | 'fixed' | 'boolean' | 'number' | 'codes'

export interface ExportColumn {
  /** Response key, and heading of a CSV in the fixed form. */
  key: string
  kind: CellKind
  /** Heading and format of its cells for people. */
  label: ColumnLabel
}

/** A list that can be exported as a file. */
export interface ExportableList {
  spec: ListSpec
  plan: RowPlan
  /** Heading of a PDF. */
  title: string
  columns: readonly ExportColumn[]
  /** Keys of the columns of a PDF that no columns were chosen for. */
  pdfColumns: readonly string[]
  /** Keys of the columns whose values the first page of a PDF counts. */
  summary: readonly string[]
  /** Kind of each filter (`x-filter`) by its case-folded name, for the cover. */
  filterKinds: ReadonlyMap<string, string>
  /** Values of each filter that takes some values only (`x-values`), by its case-folded name. */
  filterValues: ReadonlyMap<string, readonly string[]>
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
  if (schema.type === 'array') return 'codes'
  return isFixed(schema) ? 'fixed' : 'text'
}

/** Returns the columns of a row schema. */
export const columnsOf = (row: TObject): ExportColumn[] => {
  const labels = columnLabels(row)
  return Object.entries(row.properties).map(([key, schema]) => ({
    key,
    kind: kindOf(schema as TSchema),
    label: labels[key] as ColumnLabel,
  }))
}

/** Returns columns of a list by key. */
export const columnsByKey = (columns: readonly ExportColumn[], keys: readonly string[]): ExportColumn[] =>
  keys.flatMap((key) => columns.find((column) => column.key === key) ?? [])

/** Returns columns in the form that the PDF printer takes. */
export const printedColumns = (columns: readonly ExportColumn[]) =>
  columns.map(({ kind, label: { heading, form, labels } }) => ({
    heading,
    isNumber: kind === 'number' && form !== 'code',
    form,
    labels,
  }))

/** Returns the columns whose values a PDF counts, in the form that the printer takes. */
export const summaryColumns = (columns: readonly ExportColumn[]) =>
  columns.map(({ label: { name, form, labels } }) => ({ name, form, labels }))

/** Returns columns in the form that the CSV writer takes. */
export const csvColumns = (columns: readonly ExportColumn[], form: ExportForm): CsvColumn[] =>
  columns.map(({ key, kind, label }) => ({
    heading: form === 'fixed' ? key : label.heading,
    isText: kind === 'text' && label.form !== 'number',
  }))

/** Completes a list with the columns of its row schema. */
export const exportableList = ({
  row,
  filters,
  ...list
}: Omit<ExportableList, 'columns' | 'filterKinds' | 'filterValues'> & {
  row: TObject
  filters: Readonly<Record<string, TSchema & { 'x-filter'?: string; 'x-values'?: readonly string[] }>>
}): ExportableList => ({
  ...list,
  columns: columnsOf(row),
  filterKinds: new Map(
    Object.entries(filters).map(([name, schema]) => [name.toLowerCase(), schema['x-filter'] ?? 'text']),
  ),
  filterValues: new Map(
    Object.entries(filters).map(([name, schema]) => [name.toLowerCase(), schema['x-values'] ?? []]),
  ),
})
