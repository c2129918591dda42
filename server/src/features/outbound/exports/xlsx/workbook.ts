import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { guarded } from '#platform/list/stream.ts'
import type { FromWorkbook, ToWorkbook, WorkbookJob } from './messages.ts'
import { maxSheetRows } from './sheet.ts'

/**
 * Returns a workbook (XLSX) while a thread of its own writes it. `rows` opens the rows in COPY's text form. Memory use does not
 * depend on their number: the thread takes the next rows only when the reader has taken the bytes of the last.
 */
export const streamWorkbook = (
  job: Omit<WorkbookJob, 'sheetRows'>,
  rows: () => Readable,
  sheetRows = maxSheetRows,
): Readable => {
  const body = guarded()
  const worker = new Worker(new URL('./worker.ts', import.meta.url), {
    workerData: { ...job, sheetRows } satisfies WorkbookJob,
    // A thread that needs more memory ends, and only its file fails.
    resourceLimits: { maxOldGenerationSizeMb: 128, maxYoungGenerationSizeMb: 8 },
    env: {},
  })
  const source = rows()
  const tell = (message: ToWorkbook): void => worker.postMessage(message)
  let taken = (): void => {}
  worker.on('message', (message: FromWorkbook) => {
    if (message.kind === 'bytes') body.write(message.bytes)
    else if (message.kind === 'taken') taken()
    else body.end()
  })
  worker.once('error', (error) => body.destroy(error))
  worker.once('exit', () => {
    if (!body.writableEnded) body.destroy(new Error('the thread of the workbook ended unexpectedly'))
  })
  body.once('close', () => {
    source.destroy()
    void worker.terminate()
    taken()
  })
  async function feed(): Promise<void> {
    for await (const chunk of source as AsyncIterable<Buffer>) {
      await new Promise<void>((resolve) => {
        taken = resolve
        tell(chunk)
      })
      if (body.writableNeedDrain) await Promise.race([once(body, 'drain'), once(body, 'close')])
      if (body.destroyed) return
    }
    tell(null)
  }
  feed().catch((error: Error) => body.destroy(error))
  return body
}
