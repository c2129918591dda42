import { invalid } from '../app-error.ts'
import { raw, type SqlFragment, sql } from '../db/sql.ts'
import { unknownValue } from '../http/names.ts'
import { requireTime } from '../time.ts'

/** A condition in the forms that different plans want. */
export interface Condition {
  /** Over all rows at once, when it is run first: best as `id in (select …)` that an index answers. */
  set: SqlFragment
  /** Over one row, when a sort index is walked and fifty matches end it; `set` when absent. A scalar subquery, so that the planner cannot turn it into a join over all. */
  row?: SqlFragment
  /** Statement that counts its rows when it is the only condition: from the table it is about, not from the list's. */
  count?: SqlFragment
}

/** Turns the text of one filter into a condition; what it cannot read is a 400 that names the field. */
export type Filter = (field: string, text: string) => SqlFragment | Condition

/**
 * One column of a list. Expressions are SQL of our own source. Every parameter in a filter is cast, because a streamed
 * page runs as COPY, where parameters arrive as text (stream.ts).
 */
export interface Column {
  /** What ORDER BY takes; absent: not sortable. */
  sort?: string
  /** Join that `sort` needs beside the list's FROM; it must keep every row once. */
  sortJoin?: string
  /**
   * For a sort by the text of few values, kept once each and named by id in the rows: `from` holds the values, `link`
   * ties a row to its value. A page takes the first rows of each value from the index on the id, in place of sorting all
   * rows by a text that no index of theirs has: at a million rows 380 to 800 ms become 6.
   */
  groups?: { from: string; link: string }
  filter?: Filter
  /** Other names clients use for this key, in filters and sort keys. */
  names?: readonly string[]
}

/** `%`, `_` and `\` as plain characters of a LIKE pattern, ignoring case as the stored folded columns do. */
export const likePattern = (text: string): string => `%${fold(text).replace(/[\\%_]/g, '\\$&')}%`

/**
 * Folding of names and search texts, as lower() of the database's C.UTF-8 does it: one character for one. JavaScript
 * agrees but for two, the dotted capital I (which it makes two) and sigma (which it writes differently at a word's end).
 */
export const fold = (text: string): string =>
  text.normalize('NFC').replaceAll('\u0130', 'i').replaceAll('\u03a3', '\u03c3').toLowerCase()

const parts = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** Contains, over an expression that is folded. */
export const contains =
  (folded: string): Filter =>
  (_field, text) =>
    sql`${raw(folded)} like ${likePattern(text)}::text`

/** Returns the ids of the models that match a vendor name, with the same meaning in every list. */
export const modelsOfVendor = (text: string): SqlFragment =>
  sql`select v.id from models_of_vendor(${likePattern(text)}::text) v(id)`

/** Contains, over a column that holds ids of `dictionary` (few values, many rows). */
export const containsInDictionary =
  (column: string): Filter =>
  (_field, text) =>
    sql`${raw(column)} in (select d.id from dictionary d where d.folded like ${likePattern(text)}::text)`

export const isTrue =
  (expression: string): Filter =>
  (field, text) => {
    const value = text.toLowerCase()
    if (value !== 'true' && value !== 'false') throw invalid(field, 'must be true or false')
    return value === 'true' ? sql`${raw(expression)}` : sql`not ${raw(expression)}`
  }

/** Any of a comma list; each value has a condition. */
export const oneOf = (conditions: Readonly<Record<string, string>>): Filter => {
  const known = new Map(Object.entries(conditions).map(([name, condition]) => [name.toLowerCase(), condition]))
  return (field, text) => {
    const chosen = parts(text).map((part) => {
      const condition = known.get(part.toLowerCase())
      if (condition === undefined) throw invalid(field, unknownValue(part, Object.keys(conditions)))
      return `(${condition})`
    })
    if (chosen.length === 0) throw invalid(field, `must be one of ${Object.keys(conditions).join(', ')}`)
    return raw(`(${[...new Set(chosen)].join(' or ')})`)
  }
}

/** `n`, `>=n`, `<=n` or a comma list of numbers. */
export const isNumber =
  (expression: string): Filter =>
  (field, text) => {
    const bound = /^(>=|<=)\s*(-?\d{1,10})$/.exec(text.trim())
    const values = bound === null ? parts(text) : [bound[2] as string]
    for (const value of values)
      if (!/^-?\d{1,10}$/.test(value) || Math.abs(Number(value)) > 2_147_483_647)
        throw invalid(field, 'must be a number, >=n, <=n or a comma list of numbers')
    if (values.length === 0) throw invalid(field, 'must be a number')
    if (bound !== null) return sql`${raw(expression)} ${raw(bound[1] as string)} ${Number(values[0])}::int`
    return sql`${raw(expression)} = any(${`{${values.map(Number).join(',')}}`}::int[])`
  }

/** An instant, as coarse as it is written, or `from..to` with either end open. */
export const isTime =
  (expression: string): Filter =>
  (field, text) => {
    const at = text.indexOf('..')
    const column = raw(expression)
    if (at < 0) {
      const span = requireTime(field, text)
      return sql`(${column} >= ${span.from.toISOString()}::timestamptz and ${column} < ${span.to.toISOString()}::timestamptz)`
    }
    const from = text.slice(0, at).trim()
    const to = text.slice(at + 2).trim()
    if (from === '' && to === '') throw invalid(field, 'a range needs at least one end')
    const lower =
      from === '' ? raw('true') : sql`${column} >= ${requireTime(field, from).from.toISOString()}::timestamptz`
    const upper = to === '' ? raw('true') : sql`${column} < ${requireTime(field, to).to.toISOString()}::timestamptz`
    return sql`(${lower} and ${upper})`
  }

/** Any of a comma list of tag names, for rows whose tags lie in a join table. */
export const hasAnyTag =
  (id: string, table: string, key: string): Filter =>
  (_field, text) => {
    const tags = sql`x.tag_id = any(array(select t.tag_id from tags t where t.folded = any(${parts(text).map(fold)}::text[])))`
    return {
      set: sql`${raw(id)} in (select x.${raw(key)} from ${raw(table)} x where ${tags})`,
      row: sql`(select true from ${raw(table)} x where x.${raw(key)} = ${raw(id)} and ${tags} limit 1)`,
      count: sql`select count(distinct x.${raw(key)})::bigint as n from ${raw(table)} x where ${tags}`,
    }
  }
