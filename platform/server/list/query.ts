import { faultText, parseQuery, type QueryTree } from '../../contract/query.ts'
import { AppError, invalid } from '../app-error.ts'
import { join, raw, type SqlFragment, sql } from '../db/sql.ts'
import { composed } from '../db/statement-names.ts'
import { nearest } from '../http/names.ts'
import type { Condition, Filter } from './columns.ts'

/** The filters and the search that a query can use. */
export interface Queried {
  /** Filters by their names in lower case. */
  filters: ReadonlyMap<string, Filter>
  /** Names of the filters as documented, for messages. */
  names?: readonly string[]
  /** Condition of GlobalSearch. */
  search?: (needle: string) => SqlFragment | Condition
}

/** Maximum length of a search word, as in `GlobalSearch`. */
const longestWord = 256

const conditionOf = (given: SqlFragment | Condition): Condition => ('set' in given ? given : { set: given })

/** Combines both forms of conditions, in parentheses. The result has no count. */
const combined = (of: readonly Condition[], combine: (forms: readonly SqlFragment[]) => SqlFragment): Condition => ({
  set: sql`(${combine(of.map(({ set }) => set))})`,
  ...(of.some(({ row }) => row !== undefined) ? { row: sql`(${combine(of.map(({ set, row }) => row ?? set))})` } : {}),
})

/** Returns the condition of a query (ADR 131). Throws a 400 that names `field` and the position of a fault. */
export const compileQuery = (spec: Queried, field: string, text: string): Condition => {
  const refuse = (at: number, message: string): AppError => invalid(field, faultText({ at, message }))

  function termOf(tree: Extract<QueryTree, { at: number }>): Condition {
    const { at, value } = tree
    if (tree.kind === 'search') {
      if (spec.search === undefined) throw refuse(at, 'this list has no text search; use Name:value')
      if (value.length > longestWord) throw refuse(at, `a word can have at most ${longestWord} characters`)
      return conditionOf(spec.search(value))
    }
    const filter = spec.filters.get(tree.name.toLowerCase())
    if (filter === undefined) {
      const known = [...(spec.names ?? spec.filters.keys())]
      const near = nearest(tree.name, known)
      const meant =
        near === undefined
          ? `text with a colon must be in quotes; known names: ${known.join(', ')}`
          : `did you mean ${near}?`
      throw refuse(at, `${tree.name} is not a filter; ${meant}`)
    }
    try {
      return conditionOf(filter(field, value))
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      const [fault] = error.errors
      throw fault === undefined ? error : refuse(at, `${tree.name} ${fault.message}`)
    }
  }

  function fold(tree: QueryTree): Condition {
    switch (tree.kind) {
      case 'not':
        // A condition about a missing value is null, and `not null` would leave the row out.
        return combined([fold(tree.of)], (forms) => sql`not coalesce(${join(forms, '')}, false)`)
      case 'and':
        return combined(tree.of.map(fold), (forms) => join(forms, ' and '))
      case 'or':
        return combined(tree.of.map(fold), (forms) => join(forms, ' or '))
      default:
        return combined([termOf(tree)], ([only]) => only as SqlFragment)
    }
  }

  const parsed = parseQuery(text)
  if ('fault' in parsed) throw invalid(field, faultText(parsed.fault))
  const { set, row } = fold(parsed.tree)
  const unnamed = (form: SqlFragment): SqlFragment => sql`${raw(composed)} ${form}`
  return { set: unnamed(set), ...(row === undefined ? {} : { row: unnamed(row) }) }
}
