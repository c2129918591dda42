import type { CsvColumn } from '@portcullis/platform/server/csv.ts'
import type { ListSpec, RowPlan } from '@portcullis/platform/server/list/compile.ts'
import type { TSchema } from 'typebox'
import { columnsOf, type ExportForm, type FileList, type ListColumn } from '#features/contract.ts'

/** Content of a column. Only text that outsiders choose can look like a formula. `codes`: a list of values of an enumeration. */
export type CellKind = 'text' | 'fixed' | 'boolean' | 'number' | 'codes'

export interface ExportColumn extends ListColumn {
  kind: CellKind
}

/** A list that can be exported as a file. */
export interface ExportableList {
  definition: FileList
  spec: ListSpec
  plan: RowPlan
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

/** Returns the columns of a file. */
export const fileColumns = ({ row }: FileList): ExportColumn[] =>
  Object.values(columnsOf(row)).map((column) => ({ ...column, kind: kindOf(column.schema) }))

/** Returns columns of a list by key. */
export const columnsByKey = (columns: readonly ExportColumn[], keys: readonly string[]): ExportColumn[] =>
  keys.flatMap((key) => columns.find((column) => column.key === key) ?? [])

/** Returns columns in the form that the PDF printer takes. */
export const printedColumns = (columns: readonly ExportColumn[]) =>
  columns.map(({ kind, heading, form, labels }) => ({
    heading,
    isNumber: kind === 'number' && form !== 'code',
    form,
    labels,
  }))

/** Returns columns in the form that the CSV writer takes. */
export const csvColumns = (columns: readonly ExportColumn[], form: ExportForm): CsvColumn[] =>
  columns.map((column) => ({
    heading: form === 'readable' ? column.heading : column.key,
    isText: column.kind === 'text' && column.form !== 'number',
  }))
