import type { Queryable, Tx } from './db/db.ts'
import { raw, sql } from './db/sql.ts'

/** A column of sealed secrets, declared by the capability that owns the table. A change of the sealing key rewrites it. */
export interface SealedColumn {
  table: string
  /** SQL expression that identifies a row as text; unique in the table. */
  key: string
  column: string
  /** Returns the context to which the ciphertext of a row is bound. */
  context(key: string): string
}

/** Counts the sealed secrets in a column. */
export const countCiphertexts = async (q: Queryable, { table, column }: SealedColumn): Promise<number> => {
  const [row] = await q.query<{ n: number }>(
    sql`select count(*)::int as n from ${raw(table)} t where t.${raw(column)} is not null`,
  )
  return row?.n ?? 0
}

/** Returns the ciphertexts after a row, in the order of their keys, and locks the rows until the transaction ends. */
export const lockCiphertexts = (
  tx: Tx,
  { table, key, column }: SealedColumn,
  after: string,
  limit: number,
): Promise<{ key: string; ciphertext: Buffer }[]> =>
  tx.query<{ key: string; ciphertext: Buffer }>(sql`
    select ${raw(key)} as key, t.${raw(column)} as ciphertext from ${raw(table)} t
    where t.${raw(column)} is not null and ${raw(key)} > ${after}::text order by ${raw(key)} limit ${limit}::int for update of t`)

/** Writes the ciphertexts of locked rows. */
export const writeCiphertexts = async (
  tx: Tx,
  { table, key, column }: SealedColumn,
  rows: readonly { key: string; ciphertext: Buffer }[],
): Promise<void> => {
  await tx.execute(sql`
    update ${raw(table)} t set ${raw(column)} = decode(u.ciphertext, 'base64')
    from unnest(${rows.map((row) => row.key)}::text[], ${rows.map((row) => row.ciphertext.toString('base64'))}::text[]) u(key, ciphertext)
    where ${raw(key)} = u.key`)
}
