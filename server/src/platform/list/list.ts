import { paging } from '@portcullis/contract'
import type { Clock } from '../clock.ts'
import type { Db } from '../db/db.ts'
import { raw, type SqlFragment, sql } from '../db/sql.ts'
import { JsonStream, JsonText } from '../http/answer.ts'
import { type CompiledList, compileList, type ListSpec, pageStatement } from './compile.ts'
import { countStatement, createCounts } from './counts.ts'
import { streamList } from './stream.ts'

/** Pages above this many rows are streamed; below, one round trip is cheaper. */
const streamFrom = 2_000
/** Under this share of rows a filter is run first and its rows sorted, else the sort index is walked. */
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

  const countOf = (list: CompiledList): Promise<number> => counts(list.count ?? countStatement(from, list.where))

  /** One page. `scope` narrows the list itself: what it leaves out is not counted in recordsTotal either. */
  const page = async (
    query: Readonly<Record<string, unknown>>,
    scope?: SqlFragment,
  ): Promise<JsonText | JsonStream> => {
    const asked = compileList(spec, query)
    const within = (where: SqlFragment) => (scope === undefined ? where : sql`${scope} and ${where}`)
    const list: CompiledList = {
      ...asked,
      where: within(asked.where),
      walkWhere: within(asked.walkWhere ?? asked.where),
      count: scope === undefined ? asked.count : undefined,
    }
    const totalStatement =
      scope === undefined ? (spec.total ?? countStatement(from, raw('true'))) : countStatement(from, scope)
    const limit = (query.PageSize as number | undefined) ?? paging.defaultSize
    const offset = (((query.PageNumber as number | undefined) ?? 1) - 1) * limit
    const [total, found] = await Promise.all([counts(totalStatement), list.isUnfiltered ? null : countOf(list)])
    const filtered = found ?? total
    const filterFirst = !list.isUnfiltered && filtered < Math.max(total * filterFirstShare, 500)
    const statement = pageStatement(spec, list, offset, limit, filterFirst)
    if (Math.min(limit, filtered - offset) > streamFrom)
      return new JsonStream(
        streamList(exportDb, {
          total: totalStatement,
          filtered: list.count ?? countStatement(from, list.where),
          rows: statement,
        }),
      )
    // Counts may be a second old, rows never: a page that a change was announced for shows it.
    const rows = offset > 0 && offset >= filtered ? [] : await db.prepared<{ row: string }>(statement)
    const end = offset + rows.length
    // A page past the end says nothing of how many there are but that they do not reach it.
    const now = rows.length === 0 ? Math.min(filtered, offset) : rows.length < limit ? end : Math.max(filtered, end)
    return new JsonText(
      `{"recordsTotal":${list.isUnfiltered ? now : Math.max(total, now)},"recordsFiltered":${now},"data":[${rows.map((r) => r.row).join(',')}]}`,
    )
  }

  /** Rows under a condition as the list shows them, in its default order; for details. */
  const rowsWhere = async (condition: SqlFragment, limit: number): Promise<string[]> => {
    const list: CompiledList = { ...compileList(spec, {}), where: condition }
    return (await db.prepared<{ row: string }>(pageStatement(spec, list, 0, limit, true))).map((r) => r.row)
  }

  return { page, rowsWhere, countOf, compile: (query: Readonly<Record<string, unknown>>) => compileList(spec, query) }
}
