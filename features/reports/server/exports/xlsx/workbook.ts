import { Readable } from 'node:stream'
import { guarded } from '@portcullis/platform/server/body.ts'
import { ZipFile } from 'yazl'
import { createCopyReader } from '../pdf/copy-rows.ts'
import { packageParts, sheetPath } from './package-parts.ts'
import { createSheet, maxSheetRows, type SheetColumn, stylesXml } from './sheet.ts'

export interface Workbook {
  /** Name of the worksheet. Further ones get a number. */
  title: string
  columns: readonly SheetColumn[]
  /** Lines of the worksheet that says what the file contains. */
  about: readonly string[]
  /** Time in the archive, in milliseconds since 1970. */
  at: number
}

/** Characters per piece: less than a millisecond of work, so that other requests run in between. */
const pieceCharacters = 64 * 1024
/** A worksheet below 4 GiB needs no ZIP64, which some readers lack. */
const maxSheet = { rows: maxSheetRows, bytes: 3 * 1024 ** 3 }

/**
 * Returns a workbook (XLSX) while it is written. `rows` are in COPY's text form. Memory use does not depend on their number:
 * the next rows are read when the reader has taken the bytes of the last.
 */
export const streamWorkbook = (
  { title, columns, about, at }: Workbook,
  rows: Readable,
  { rows: sheetRows, bytes: sheetBytes } = maxSheet,
): Readable => {
  const zip = new ZipFile()
  const times = { mtime: new Date(at) }
  const chunks = rows[Symbol.asyncIterator]()
  const waiting: string[][] = []
  const reader = createCopyReader((row) => waiting.push(row))
  let next = 0
  let sheets = 0

  /** Returns the next row, or undefined after the last. */
  async function peek(): Promise<string[] | undefined> {
    while (next === waiting.length) {
      waiting.length = next = 0
      const { done, value } = await chunks.next()
      if (done) return undefined
      reader.add(value as Buffer)
    }
    return waiting[next]
  }

  async function* sheetXml(): AsyncGenerator<string> {
    const sheet = createSheet(columns)
    let text = sheet.open()
    let bytes = 0
    let row = await peek()
    while (row !== undefined && sheet.rows() < sheetRows && bytes < sheetBytes) {
      next++
      text += sheet.row(row)
      if (text.length > pieceCharacters) {
        bytes += Buffer.byteLength(text)
        yield text
        text = ''
      }
      // Most rows are there already, and a promise each would cost more than the row.
      row = next < waiting.length ? waiting[next] : await peek()
    }
    yield text + sheet.close()
    if (row === undefined) finish()
    else addSheet()
  }

  function addSheet(): void {
    sheets++
    const entry = Readable.from(sheetXml(), { objectMode: false })
    entry.once('error', (error) => body.destroy(error))
    body.once('close', () => entry.destroy())
    zip.addReadStream(entry, sheetPath(sheets), times)
  }

  function finish(): void {
    const lines = createSheet([{ heading: 'About this file', kind: 'text', form: 'plain', labels: {} }])
    const aboutXml = `${lines.open()}${about.map((line) => lines.row([line])).join('')}${lines.close()}`
    for (const [path, text] of [
      [sheetPath(sheets + 1), aboutXml],
      ['xl/styles.xml', stylesXml],
      ...packageParts(title, sheets),
    ] as const)
      zip.addBuffer(Buffer.from(text), path, times)
    zip.end()
  }

  const body = guarded()
  body.once('close', () => rows.destroy())
  zip.outputStream.pipe(body)
  addSheet()
  return body
}
