import { paging } from '@portcullis/contract'
import type { Clock } from '../clock.ts'
import type { Db, Queryable } from '../db/db.ts'
import { raw, type SqlFragment, sql } from '../db/sql.ts'
import { JsonStream, JsonText } from '../http/answer.ts'
import { type CompiledList, compileList, type ListSpec, pageStatement } from './compile.ts'
import { countStatement, createCounts } from './counts.ts'
import { streamList } from './stream.ts'

/** Pages above this many rows are streamed; below, one round trip is cheaper. */
const streamFrom = 2_000
/** Under this share of rows a filter is run first and its rows sorted, else the sort index is walked (design.md 4). */
const filterFirstShare = 0.05

export interface ListDeps {
  /** Pool of short statements. */
  db: Db
  /** Pool of long reads; one per stream. */
  exportDb: Db
  clock: Clock
}

export type List = ReturnType<typeof createList>

/** A list of the interface: filters, exact counts, pages up to a million rows, all from one compiled filter. */
export const createList = (spec: ListSpec, { db, exportDb, clock }: ListDeps) => {
  const counts = createCounts(db, clock)
  const from = raw(spec.from)

  const countOf = (list: CompiledList): Promise<number> => counts(from, list.where)

  const page = async (query: Readonly<Record<string, unknown>>): Promise<JsonText | JsonStream> => {
    const list = compileList(spec, query)
    const limit = (query.PageSize as number | undefined) ?? paging.defaultSize
    const offset = (((query.PageNumber as number | undefined) ?? 1) - 1) * limit
    const total = await counts(from, raw('true'))
    const filtered = list.isUnfiltered ? total : await countOf(list)
    const filterFirst = !list.isUnfiltered && filtered < Math.max(total * filterFirstShare, 500)
    const statement = pageStatement(spec, list, offset, limit, filterFirst)
    if (Math.min(limit, filtered - offset) > streamFrom)
      return new JsonStream(
        streamList(exportDb, {
          total: countStatement(from, raw('true')),
          filtered: countStatement(from, list.where),
          rows: statement,
        }),
      )
    const rows = offset >= filtered ? [] : await db.prepared<{ row: string }>(statement)
    return new JsonText(
      `{"recordsTotal":${total},"recordsFiltered":${filtered},"data":[${rows.map((r) => r.row).join(',')}]}`,
    )
  }

  /** Rows by id, as the list shows them; for details and single reads. */
  const rowsById = async (queryable: Queryable, ids: readonly string[], cast: string): Promise<string[]> => {
    const statement = pageStatement(
      spec,
      { where: idCondition(spec, ids, cast), orderBy: raw(spec.id), isUnfiltered: false },
      0,
      ids.length,
      true,
    )
    return (await queryable.prepared<{ row: string }>(statement)).map((r) => r.row)
  }

  return {
    page,
    countOf,
    compile: (query: Readonly<Record<string, unknown>>) => compileList(spec, query),
    rowsById,
    spec,
  }
}

const idCondition = (spec: ListSpec, ids: readonly string[], cast: string): SqlFragment =>
  sql`${raw(spec.id)} = any(${ids}${raw(`::${cast}[]`)})`
