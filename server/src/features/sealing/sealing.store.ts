import type { Queryable, Tx } from '#platform/db/db.ts'
import { raw, sql } from '#platform/db/sql.ts'
import type { SealedColumn } from '#platform/sealed-column.ts'

export const createSealingStore = () => ({
  /** Whether such a job runs or waits; nobody else starts one until the transaction ends. */
  isUnderWay: async (tx: Tx, kind: string): Promise<boolean> => {
    await tx.execute(sql`select pg_advisory_xact_lock(hashtext(${kind}))`)
    return (await tx.query(sql`select 1 from jobs j where j.kind = ${kind} and j.state = 'running'`)).length > 0
  },

  count: async (q: Queryable, { table, column }: SealedColumn): Promise<number> =>
    (
      await q.query<{ n: number }>(
        sql`select count(*)::int as n from ${raw(table)} t where t.${raw(column)} is not null`,
      )
    )[0]?.n ?? 0,

  /** Boxes behind a row, in the order of their keys, locked until the transaction ends. */
  some: (tx: Tx, { table, key, column }: SealedColumn, after: string, limit: number) =>
    tx.query<{ key: string; box: Buffer }>(sql`
      select ${raw(key)} as key, t.${raw(column)} as box from ${raw(table)} t
      where t.${raw(column)} is not null and ${raw(key)} > ${after}::text order by ${raw(key)} limit ${limit}::int for update of t`),

  write: async (
    tx: Tx,
    { table, key, column }: SealedColumn,
    rows: readonly { key: string; box: Buffer }[],
  ): Promise<void> => {
    await tx.execute(sql`
      update ${raw(table)} t set ${raw(column)} = decode(u.box, 'base64')
      from unnest(${rows.map((row) => row.key)}::text[], ${rows.map((row) => row.box.toString('base64'))}::text[]) u(key, box)
      where ${raw(key)} = u.key`)
  },
})

export type SealingStore = ReturnType<typeof createSealingStore>
