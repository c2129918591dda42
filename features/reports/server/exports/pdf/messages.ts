import type { TableJob } from './document.ts'

/** Messages from the main thread to the worker; one job at a time. */
export type ToWorker =
  | {
      kind: 'job'
      job: TableJob /** Rows above this are refused. */
      maxRows: number /** One 32-bit number, 1 once nobody waits. */
      cancelled: SharedArrayBuffer
    }
  | { kind: 'rows'; bytes: Uint8Array }
  | { kind: 'end' }

/** Messages from the worker. */
export type FromWorker =
  | { kind: 'bytes'; bytes: Uint8Array }
  | { kind: 'done' }
  | { kind: 'tooMany' }
  | { kind: 'failed'; message: string }
