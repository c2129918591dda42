import type { Clock } from '../clock.ts'
import type { Queryable } from '../db/db.ts'
import { compile, type SqlFragment, sql } from '../db/sql.ts'

/** How old a count may be: the contract says "exact, as of at most one second ago". */
const maxAgeMs = 1_000
const maxEntries = 500

/** The statement behind a count. */
export const countStatement = (from: SqlFragment, where: SqlFragment): SqlFragment =>
  sql`select count(*)::bigint as n from ${from} where ${where}`

/** Counts that many viewers of one list share: single flight, at most one second old. */
export const createCounts = (db: Queryable, clock: Clock) => {
  const entries = new Map<string, { at: number; count: Promise<number> }>()
  /** Runs a statement that gives `n`, unless its answer is known and fresh. */
  return async (statement: SqlFragment): Promise<number> => {
    const { text, values } = compile(statement)
    const key = `${text}\u0000${JSON.stringify(values)}`
    const now = clock.now()
    const known = entries.get(key)
    if (known !== undefined && now - known.at < maxAgeMs) return known.count
    const count = db.prepared<{ n: number }>(statement).then((rows) => rows[0]?.n ?? 0)
    entries.delete(key)
    entries.set(key, { at: now, count })
    if (entries.size > maxEntries) entries.delete(entries.keys().next().value as string)
    count.catch(() => entries.delete(key))
    return count
  }
}
