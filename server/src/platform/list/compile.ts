import { invalid } from '../app-error.ts'
import { join, raw, type SqlFragment, sql } from '../db/sql.ts'
import type { Column } from './columns.ts'

/** A list as data: where its rows lie, what a row looks like, what may be filtered and sorted. All text is our own source. */
export interface ListSpec {
  /** Name of the list in messages and file names. */
  name: string
  /** FROM of the narrow rows, with their alias. */
  from: string
  /** What names a row within one statement. */
  id: string
  /** Key expressions of a row; ties of every sort end on them. */
  ties: readonly string[]
  /** Response keys in their order; those without an expression can not be selected. */
  columns: Readonly<Record<string, Column>>
  /** Default order, by response keys. */
  defaultSort: readonly { key: string; descending: boolean }[]
  /** Condition of GlobalSearch. */
  search?: (needle: string) => SqlFragment
  /** Joins from `ids(id, ord)` to all that a whole row needs. */
  rowJoins: string
  /** `expression as "key"` per response key, in order. */
  rowSelect: string
}

export interface CompiledList {
  where: SqlFragment
  orderBy: SqlFragment
  /** True when nothing was filtered. */
  isUnfiltered: boolean
}

/** Names of a column: its key and its aliases, folded. */
const columnsByName = (spec: ListSpec): ReadonlyMap<string, { key: string; column: Column }> => {
  const result = new Map<string, { key: string; column: Column }>()
  for (const [key, column] of Object.entries(spec.columns))
    for (const name of [key, ...(column.names ?? [])]) result.set(name.toLowerCase(), { key, column })
  return result
}

const sortTerm = (
  spec: ListSpec,
  names: ReturnType<typeof columnsByName>,
  text: string,
): { expression: string; descending: boolean } => {
  const match = /^(-?)(\w{1,64}?)(?:_(asc|desc))?$/i.exec(text.trim())
  const found = match === null ? undefined : names.get((match[2] as string).toLowerCase())
  if (match === null || found?.column.sort === undefined) {
    const known = Object.keys(spec.columns).filter((key) => spec.columns[key]?.sort !== undefined)
    throw invalid('query.SortBy', `must be one of ${known.join(', ')}, with _asc or _desc`)
  }
  return { expression: found.column.sort, descending: match[1] === '-' || match[3]?.toLowerCase() === 'desc' }
}

/** Filters and order of one query. `query` has the list's documented names; paging is not looked at. */
export const compileList = (spec: ListSpec, query: Readonly<Record<string, unknown>>): CompiledList => {
  const names = columnsByName(spec)
  const conditions: SqlFragment[] = []
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === '' || name === 'PageNumber' || name === 'PageSize' || name === 'SortBy')
      continue
    if (name.toLowerCase() === 'globalsearch') {
      if (spec.search !== undefined) conditions.push(spec.search(String(value)))
      continue
    }
    const filter = names.get(name.toLowerCase())?.column.filter
    if (filter === undefined) throw invalid(`query.${name}`, 'can not be filtered')
    conditions.push(filter(`query.${name}`, String(value)))
  }
  const given = query.SortBy
  const terms =
    typeof given === 'string' && given.trim() !== ''
      ? given.split(',').map((text) => sortTerm(spec, names, text))
      : spec.defaultSort.map(({ key, descending }) => ({ expression: spec.columns[key]?.sort as string, descending }))
  const last = terms.at(-1)
  const order = terms.map(({ expression, descending }) => raw(`${expression} ${descending ? 'desc' : 'asc'}`))
  // With one term the ties follow its direction, so that one index serves both directions of a sort.
  const direction = terms.length === 1 && last?.descending === true ? 'desc' : 'asc'
  for (const tie of spec.ties) order.push(raw(`${tie} ${direction}`))
  return {
    where: conditions.length === 0 ? raw('true') : join(conditions, ' and '),
    orderBy: join(order, ', '),
    isUnfiltered: conditions.length === 0,
  }
}

/** The statement that gives the page's rows as JSON text, in order. */
export const pageStatement = (
  spec: ListSpec,
  list: CompiledList,
  offset: number,
  limit: number,
  filterFirst: boolean,
): SqlFragment => {
  const from = raw(spec.from)
  const ids = filterFirst
    ? // Few rows: filter all, then sort them; the planner must not walk the sort index in the hope of an early end.
      sql`f as materialized (select ${raw(spec.id)} as id, row_number() over (order by ${list.orderBy}) as ord from ${from} where ${list.where}),
          ids as (select f.id, f.ord from f where f.ord > ${offset}::bigint and f.ord <= ${offset + limit}::bigint)`
    : sql`p as materialized (select ${raw(spec.id)} as id from ${from} where ${list.where} order by ${list.orderBy} limit ${limit}::bigint offset ${offset}::bigint),
          ids as (select p.id, row_number() over () as ord from p)`
  return sql`with ${ids}
    select row_to_json(t)::text as row from (select ${raw(spec.rowSelect)} from ids ${raw(spec.rowJoins)} order by ids.ord) t`
}
