/** Worker thread that writes one workbook. */
import { setPriority } from 'node:os'
import { PassThrough } from 'node:stream'
import { parentPort, workerData } from 'node:worker_threads'
import { ZipFile } from 'yazl'
import { createCopyReader } from '../pdf/copy-rows.ts'
import type { FromWorkbook, ToWorkbook, WorkbookJob } from './messages.ts'
import { packageParts, sheetPath } from './package-parts.ts'
import { createSheet, stylesXml } from './sheet.ts'

// Linux has priorities per thread: an export must not slow requests of hosts and people.
if (process.platform === 'linux') setPriority(10)

const { title, columns, about, at, sheetRows } = workerData as WorkbookJob
const zip = new ZipFile()
const times = { mtime: new Date(at) }
/** A worksheet below 4 GiB needs no ZIP64, which some readers lack. */
const maxSheetBytes = 3 * 1024 ** 3

const say = (message: FromWorkbook): void => parentPort?.postMessage(message)

let sheets = 0
let sheet = createSheet(columns)
let bytes = 0
let entry: PassThrough

function openSheet(): void {
  sheets++
  bytes = 0
  sheet = createSheet(columns)
  entry = new PassThrough()
  zip.addReadStream(entry, sheetPath(sheets), times)
  entry.write(sheet.open())
}

let pending = ''
const reader = createCopyReader((row) => {
  if (sheet.rows() === sheetRows || bytes > maxSheetBytes) {
    entry.end(pending + sheet.close())
    pending = ''
    openSheet()
  }
  const xml = sheet.row(row)
  bytes += xml.length
  pending += xml
})

const addText = (path: string, text: string): void => zip.addBuffer(Buffer.from(text), path, times)

function finish(): void {
  entry.end(pending + sheet.close())
  const lines = createSheet([{ heading: 'About this file', kind: 'text', form: 'plain', labels: {} }])
  addText(sheetPath(sheets + 1), `${lines.open()}${about.map((line) => lines.row([line])).join('')}${lines.close()}`)
  addText('xl/styles.xml', stylesXml)
  for (const [path, text] of packageParts(title, sheets)) addText(path, text)
  zip.end()
}

zip.outputStream.on('data', (chunk: Buffer) => say({ kind: 'bytes', bytes: chunk }))
zip.outputStream.on('end', () => say({ kind: 'done' }))
openSheet()

parentPort?.on('message', (rows: ToWorkbook) => {
  if (rows === null) {
    finish()
    return
  }
  reader.add(rows)
  const text = pending
  pending = ''
  // The callback comes once the archive has taken the text, so no more than one piece waits.
  entry.write(text, () => say({ kind: 'taken' }))
})
