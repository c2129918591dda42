import type { Clock } from '../clock.ts'
import type { Queryable } from '../db/db.ts'
import { compile, type SqlFragment, sql } from '../db/sql.ts'

/** How old a count may be: the contract says "exact, as of at most one second ago". */
const maxAgeMs = 1_000
const maxEntries = 500

/** The statement behind a count. */
export const countStatement = (from: SqlFragment, where: SqlFragment): SqlFragment =>
  sql`select count(*)::bigint as n from ${from} where ${where}`

interface Entry {
  at: number
  count: Promise<number>
  /** Of this count when it is there, else of the one before it. */
  last: number | undefined
}

/** Counts that many viewers of one list share: single flight, at most one second old. */
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
     * Runs a statement that gives `n`, unless its answer is known and fresh. `count` gets the same number in another way,
     * where there is one that costs less just now.
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
    /** What was counted last, whenever that was: good enough to choose a plan by, for no answer. */
    last: (statement: SqlFragment): number | undefined => entries.get(keyOf(statement))?.last,
  }
}
