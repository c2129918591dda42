import { mustExist } from '@portcullis/domain'
import { filterFacts } from '../../contract/filters.ts'
import type { ListDefinition } from '../../contract/list.ts'
import { type Column, contains, type Filter, isAnyOf, isNumber, isTime, isTrue } from './columns.ts'
import type { ListSpec } from './compile.ts'

/** SQL of a column: one expression that selects and sorts, or one for each. */
type ColumnSql = string | (Column & { select: string; sort: string })
type KeyOf<L extends ListDefinition> = keyof L['row']['properties'] & string
type UnsortedOf<L> = L extends { unsorted?: readonly (infer Key)[] } ? Key : never

/** The SQL of a list: an expression for each key of its definition. */
export type ListSql<L extends ListDefinition> = Omit<
  ListSpec,
  'columns' | 'filters' | 'names' | 'rowSelect' | 'defaultSort'
> & {
  columns: { readonly [K in KeyOf<L>]: K extends UnsortedOf<L> ? string : ColumnSql }
  /** Conditions of filters that differ from those of their kind and column. */
  filters?: { readonly [F in keyof L['filters']]?: Filter }
  /** Default: the order of the console's table. */
  defaultSort?: ListSpec['defaultSort']
}

/** Returns the condition of a filter by its kind and the expression that sorts its column. */
const usualFilter = (kind: string, values: readonly string[], sort: string | undefined): Filter | undefined => {
  if (sort === undefined) return undefined
  if (kind === 'boolean') return isTrue(sort)
  if (kind === 'time') return isTime(sort)
  if (kind === 'number') return isNumber(sort)
  if (kind === 'enum' && values.length > 0) return isAnyOf(sort, values)
  return kind === 'text' && sort.startsWith('lower(') ? contains(sort) : undefined
}

/** Returns the SELECT list of columns. */
export const selectOf = (columns: Readonly<Record<string, ColumnSql>>): string =>
  Object.entries(columns)
    .map(([key, sql]) => `${typeof sql === 'string' ? sql : sql.select} as "${key}"`)
    .join(', ')

/** Joins the definition of a list with its SQL. */
export const listSpec = <L extends ListDefinition>(
  definition: L,
  { columns, filters = {}, defaultSort, ...rest }: ListSql<L>,
): ListSpec => {
  const unsorted: readonly string[] = definition.unsorted ?? []
  const given: Readonly<Record<string, Filter | undefined>> = filters
  const facts = Object.entries(definition.filters).map(([name, schema]) => ({ name, ...filterFacts(schema) }))
  const sqlOf = Object.entries<ColumnSql>(columns).map(([key, sql]) => {
    const { select, ...column }: Column & { select: string } =
      typeof sql === 'string' ? { select: sql, ...(unsorted.includes(key) ? {} : { sort: sql }) } : sql
    const names = facts.filter(({ of }) => of === key).map(({ name }) => name)
    return { key, select, column: { ...column, names: [...(column.names ?? []), ...names] } }
  })
  const sortOf = new Map(sqlOf.map(({ key, column }) => [key.toLowerCase(), column.sort]))
  const [key = '', direction] = (definition.table?.defaultSort ?? '').split('_')
  return {
    ...rest,
    defaultSort: defaultSort ?? [{ key, descending: direction === 'desc' }],
    columns: Object.fromEntries(sqlOf.map(({ key, column }) => [key, column])),
    filters: new Map(
      facts.map(({ name, kind, of = name, values = [] }) => {
        const filter = given[name] ?? usualFilter(kind, values, sortOf.get(of.toLowerCase()))
        return [name.toLowerCase(), mustExist(filter, `the condition of ${name}`)]
      }),
    ),
    names: facts.map(({ name }) => name),
    rowSelect: selectOf(columns),
  }
}
