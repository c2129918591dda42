import { type Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { to as copyTo } from 'pg-copy-streams'
import type { Db } from './db/db.ts'
import type { SqlFragment } from './db/sql.ts'
import { bindForCopy, guarded } from './list/stream.ts'

/**
 * First characters that make a spreadsheet run a cell as a formula, with their full-width variants, which some turn into
 * the plain ones while they read the file.
 */
const formulaStarts = ['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'] as const
const wouldRun = new RegExp(`^'*[${formulaStarts.map((c) => (c === '-' ? '\\-' : c)).join('')}]`)

/** A cell that no spreadsheet runs: an apostrophe goes before what would. `undefuse` takes it off again. */
export const defuse = (text: string): string => (wouldRun.test(text) ? `'${text}` : text)

/** What `defuse` was given. */
export const undefuse = (cell: string): string => (cell.startsWith("'") && wouldRun.test(cell) ? cell.slice(1) : cell)

/** SQL that defuses an expression of our own source as `defuse` does; not a regular expression, for speed. */
export const defusedSql = (expression: string): string =>
  `case when left(ltrim(${expression}, ''''), 1) = any(array[${formulaStarts.map((c) => `chr(${c.charCodeAt(0)})`).join(',')}]) then '''' || (${expression}) else (${expression}) end`

/** The byte order mark, by which spreadsheets know UTF-8. */
const bom = '\ufeff'

/** LF to CRLF outside quotes: PostgreSQL ends rows by LF, RFC 4180 by CRLF; what stands inside quotes is data. */
export const crlf = (): Transform => {
  let quoted = false
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      let ends = 0
      for (const byte of chunk) if (byte === 10) ends++
      const out = Buffer.allocUnsafe(chunk.length + ends)
      let at = 0
      for (const byte of chunk) {
        if (byte === 34) quoted = !quoted
        if (byte === 10 && !quoted) out[at++] = 13
        out[at++] = byte
      }
      done(null, out.subarray(0, at))
    },
  })
}

/**
 * A CSV file formed by the database while it is sent: byte order mark, header, rows in the statement's order. Columns of
 * text must be defused by the statement (`defusedSql`). Memory stays flat whatever the number of rows.
 */
export const streamCsv = (db: Db, header: readonly string[], rows: SqlFragment): Readable => {
  const body = guarded()
  db.withClient(async (client) => {
    await client.query('BEGIN READ ONLY')
    const copy = client.query(copyTo(`COPY (${await bindForCopy(client, rows)}) TO STDOUT WITH (FORMAT csv)`))
    body.write(`${bom}${header.join(',')}\r\n`)
    await pipeline(copy, crlf(), body)
    await client.query('COMMIT')
  }).catch((error: Error) => body.destroy(error))
  return body
}
