import type pg from 'pg'
import { copyOut } from '../db/copy-out.ts'
import type { ArchivePart } from './archive.ts'
import { columnList, fingerprintOf, sequencesOf, tableName, tablesOf, textSettings } from './tables.ts'

/** Returns the schema version of a database. */
export const schemaOf = async (client: pg.ClientBase): Promise<number> => {
  const { rows } = await client.query<{ v: number }>('SELECT coalesce(max(version), 0) AS v FROM schema_migrations')
  return rows[0]?.v ?? 0
}

/** Yields a snapshot of the whole database, table by table, while the server keeps running. */
export async function* dump(client: pg.ClientBase, keyFile: string | null): AsyncGenerator<ArchivePart> {
  await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY')
  try {
    await client.query(textSettings)
    if (keyFile !== null) yield { kind: 'keys', content: keyFile }
    const { rows } = await client.query<{ n: string }>("SELECT n::text FROM ordered_head WHERE stream = 'events'")
    yield { kind: 'sequences', values: await sequencesOf(client), lastEvent: Number(rows[0]?.n ?? 0) }
    for (const shape of await tablesOf(client)) {
      yield { kind: 'table', ...shape, ...(await fingerprintOf(client, shape)) }
      const rows = copyOut(client, `COPY (SELECT ${columnList(shape)} FROM ${tableName(shape)}) TO STDOUT`)
      for await (const bytes of rows as AsyncIterable<Buffer>) yield { kind: 'data', bytes }
      yield { kind: 'tableEnd' }
    }
    yield { kind: 'end' }
    await client.query('COMMIT')
  } catch (error) {
    // After an interrupted COPY the connection does not answer; its owner closes it.
    client.query('ROLLBACK').catch(() => {})
    throw error
  }
}
