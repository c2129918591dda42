import { filterFacts, type ListDefinition } from '@portcullis/contract'
import type { Column, Filter } from './columns.ts'
import type { ListSpec } from './compile.ts'

/** SQL of a column: one expression that selects and sorts, or one for each. */
type ColumnSql = string | (Omit<Column, 'filter'> & { select: string; sort: string })
type KeyOf<L extends ListDefinition> = keyof L['row']['properties'] & string
type UnsortedOf<L> = L extends { unsorted?: readonly (infer Key)[] } ? Key : never

/** The SQL of a list: an expression for each key and a condition for each filter of its definition. */
export type ListSql<L extends ListDefinition> = Omit<ListSpec, 'columns' | 'filters' | 'rowSelect'> & {
  columns: { readonly [K in KeyOf<L>]: K extends UnsortedOf<L> ? string : ColumnSql }
  filters: { readonly [F in keyof L['filters']]-?: Filter }
}

/** Joins the definition of a list with its SQL. */
export const listSpec = <L extends ListDefinition>(
  definition: L,
  { columns, filters, ...rest }: ListSql<L>,
): ListSpec => {
  const unsorted: readonly string[] = definition.unsorted ?? []
  const aliases = Object.entries(definition.filters).map(([name, schema]) => [name, filterFacts(schema).of] as const)
  const sqlOf = Object.entries<ColumnSql>(columns).map(([key, sql]) => {
    const { select, ...column }: Column & { select: string } =
      typeof sql === 'string' ? { select: sql, ...(unsorted.includes(key) ? {} : { sort: sql }) } : sql
    const names = aliases.filter(([, of]) => of === key).map(([name]) => name)
    return { key, select, column: { ...column, names: [...(column.names ?? []), ...names] } }
  })
  return {
    ...rest,
    columns: Object.fromEntries(sqlOf.map(({ key, column }) => [key, column])),
    filters: new Map(Object.entries<Filter>(filters).map(([name, filter]) => [name.toLowerCase(), filter])),
    rowSelect: sqlOf.map(({ key, select }) => `${select} as "${key}"`).join(', '),
  }
}
