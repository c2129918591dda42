import type { SheetColumn } from './sheet.ts'

export interface WorkbookJob {
  /** Name of the worksheet. Further ones get a number. */
  title: string
  columns: readonly SheetColumn[]
  /** Lines of the worksheet that says what the file contains. */
  about: readonly string[]
  /** Time in the archive, in milliseconds since 1970. */
  at: number
  /** Rows of a worksheet; the next row starts another one. */
  sheetRows: number
}

/** Messages from the main thread: rows in COPY's text form, and `null` after the last. */
export type ToWorkbook = Uint8Array | null

/** Messages from the worker. `taken`: it waits for the next rows. */
export type FromWorkbook = { kind: 'bytes'; bytes: Uint8Array } | { kind: 'taken' } | { kind: 'done' }
