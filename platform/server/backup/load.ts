import { once } from 'node:events'
import { finished } from 'node:stream/promises'
import { mustExist } from '@portcullis/domain'
import type pg from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { ArchiveError, type ArchivePart, type ArchiveTable } from './archive.ts'
import { restoreMark } from './mark.ts'
import { columnList, fingerprintOf, type TableShape, tableName, tablesOf, textSettings } from './tables.ts'

export interface Loaded {
  tables: number
  rows: number
  /** Content of the key file, if the backup contains it. */
  keyFile: string | null
}

/** Events are stored in partitions of this many ids, which must exist (migration 0025). */
const eventRange = 5_000_000
/** Ten thousand partitions; no server writes a higher number. */
const lastEventLimit = 50_000_000_000

export interface LoadOptions {
  /** Whether the archive is encrypted: only then may it hold keys. */
  mayHoldKeys: boolean
  /** Stores the key file before the rows are committed, so that they never exist without it. */
  keepKeys: (keyFile: string) => void
}

/** Loads a backup, completely or not at all, into an empty database with the backup's schema. */
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
    // Triggers count and guard changes by people; these rows were counted and guarded when they changed.
    for (const shape of shapes.values()) await client.query(`ALTER TABLE ${tableName(shape)} DISABLE TRIGGER USER`)
    for (const shape of [...shapes.values()].reverse()) await client.query(`DELETE FROM ${tableName(shape)}`)
    const found: ArchiveTable[] = []
    let sequences: Record<string, number> = {}
    let keyFile: string | null = null
    for await (const part of parts) {
      if (part.kind === 'keys') {
        if (!mayHoldKeys)
          throw new ArchiveError('The backup contains keys but is not encrypted. No server writes such a file.')
        keyFile = part.content
      } else if (part.kind === 'sequences') {
        sequences = part.values
        await makeEventPartitions(client, part.lastEvent)
      } else if (part.kind === 'table') {
        const shape = shapes.get(part.table)
        if (shape === undefined || shape.columns.join() !== part.columns.join())
          throw new ArchiveError(`The backup has a table ${part.table}, which its schema does not have.`)
        found.push(part)
        copy = client.query(copyFrom(`COPY ${tableName(shape)} (${columnList(shape)}) FROM STDIN`))
        // A database error ends the stream and is thrown at the end of the table.
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
    // An unfinished COPY would keep the connection waiting for rows.
    ;(copy as ReturnType<typeof copyFrom> | null)?.destroy(error as Error)
    await client.query('ROLLBACK').catch(() => {})
    // Rows arrive before the tag of the file is checked, so changed ones may not fit their columns.
    if (/^2[23]/.test(String((error as { code?: unknown }).code)))
      throw new ArchiveError(`The file was changed, or is damaged: ${(error as Error).message}.`)
    throw error
  }
}

/** Waits until the stream can take more or closes, and removes the other listener. */
const roomOf = async (copy: ReturnType<typeof copyFrom>): Promise<void> => {
  const waiting = new AbortController()
  const { signal } = waiting
  await Promise.race([once(copy, 'drain', { signal }), once(copy, 'close', { signal })]).finally(() => waiting.abort())
}

const makeEventPartitions = async (client: pg.ClientBase, last: number): Promise<void> => {
  if (!(last <= lastEventLimit)) throw new ArchiveError(`The backup names an impossible event number: ${last}.`)
  for (let id = 0; id <= last + eventRange; id += eventRange)
    await client.query('SELECT ensure_event_partitions($1)', [id])
}

/** Throws unless the backup has every table of the schema with the stated content. */
const check = async (
  client: pg.ClientBase,
  shapes: ReadonlyMap<string, TableShape>,
  found: readonly ArchiveTable[],
): Promise<void> => {
  const missing = [...shapes.keys()].filter((name) => !found.some(({ table }) => table === name))
  if (missing.length > 0)
    throw new ArchiveError(`The backup lacks ${missing.length} tables, for example ${missing[0]}.`)
  for (const { table, rows, checksum } of found) {
    const now = await fingerprintOf(client, mustExist(shapes.get(table), 'the table'))
    if (now.rows !== rows || now.checksum !== checksum)
      throw new ArchiveError(
        `Table ${table} differs from the backup: it has ${now.rows} rows instead of ${rows}, or other content.`,
      )
  }
}
