import type { Clock } from '../clock.ts'
import type { Queryable } from '../db/db.ts'
import { compile, type SqlFragment, sql } from '../db/sql.ts'

/** Maximum age of a count: the contract says "exact, as of at most one second ago". */
const maxAgeMs = 1_000
const maxEntries = 500

/** Returns the statement of a count. */
export const countStatement = (from: SqlFragment, where: SqlFragment): SqlFragment =>
  sql`select count(*)::bigint as n from ${from} where ${where}`

interface Entry {
  at: number
  count: Promise<number>
  /** Result of this count, or of the previous one while it runs. */
  last: number | undefined
}

/** Shares counts between the viewers of a list: one query at a time, at most one second old. */
export const createCounts = (db: Queryable, clock: Clock) => {
  const entries = new Map<string, Entry>()
  function keyOf(statement: SqlFragment): string {
    const { text, values } = compile(statement)
    return `${text}\u0000${JSON.stringify(values)}`
  }
  const counted = async (statement: SqlFragment): Promise<number> =>
    (await db.prepared<{ n: number }>(statement))[0]?.n ?? 0
  return {
    /**
     * Runs a statement that returns `n`, unless a fresh result exists. `count` computes the same number in a cheaper
     * way, if there is one at the moment.
     */
    of: (statement: SqlFragment, count: () => Promise<number> = () => counted(statement)): Promise<number> => {
      const key = keyOf(statement)
      const now = clock.now()
      const known = entries.get(key)
      if (known !== undefined && now - known.at < maxAgeMs) return known.count
      const entry: Entry = { at: now, count: count(), last: known?.last }
      entries.delete(key)
      entries.set(key, entry)
      if (entries.size > maxEntries) entries.delete(entries.keys().next().value as string)
      entry.count.then(
        (n) => {
          entry.last = n
        },
        () => entries.delete(key),
      )
      return entry.count
    },
    /** Returns the last count, whatever its age. Use it to choose a plan, not for a response. */
    last: (statement: SqlFragment): number | undefined => entries.get(keyOf(statement))?.last,
  }
}
