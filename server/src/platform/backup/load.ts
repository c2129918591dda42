import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { ArchiveError, type ArchivePart, type ArchiveTable } from './archive.ts'
import { restoreMark } from './mark.ts'
import { columnList, fingerprintOf, type TableShape, tableName, tablesOf, textSettings } from './tables.ts'

export interface Loaded {
  tables: number
  rows: number
  /** Content of the key file, when it was in the backup. */
  keyFile: string | null
}

/** Events are stored in ranges of so many ids, each a partition that has to be there (migration 0025). */
const eventRange = 5_000_000
/** Ten thousand partitions; more is no number that a server wrote. */
const lastEventLimit = 50_000_000_000

export interface LoadOptions {
  /** The archive is encrypted: only such a one may hold keys. */
  mayHoldKeys: boolean
  /** Stores the key file: before the rows are there for good, so that they never are without it. */
  keepKeys: (keyFile: string) => void
}

/** Fills a database that has the schema of the backup and nothing else: all of it or nothing. */
export const load = async (
  client: pg.ClientBase,
  parts: AsyncIterable<ArchivePart>,
  { mayHoldKeys, keepKeys }: LoadOptions,
): Promise<Loaded> => {
  await client.query('BEGIN')
  let copy: ReturnType<typeof copyFrom> | null = null
  try {
    await client.query(textSettings)
    await client.query(restoreMark.take)
    const shapes = new Map((await tablesOf(client)).map((shape) => [shape.table, shape]))
    // Triggers count and guard what people do; what is loaded was counted and guarded when they did it.
    for (const shape of shapes.values()) await client.query(`ALTER TABLE ${tableName(shape)} DISABLE TRIGGER USER`)
    for (const shape of [...shapes.values()].reverse()) await client.query(`DELETE FROM ${tableName(shape)}`)
    const found: ArchiveTable[] = []
    let sequences: Record<string, number> = {}
    let keyFile: string | null = null
    for await (const part of parts) {
      if (part.kind === 'keys') {
        if (!mayHoldKeys) throw new ArchiveError('Keys stand in a file that is not encrypted: no server writes that.')
        keyFile = part.content
      } else if (part.kind === 'sequences') {
        sequences = part.values
        await makeEventPartitions(client, part.lastEvent)
      } else if (part.kind === 'table') {
        const shape = shapes.get(part.table)
        if (shape === undefined || shape.columns.join() !== part.columns.join())
          throw new ArchiveError(`The backup has a table ${part.table} that its schema does not have.`)
        found.push(part)
        copy = client.query(copyFrom(`COPY ${tableName(shape)} (${columnList(shape)}) FROM STDIN`))
        // An error of the database ends the stream; it is thrown where the table ends.
        copy.on('error', () => {})
      } else if (part.kind === 'data') {
        if (copy !== null && !copy.destroyed && !copy.write(part.bytes)) await roomOf(copy)
      } else if (part.kind === 'tableEnd' && copy !== null) {
        copy.end()
        await finished(copy)
        copy = null
      }
    }
    await check(client, shapes, found)
    for (const [name, at] of Object.entries(sequences)) {
      const [table, column] = name.split('.')
      if (at > 0) await client.query('SELECT setval(pg_get_serial_sequence($1, $2), $3)', [table, column, at])
    }
    for (const shape of shapes.values()) await client.query(`ALTER TABLE ${tableName(shape)} ENABLE TRIGGER USER`)
    if (keyFile !== null) keepKeys(keyFile)
    await client.query('COMMIT')
    return { tables: found.length, rows: found.reduce((sum, { rows }) => sum + rows, 0), keyFile }
  } catch (error) {
    // A COPY that is not ended keeps the connection waiting for rows.
    ;(copy as ReturnType<typeof copyFrom> | null)?.destroy(error as Error)
    await client.query('ROLLBACK').catch(() => {})
    // Rows come before the tag of the file can be checked: changed ones may be no values of their columns.
    if (/^2[23]/.test(String((error as { code?: unknown }).code)))
      throw new ArchiveError(`The file was changed, or is damaged: ${(error as Error).message}.`)
    throw error
  }
}

/** Until more can be written; what did not come of the two is listened for no longer. */
const roomOf = async (copy: ReturnType<typeof copyFrom>): Promise<void> => {
  const waiting = new AbortController()
  const { signal } = waiting
  await Promise.race([once(copy, 'drain', { signal }), once(copy, 'close', { signal })]).finally(() => waiting.abort())
}

const makeEventPartitions = async (client: pg.ClientBase, last: number): Promise<void> => {
  if (!(last <= lastEventLimit)) throw new ArchiveError(`The backup names an event ${last} that there cannot be.`)
  for (let id = 0; id <= last + eventRange; id += eventRange)
    await client.query('SELECT ensure_event_partitions($1)', [id])
}

/** Throws unless every table of the schema is in the backup and holds what that says it held. */
const check = async (
  client: pg.ClientBase,
  shapes: ReadonlyMap<string, TableShape>,
  found: readonly ArchiveTable[],
): Promise<void> => {
  const missing = [...shapes.keys()].filter((name) => !found.some(({ table }) => table === name))
  if (missing.length > 0) throw new ArchiveError(`The backup lacks ${missing.length} tables, ${missing[0]} for one.`)
  for (const { table, rows, checksum } of found) {
    const now = await fingerprintOf(client, shapes.get(table) as TableShape)
    if (now.rows !== rows || now.checksum !== checksum)
      throw new ArchiveError(`Table ${table} has ${now.rows} rows where the backup says ${rows}, or other ones.`)
  }
}
