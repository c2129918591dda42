/**
 * The definition of a list: its columns and filters with their labels, and what files and the console show of them. The
 * API, exports, reports and the console read it. Its SQL is a map with the same keys (`platform/server/list/spec.ts`).
 */
import type { TObject, TSchema } from 'typebox'
import { type Choices, type FilterKind, filterFacts, type Suggestions } from './filters.ts'
import type { Permission } from './permissions.ts'
import { queryLimits } from './query.ts'

/** The format in which files and tables show a value. */
export type CellForm =
  | 'plain'
  /** `true` or `false`. */
  | 'truth'
  /** A time without a zone, which is in UTC. */
  | 'zoneless'
  /** A time with `Z`. */
  | 'time'
  /** MM/dd/yyyy. */
  | 'date'
  /** A time in UTC without a zone, followed by a text. */
  | 'timedText'
  /** The text of an event. */
  | 'eventText'
  /** Parts separated by `||`. */
  | 'parts'
  /** Items separated by `**`, each with parts separated by `||`. */
  | 'items'
  /** Hex digits, which a spreadsheet would read as a number (`05E3`, `0012`). */
  | 'hex'
  /** A number that the API sends as text. */
  | 'number'
  /** A share, 0 to 1. */
  | 'share'
  /** A code with a label. */
  | 'code'
  /** Names of tags, separated by commas. */
  | 'tags'

/** Labels by value. Other values stay unchanged. */
type Labels = Readonly<Record<string, string>>

/** Options of the schema of a column. OpenAPI does not publish them. */
type ColumnSchema = TSchema & {
  type?: string
  anyOf?: TSchema[]
  format?: string
  examples?: unknown[]
  /** Default: the words of the key. */
  'x-label'?: string
  /** Default: derived from the schema. */
  'x-form'?: CellForm
  'x-labels'?: Labels
}

/** Splits a key into its words. */
const wordsOf = (key: string): string => {
  const text = key.replace(/([a-z\d])([A-Z])/g, '$1 $2').toLowerCase()
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

const timeForm = (schema: ColumnSchema): CellForm | undefined => {
  const example = String(schema.examples?.[0])
  if (schema.format === 'date-time') return 'time'
  if (/^\d{4}-\d\d-\d\dT/.test(example)) return example.endsWith('Z') ? 'time' : 'zoneless'
  return (schema.anyOf ?? []).map((one) => timeForm(one)).find((form) => form !== undefined)
}

/** A column as files and tables show it. */
export interface ListColumn {
  key: string
  label: string
  /** Heading in a file: the label, with the zone or unit of its values. */
  heading: string
  form: CellForm
  labels: Labels
  schema: TSchema
}

const columnOf = (key: string, schema: ColumnSchema): ListColumn => {
  const { 'x-label': label = wordsOf(key), 'x-labels': labels, 'x-form': given } = schema
  const derived = labels === undefined ? (timeForm(schema) ?? (schema.type === 'boolean' ? 'truth' : 'plain')) : 'code'
  const form = given ?? derived
  const unit = form === 'time' || form === 'zoneless' ? ' (UTC)' : form === 'share' ? ' (%)' : ''
  return { key, label, heading: `${label}${unit}`, form, labels: labels ?? {}, schema }
}

/** Returns the columns of a row by key, in order. */
export const columnsOf = (row: TObject): Readonly<Record<string, ListColumn>> =>
  Object.fromEntries(
    Object.entries(row.properties).map(([key, schema]) => [key, columnOf(key, schema as ColumnSchema)]),
  )

/** A column of the console's table. */
export interface TableColumn<Key extends string = string> {
  /** Name in the URL. */
  id: string
  /** Key that the column shows, sorts by, and exports. Default: `id`. */
  of?: Key
  /** Initial width in px. */
  width: number
  /** Takes the remaining width. */
  grow?: true
  /** Shown if the URL names no columns. */
  shown?: true
  /** Default: the label of the key. */
  title?: string
  /** Key of `SortBy`. Default: `of`. `null`: not sortable. */
  sort?: Key | null
  /** Direction of the first click. Default: descending for times and numbers. */
  first?: 'asc' | 'desc'
  /** Default: right for times and numbers. */
  align?: 'left' | 'right'
  /** Keys that an export of this column contains. Default: `of`. */
  exports?: readonly string[]
  /** The cell has its own link. */
  hasLink?: true
  /** Title of the card that a phone shows for a row. Default: the first column. */
  isTitle?: true
  /** Shows a time in another form than its age, or a text as code. */
  show?: 'local' | 'until' | 'code'
}

type KeyOf<Row extends TObject> = keyof Row['properties'] & string
type FilterSchemas = Readonly<Record<string, TSchema>>

export interface ListDefinition<
  Row extends TObject = TObject,
  Filters extends FilterSchemas = FilterSchemas,
  Unsorted extends string = string,
> {
  /** Display name. */
  title: string
  row: Row
  /** Filters by the names of the API, without paging, sort order and search. */
  filters: Filters
  /** Keys that the list cannot be sorted by. */
  unsorted?: readonly Unsorted[]
  /** The list as a file of exports and reports. */
  file?: {
    /** Columns of a PDF if no columns are chosen. */
    pdf: readonly KeyOf<Row>[]
    /** Columns whose values are counted on the first page of a PDF. */
    summary?: readonly KeyOf<Row>[]
    /** Column that a period applies to. Absent: rows have no time. */
    time?: KeyOf<Row>
    permission: Permission
    /** The order of the rows cannot be chosen. */
    isFixedOrder?: true
  }
  table?: {
    defaultSort: string
    /** Filters that the console offers, in order. */
    filters: readonly (keyof Filters & string)[]
    columns: readonly TableColumn<KeyOf<Row>>[]
  }
}

/** Defines a list. The compiler checks that it names only its own keys. */
export const list = <
  const Row extends TObject,
  const Filters extends FilterSchemas,
  const D extends ListDefinition<Row, Filters, KeyOf<Row>>,
>(
  definition: D & { row: Row; filters: Filters },
): D => definition

/** Names of the filters that the console offers for a list. */
export type OfferedFilter<L extends { table: { filters: readonly string[] } }> = L['table']['filters'][number]

/** Maximum length of a value that a person types. */
const longestTyped = 256

/** A filter as editors and descriptions show it. */
export interface ListFilter {
  name: string
  kind: FilterKind
  label: string
  /** Accepted values. Empty: any value. */
  values: readonly string[]
  /** Labels of its values. */
  labels: Labels
  /** Accepts only one value. */
  isSingle: boolean
  period?: { until: string; label: string }
  /** Maximum length of a value. */
  maxLength: number
  suggests?: Suggestions
  choices?: Choices
  accepts?: { form: string; hint: string }
}

/** Returns the filters of a list by name. */
export const filtersOf = ({ row, filters }: Pick<ListDefinition, 'row' | 'filters'>): ListFilter[] => {
  const columns = columnsOf(row)
  return Object.entries(filters).map(([name, schema]) => {
    const {
      kind,
      of = '',
      label,
      values,
      labels,
      isSingle = false,
      period,
      suggests,
      choices,
      accepts,
    } = filterFacts(schema)
    const column = columns[of] ?? columns[name.slice(0, 1).toLowerCase() + name.slice(1)]
    return {
      name,
      kind,
      label: label ?? column?.label ?? wordsOf(name),
      values: values ?? [],
      labels: labels ?? column?.labels ?? {},
      isSingle,
      maxLength:
        kind === 'query'
          ? queryLimits.length
          : Math.min(longestTyped, (schema as { maxLength?: number }).maxLength ?? longestTyped),
      ...(period === undefined ? {} : { period }),
      ...(suggests === undefined ? {} : { suggests }),
      ...(choices === undefined ? {} : { choices }),
      ...(accepts === undefined ? {} : { accepts }),
    }
  })
}
