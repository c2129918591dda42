import { invalid } from '../app-error.ts'
import { join, raw, type SqlFragment, sql } from '../db/sql.ts'
import { unknownValue } from '../http/names.ts'
import { requireTime } from '../time.ts'

/** A condition in the forms that different plans need. */
export interface Condition {
  /** For all rows at once, if it runs first: ideally `id in (select …)`, answered by an index. */
  set: SqlFragment
  /**
   * For one row of a sort index, where fifty matches end the scan; default `set`. A scalar subquery, so that the
   * planner cannot turn it into a join over all rows.
   */
  row?: SqlFragment
  /** Statement that counts the rows if it is the only condition, from its own table instead of the list's. */
  count?: SqlFragment
}

/** Turns the text of a filter into a condition. A malformed text is a 400 that names the field. */
export type Filter = (field: string, text: string) => SqlFragment | Condition

/**
 * One column of a list. Expressions are SQL of our own source. Every parameter of a filter has a cast, because a
 * streamed page runs as COPY, where parameters arrive as text (stream.ts).
 */
export interface Column {
  /** Expression for ORDER BY; absent: not sortable. */
  sort?: string
  /** Join that `sort` needs in addition to the list's FROM; it must keep the number of rows. */
  sortJoin?: string
  /**
   * For sorting by a text with few values, stored once each and referenced by id: `from` holds the values, `link` ties
   * a row to its value. A page takes the first rows of each value from the index on the id, instead of sorting all rows
   * by a text without an index. At a million rows, this takes 6 ms instead of 380 to 800 ms.
   */
  groups?: { from: string; link: string }
  /** Other names that clients use for this key in filters and sorts. */
  names?: readonly string[]
}

/** Returns a LIKE pattern with `%`, `_` and `\` as plain characters. Ignores case like the stored folded columns. */
export const likePattern = (text: string): string => `%${fold(text).replace(/[\\%_]/g, '\\$&')}%`

/**
 * Folds the case of names and search texts like lower() in the database's C.UTF-8: one character for one. JavaScript
 * differs in two: the dotted capital I becomes two characters, and sigma depends on its position in the word.
 */
export const fold = (text: string): string =>
  text.normalize('NFC').replaceAll('\u0130', 'i').replaceAll('\u03a3', '\u03c3').toLowerCase()

const parts = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

/** Filters by a substring of a case-folded expression. */
export const contains =
  (folded: string): Filter =>
  (_field, text) =>
    sql`${raw(folded)} like ${likePattern(text)}::text`

/** Three letters or digits in a row, or fewer at a word boundary: texts in which pg_trgm finds a trigram. */
const hasTrigram = /[\p{L}\p{N}]{3}|[^\p{L}\p{N}][\p{L}\p{N}]|[\p{L}\p{N}]{2}[^\p{L}\p{N}]/u

/** Returns the condition that a folded text with a trigram index contains a part. */
export const hasText = (column: string, text: string): SqlFragment => {
  // Without a trigram, a prepared plan would read the whole index: 190 ms at 100,000 hosts, 2 s at 50,000 models. Another
  // collation keeps the planner off the index, and it scans the texts in 30 ms.
  const scanned = hasTrigram.test(text) ? raw(column) : raw(`${column} collate "C"`)
  return sql`${scanned} like ${likePattern(text)}::text`
}

/** Search texts of models begin with the ids as `046d c52b`, but people write `046D:C52B` or `046d/c52b`. */
export const inModelText = (column: string, needle: string): SqlFragment => {
  const asKept = needle.replace(/^([0-9a-f]{4})[:/]([0-9a-f]{1,4})$/i, '$1 $2')
  const has = (text: string) => hasText(column, text)
  return asKept === needle ? has(needle) : sql`(${has(needle)} or ${has(asKept)})`
}

/** Every word of a text, in any order. */
export const allWordsInModelText = (column: string, text: string): SqlFragment =>
  join(
    text
      .trim()
      .split(/\s+/)
      .slice(0, 16)
      .map((word) => inModelText(column, word)),
    ' and ',
  )

/** Returns the ids of the models that match a vendor name, with the same meaning in every list. */
export const modelsOfVendor = (text: string): SqlFragment =>
  sql`select v.id from models_of_vendor(${likePattern(text)}::text) v(id)`

/** Filters by a substring, for a column with ids of `dictionary` (few values, many rows). */
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

/** Filters by any value of a comma list; each value has a condition. */
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

/** Filters by any value of a comma-separated list. `values` must be constants of the source code. */
export const isAnyOf = (expression: string, values: readonly string[]): Filter =>
  oneOf(Object.fromEntries(values.map((value) => [value, `${expression} = '${value}'`])))

/** Filters by `n`, `>=n`, `<=n` or a comma list of numbers. */
export const isNumber =
  (expression: string): Filter =>
  (field, text) => {
    const bound = /^(>=|<=)\s*(-?\d{1,10})$/.exec(text.trim())
    const [, comparison = '', limit = ''] = bound ?? []
    const values = bound === null ? parts(text) : [limit]
    for (const value of values)
      if (!/^-?\d{1,10}$/.test(value) || Math.abs(Number(value)) > 2_147_483_647)
        throw invalid(field, 'must be a number, >=n, <=n or a comma list of numbers')
    if (values.length === 0) throw invalid(field, 'must be a number')
    if (bound !== null) return sql`${raw(expression)} ${raw(comparison)} ${Number(values[0])}::int`
    return sql`${raw(expression)} = any(${`{${values.map(Number).join(',')}}`}::int[])`
  }

/** Filters by an instant, as precise as written, or by `from..to` with either end open. */
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

/** Filters by any tag of a comma list, for rows whose tags are in a join table. */
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
