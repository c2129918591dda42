import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { compileList } from '@portcullis/platform/server/list/compile.ts'
import { requireTime } from '@portcullis/platform/server/time.ts'
import { type EventHistogram, histogramReads, mostBars } from '#features/contract.ts'
import { type EventsQuery, eventsSpec } from './events.read.ts'

const minute = 60_000
const dayMs = 86_400_000
const steps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 10_080, 43_200].map((n) => n * minute)

/** Divides a range into parts that begin at multiples of a step. Returns the starts and the end of the last part. */
export const bordersOf = (from: number, to: number): { step: number; borders: number[] } => {
  const parts = (step: number): number => Math.ceil(to / step) - Math.floor(from / step)
  const step = steps.find((one) => parts(one) <= mostBars) ?? Math.ceil((to - from) / (mostBars - 1) / dayMs) * dayMs
  const first = Math.floor(from / step) * step
  return { step, borders: Array.from({ length: parts(step) + 1 }, (_, n) => first + n * step) }
}

const timeOf = (query: EventsQuery, name: string, end: 'from' | 'to'): number | null => {
  const text = query[name]
  return text === undefined || text === '' ? null : requireTime(`query.${name}`, String(text))[end].getTime()
}

export const createHistogramRead = (db: Queryable, now: () => number) => {
  /** Returns the first event received at or after each time, or null. */
  const firstAt = async (times: readonly number[]): Promise<(number | null)[]> =>
    (
      await db.prepared<{ first: number | null }>(sql`
        select (select e.event_id from events e where e.created_at >= u.at order by e.created_at, e.event_id limit 1) as first
        from unnest(${times.map((time) => new Date(time))}::timestamptz[]) with ordinality u(at, n) order by u.n`)
    ).map(({ first }) => first)

  const ends = async (): Promise<{ oldest: Date; last: number } | undefined> =>
    (
      await db.prepared<{ oldest: Date; last: number }>(sql`
        select o.created_at as oldest, (select max(e.event_id) from events e) as last
        from (select e.created_at from events e order by e.event_id limit 1) o`)
    )[0]

  return async (query: EventsQuery): Promise<EventHistogram> => {
    const list = compileList(eventsSpec, query)
    const known = await ends()
    const to = timeOf(query, 'toDate', 'to') ?? now() + 1
    const wanted = timeOf(query, 'fromDate', 'from') ?? timeOf(query, 'occurredFrom', 'from')
    const from = Math.max(wanted ?? to - dayMs, Math.min(known?.oldest.getTime() ?? 0, to - dayMs))
    if (known === undefined || from >= to)
      return { stepSeconds: 60, end: new Date(to).toISOString(), isExact: true, data: [] }
    const { step, borders } = bordersOf(from, to)
    const stepSeconds = step / 1_000
    // The range of the caller cuts the first and the last part.
    const starts = borders.slice(0, -1).map((start) => (wanted === from ? Math.max(start, from) : start))
    const until = query.toDate === undefined ? borders.at(-1)! : to
    const firsts = (await firstAt([...starts, until])).map((first) => first ?? known.last + 1)
    const [begin = 0] = firsts
    const end = firsts.at(-1)!
    const answer = (isExact: boolean, countOf: (index: number) => number | null): EventHistogram => ({
      stepSeconds,
      end: new Date(until).toISOString(),
      isExact,
      data: starts.map((start, index) => ({ start: new Date(start).toISOString(), count: countOf(index) })),
    })
    const isPlain = Object.entries(query).every(
      ([name, value]) => value === undefined || value === '' || name === 'fromDate' || name === 'toDate',
    )
    if (isPlain && end - begin > histogramReads)
      return answer(false, (index) => Math.max(0, firsts[index + 1]! - firsts[index]!))
    const scanFrom = Math.max(begin, end - histogramReads)
    // Not prepared: a generic plan would read too much for a short range.
    const rows = await db.query<{ part: number; n: number }>(sql`
      select floor((extract(epoch from e.created_at) - ${borders[0]! / 1_000}::float8) / ${stepSeconds}::float8)::int as part, count(*) as n
      from events e
      where e.event_id >= ${scanFrom - 1_000}::bigint and e.event_id < ${end + 1_000}::bigint
        and e.created_at >= ${new Date(starts[0]!)} and e.created_at < ${new Date(until)} and ${list.where}
      group by 1`)
    const counts = new Map(rows.map(({ part, n }) => [part, n]))
    return answer(true, (index) => (firsts[index]! < scanFrom ? null : (counts.get(index) ?? 0)))
  }
}

export type HistogramRead = ReturnType<typeof createHistogramRead>
