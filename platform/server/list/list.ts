import { paging } from '../../contract/operation.ts'
import type { Clock } from '../clock.ts'
import type { Db } from '../db/db.ts'
import { raw, type SqlFragment, sql } from '../db/sql.ts'
import { JsonStream, JsonText } from '../http/answer.ts'
import { largePage } from '../http/heavy-work.ts'
import { type CompiledList, compileList, countedPageStatement, type ListSpec, pageStatement } from './compile.ts'
import { countStatement, createCounts } from './counts.ts'
import { streamList } from './stream.ts'

/** Pages with more rows are streamed; for smaller ones, one round trip is cheaper. */
const streamFrom = largePage
/** Share of rows below which the filter runs first and its rows are sorted; above it, the sort index is scanned. */
const filterFirstShare = 0.05
const isFew = (filtered: number, total: number): boolean => filtered < Math.max(total * filterFirstShare, 500)

export interface ListDeps {
  /** Pool for short statements. */
  db: Db
  /** Pool for long reads; each stream takes one connection. */
  exportDb: Db
  clock: Clock
}

export type List = ReturnType<typeof createList>

/** A list of the API: filters, exact counts and pages up to a million rows, all from one compiled filter. */
export const createList = (spec: ListSpec, { db, exportDb, clock }: ListDeps) => {
  const counts = createCounts(db, clock)
  const from = raw(spec.from)

  const statementOf = (list: CompiledList): SqlFragment => list.count ?? countStatement(from, list.where)
  const countOf = (list: CompiledList): Promise<number> => counts.of(statementOf(list))

  const rowsOf = async (statement: SqlFragment): Promise<string[]> =>
    (await db.prepared<{ row: string }>(statement)).map(({ row }) => row)

  /**
   * Returns the rows of a page and the counts of list and filter. The number of matches decides how rows are found;
   * both ways find the same ones. The last count is good enough for that decision. The new count runs concurrently with the rows,
   * or with them if all matches are sorted anyway.
   */
  async function rowsAndCounts(list: CompiledList, totalStatement: SqlFragment, offset: number, limit: number) {
    const filteredStatement = list.isUnfiltered ? totalStatement : statementOf(list)
    const [lastTotal, last] = [counts.last(totalStatement), counts.last(filteredStatement)]
    const isGuessed = last !== undefined && lastTotal !== undefined && offset < last
    if (isGuessed && !list.isUnfiltered && isFew(last, lastTotal)) {
      let rows: string[] | undefined
      const [total, filtered] = await Promise.all([
        counts.of(totalStatement),
        counts.of(filteredStatement, async () => {
          const all = await db.prepared<{ row: string | null; n: number | null }>(
            countedPageStatement(spec, list, offset, limit),
          )
          rows = all.flatMap(({ row }) => row ?? [])
          return all.find(({ n }) => n !== null)?.n ?? 0
        }),
      ])
      return { total, filtered, rows: rows ?? (await rowsOf(pageStatement(spec, list, offset, limit, true))) }
    }
    const asked = Promise.all([counts.of(totalStatement), counts.of(filteredStatement)])
    if (isGuessed) {
      const [rows, [total, filtered]] = await Promise.all([
        rowsOf(pageStatement(spec, list, offset, limit, false)),
        asked,
      ])
      return { total, filtered, rows }
    }
    const [total, filtered] = await asked
    const filterFirst = !list.isUnfiltered && isFew(filtered, total)
    const rows =
      offset > 0 && offset >= filtered ? [] : await rowsOf(pageStatement(spec, list, offset, limit, filterFirst))
    return { total, filtered, rows }
  }

  /** Returns a page that is large enough to stream, else undefined. */
  async function streamed(
    list: CompiledList,
    totalStatement: SqlFragment,
    offset: number,
    limit: number,
  ): Promise<JsonStream | undefined> {
    const filteredStatement = list.isUnfiltered ? totalStatement : statementOf(list)
    const [total, filtered] = await Promise.all([counts.of(totalStatement), counts.of(filteredStatement)])
    if (Math.min(limit, filtered - offset) <= streamFrom) return undefined
    const filterFirst = !list.isUnfiltered && isFew(filtered, total)
    const rows = pageStatement(spec, list, offset, limit, filterFirst)
    return new JsonStream(streamList(exportDb, { total: totalStatement, filtered: filteredStatement, rows }))
  }

  /** Returns one page. `scope` narrows the list itself, so recordsTotal leaves those rows out too. */
  async function page(query: Readonly<Record<string, unknown>>, scope?: SqlFragment): Promise<JsonText | JsonStream> {
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
    const stream = limit > streamFrom ? await streamed(list, totalStatement, offset, limit) : undefined
    if (stream !== undefined) return stream
    const { total, filtered, rows } = await rowsAndCounts(list, totalStatement, offset, limit)
    // Counts may be a second old, but rows are current: a page shows every announced change.
    const end = offset + rows.length
    // A page past the end shows only that the count does not reach it.
    const now = rows.length === 0 ? Math.min(filtered, offset) : rows.length < limit ? end : Math.max(filtered, end)
    return new JsonText(
      `{"recordsTotal":${list.isUnfiltered ? now : Math.max(total, now)},"recordsFiltered":${now},"data":[${rows.join(',')}]}`,
    )
  }

  /** Returns rows under a condition as the list shows them, in its default order; for details. */
  async function rowsWhere(condition: SqlFragment, limit: number): Promise<string[]> {
    const list: CompiledList = { ...compileList(spec, {}), where: condition }
    return rowsOf(pageStatement(spec, list, 0, limit, true))
  }

  return { page, rowsWhere, countOf, compile: (query: Readonly<Record<string, unknown>>) => compileList(spec, query) }
}
