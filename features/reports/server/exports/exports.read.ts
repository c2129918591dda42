import { PassThrough, type Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { streamCsv } from '@portcullis/platform/server/csv.ts'
import { copyOut } from '@portcullis/platform/server/db/copy-out.ts'
import type { Db } from '@portcullis/platform/server/db/db.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { type CompiledList, cellsStatement, type ListSpec } from '@portcullis/platform/server/list/compile.ts'
import { bindForCopy } from '@portcullis/platform/server/list/stream.ts'
import type { ExportForm } from '#features/contract.ts'
import { readableSql } from './cell-text.ts'
import type { ExportRequest } from './export-request.ts'
import { csvColumns, type ExportColumn } from './exportable-list.ts'

/** Returns the SQL of a cell as text: COPY would write booleans as t and f, and lists in braces. */
const plainCell = ({ key, kind }: ExportColumn): string => {
  if (kind === 'codes') return `array_to_string(t."${key}", ', ')`
  return kind === 'boolean' ? `t."${key}"::text` : `t."${key}"`
}

const readableCell = (column: ExportColumn): string =>
  column.kind === 'codes' ? plainCell(column) : readableSql(column, `t."${column.key}"`)

/**
 * Adds the number of approved attached devices to the list of models. It subtracts the unapproved ones, which are few
 * and indexed; counting the approved ones would read every peripheral.
 */
export const withApproved = (models: ListSpec): ListSpec => ({
  ...models,
  rowJoins: `${models.rowJoins} left join (
    select d.model_id, count(*) as n from peripherals p join designs d on d.design_id = p.design_id
    where p.unapproved and p.present group by d.model_id) u on u.model_id = m.model_id`,
  rowSelect: `${models.rowSelect}, greatest(m.devices - coalesce(u.n, 0), 0) as "approvedCount"`,
})

/** A range of time: from an instant (null: from the beginning), before another. */
export interface TimeRange {
  from: Date | null
  to: Date
}

/** Restricts a compiled list to the rows within a range of time. */
export const withinRange = (list: CompiledList, time: string, { from, to }: TimeRange): CompiledList => {
  const column = raw(time)
  const lower = from === null ? raw('true') : sql`${column} >= ${from.toISOString()}::timestamptz`
  const { count: _, walkWhere: __, ...rest } = list
  return {
    ...rest,
    where: sql`(${list.where}) and ${lower} and ${column} < ${to.toISOString()}::timestamptz`,
    isUnfiltered: false,
  }
}

/** Reads rows for exports; `exportDb` is the pool for long reads. */
export const createExportsRead = ({ exportDb }: { exportDb: Db }) => ({
  /** Returns the rows as CSV, formatted by the database while they are sent. */
  csv: ({ list, compiled, columns }: ExportRequest, form: ExportForm): Readable =>
    streamCsv(
      exportDb,
      csvColumns(columns, form),
      cellsStatement(list.spec, compiled, columns.map(form === 'fixed' ? plainCell : readableCell), {
        plan: list.plan,
      }),
    ),

  /** Returns all rows, or the first `limit`, in COPY's text form. */
  rows: ({ list, compiled }: ExportRequest, columns: readonly ExportColumn[], limit?: number): Readable => {
    const body = new PassThrough()
    exportDb
      .withClient(async (client) => {
        await client.query('BEGIN READ ONLY')
        const statement = cellsStatement(list.spec, compiled, columns.map(plainCell), {
          plan: list.plan,
          ...(limit === undefined ? {} : { limit }),
        })
        await pipeline(copyOut(client, `COPY (${await bindForCopy(client, statement)}) TO STDOUT`), body)
        await client.query('COMMIT')
      })
      .catch((error: Error) => body.destroy(error))
    return body
  },
})
