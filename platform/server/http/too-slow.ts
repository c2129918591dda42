import type { AnyOperation } from '../../contract/operation.ts'
import { AppError } from '../app-error.ts'
import { isPgError } from '../db/db.ts'

/** Parameters that say which part of the matching rows is asked for. */
const partNames: ReadonlySet<string> = new Set(['PageNumber', 'PageSize', 'SortBy', 'fromEventId', 'DevicesPerModel'])

interface Members {
  properties?: Readonly<Record<string, Members>>
}

const takesQuery = (shape: unknown): boolean => {
  const { properties = {} } = (shape ?? {}) as Members
  return properties.Query !== undefined || properties.query !== undefined
}

/** Returns whether the caller of an operation chooses rows by a condition with AND, OR and NOT. */
export const choosesRows = ({ query, body }: Pick<AnyOperation, 'query' | 'body'>): boolean =>
  takesQuery(query) || takesQuery((body as Members | undefined)?.properties?.filter)

const hasCondition = (given: unknown): boolean =>
  Object.entries(given ?? {}).some(([name, value]) => value !== undefined && value !== '' && !partNames.has(name))

/** Returns the failure to report for an operation that chooses rows: its conditions can take longer than the limit of a statement. */
export const slowFailure = (error: unknown, query: unknown, body: unknown): unknown =>
  isPgError(error, '57014') && (hasCondition(query) || hasCondition((body as { filter?: unknown } | null)?.filter))
    ? new AppError('query_too_slow', {}, { cause: error })
    : error
