import type { Tx } from './db.ts'
import { join, raw, type SqlFragment, sql } from './sql.ts'

/** Streams whose ids have no gaps and become visible in order. */
export type OrderedStream = 'events' | 'audit' | 'outbox'

/**
 * Appends rows to an ordered stream. One statement advances the head row and inserts, so ids have no gaps and a
 * follower that has read up to n misses nothing. A sequence would let id n+1 commit before n. It must be the last
 * statement of its transaction, because the head row stays locked until COMMIT.
 *
 * `insert` writes `select h.n - k + r.ord, … from h, unnest(…) with ordinality r(…, ord)`.
 */
export const appendOrdered = (
  tx: Tx,
  stream: OrderedStream,
  count: number,
  insert: SqlFragment,
): Promise<{ n: number }[]> =>
  tx.prepared<{ n: number }>(sql`
    with h as (update ordered_head set n = n + ${count}::bigint where stream = ${stream} returning n),
         i as (${insert})
    select n from h`)

/**
 * Appends one row to a stream whose head keeps the hash of the last record, in one statement like `appendOrdered`.
 * `insert` writes `insert into … select next.n, …, next.hash from next`.
 */
export const appendChained = async (tx: Tx, stream: 'audit', record: string, insert: SqlFragment): Promise<void> => {
  await tx.prepared(sql`
    with before as (select n, hash from ordered_head where stream = ${stream} for update),
         next as (
           select n + 1 as n, sha256(hash || convert_to((n + 1)::text || chr(10) || ${record}::text, 'UTF8')) as hash
           from before),
         h as (update ordered_head o set n = next.n, hash = next.hash from next where o.stream = ${stream})
    ${insert}`)
}

/** Returns columns for `unnest`, each with a cast: `unnestOf([[a, 'uuid[]'], [b, 'text[]']])`. */
export const unnestOf = (columns: readonly (readonly [readonly unknown[], string])[]): SqlFragment =>
  sql`unnest(${join(
    columns.map(([values, type]) => sql`${values}${raw(`::${type}`)}`),
    ', ',
  )})`
