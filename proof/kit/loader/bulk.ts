/** Loads tables fast: COPY first, then indexes and references. */
import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'

/** A value of a row for COPY. Objects become JSON, arrays of text become PostgreSQL arrays. */
export type Value = string | number | boolean | null | Date | Buffer | readonly string[] | object

const arrayLiteral = (items: readonly string[]): string =>
  `{${items.map((item) => `"${item.replace(/["\\]/g, '\\$&')}"`).join(',')}}`

const textOf = (value: Value): string => {
  if (value === null) return '\\N'
  if (typeof value === 'number') return String(value)
  if (typeof value === 'boolean') return value ? 't' : 'f'
  let text: string
  if (typeof value === 'string') text = value
  else if (value instanceof Date) return value.toISOString()
  else if (Buffer.isBuffer(value)) return `\\\\x${value.toString('hex')}`
  else if (Array.isArray(value)) text = arrayLiteral(value)
  else text = JSON.stringify(value)
  return /[\\\t\n\r]/.test(text)
    ? text.replace(/[\\\t\n\r]/g, (c) => (c === '\\' ? '\\\\' : c === '\t' ? '\\t' : c === '\n' ? '\\n' : '\\r'))
    : text
}

/** Copies rows into a table. */
export const copyRows = async (
  client: pg.ClientBase,
  table: string,
  columns: readonly string[],
  rows: readonly (readonly Value[])[],
): Promise<void> => {
  if (rows.length === 0) return
  const stream = client.query(copyFrom(`COPY ${table} (${columns.join(', ')}) FROM STDIN`))
  let text = ''
  for (const row of rows) {
    text += `${row.map(textOf).join('\t')}\n`
    if (text.length < 262_144) continue
    if (!stream.write(text)) await once(stream, 'drain')
    text = ''
  }
  stream.end(text)
  await finished(stream)
}

/**
 * Runs `work` without the tables' secondary indexes and references, and recreates them afterwards. This saves minutes
 * for a million agents.
 */
export const withoutIndexes = async (
  client: pg.ClientBase,
  tables: readonly string[],
  work: () => Promise<void>,
): Promise<void> => {
  const names = [...tables]
  const references = await client.query<{ relation: string; name: string; definition: string }>(
    `SELECT conrelid::regclass::text AS relation, conname AS name, pg_get_constraintdef(oid) AS definition
     FROM pg_constraint WHERE contype = 'f' AND conrelid::regclass::text = ANY($1)`,
    [names],
  )
  const indexes = await client.query<{ name: string; definition: string }>(
    `SELECT i.indexrelid::regclass::text AS name, pg_get_indexdef(i.indexrelid) AS definition FROM pg_index i
     WHERE i.indrelid::regclass::text = ANY($1) AND NOT EXISTS (SELECT FROM pg_constraint c WHERE c.conindid = i.indexrelid)`,
    [names],
  )
  for (const { relation, name } of references.rows)
    await client.query(`ALTER TABLE ${relation} DROP CONSTRAINT "${name}"`)
  for (const { name } of indexes.rows) await client.query(`DROP INDEX ${name}`)
  await work()
  await client.query(`SET maintenance_work_mem = '512MB'`)
  await client.query('SET max_parallel_maintenance_workers = 2')
  for (const { definition } of indexes.rows) await client.query(definition)
  for (const { relation, name, definition } of references.rows)
    await client.query(`ALTER TABLE ${relation} ADD CONSTRAINT "${name}" ${definition}`)
}
