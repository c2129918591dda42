import type { Readable } from 'node:stream'
import { Worker } from 'node:worker_threads'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import { guarded } from '@portcullis/platform/server/body.ts'
import type { TableJob } from './document.ts'
import type { FromWorker, ToWorker } from './messages.ts'

/** Concurrent files: a small one need not wait for a large one, while a third would only slow both. */
const atOnce = 2
/** Queued files; each takes about a second. */
const mostWaiting = 8
/** Files that their readers, who may be slow, have not finished reading; about 3 MB each. */
const mostOpen = 32
/** Text of all rows: 10,000 rows of 6 KB. */
const mostRowBytes = 64 * 1024 * 1024
/**
 * Time limit of a file; a slower thread hangs. Files take less than 3 s on a quiet machine. The threads have a low
 * priority: beside 13 busy processes on two cores, a second of work takes a minute.
 */
const mostMs = 120_000

const busy = (): AppError => new AppError('unavailable', {}, { headers: { 'retry-after': '5' } })

export interface PrintRequest {
  job: TableJob
  /** Opens the rows in COPY's text form when printing starts. More than `maxRows` rows are refused. */
  rows(): Readable
  maxRows: number
  /** Builds the error for a table with too many rows. */
  tooLarge(): AppError
}

interface Task extends PrintRequest {
  body: ReturnType<typeof guarded>
}

export type Printer = ReturnType<typeof createPrinter>

/** Prints tables as PDF in long-lived worker threads, which open the fonts once. */
export const createPrinter = () => {
  const idle: Worker[] = []
  const all = new Set<Worker>()
  const waiting: Task[] = []
  let printing = 0
  let open = 0
  let isClosed = false

  function start(): Worker {
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      // A thread that needs more memory ends, and only its file fails.
      resourceLimits: { maxOldGenerationSizeMb: 512 },
      env: {},
    })
    worker.unref()
    all.add(worker)
    worker.once('exit', () => {
      all.delete(worker)
      const at = idle.indexOf(worker)
      if (at >= 0) idle.splice(at, 1)
    })
    worker.on('error', () => {})
    return worker
  }

  /** Resolves with the last message of the thread; the PDF itself goes to the body. */
  const answerOf = (worker: Worker, body: Task['body'], signal: AbortSignal): Promise<FromWorker> =>
    new Promise((resolve, reject) => {
      function hear(message: FromWorker): void {
        if (message.kind === 'bytes') body.write(message.bytes)
        else end(() => resolve(message))
      }
      const fail = (error: unknown): void => end(() => reject(error))
      const onExit = (): void => fail(new Error('the PDF thread ended unexpectedly'))
      const onAbort = (): void => fail(signal.reason)
      function end(say: () => void): void {
        worker.off('message', hear).off('error', fail).off('exit', onExit)
        signal.removeEventListener('abort', onAbort)
        say()
      }
      worker.on('message', hear).on('error', fail).on('exit', onExit)
      signal.addEventListener('abort', onAbort)
    })

  async function feed(worker: Worker, rows: Readable, tooLarge: () => AppError): Promise<void> {
    let bytes = 0
    for await (const chunk of rows as AsyncIterable<Buffer>) {
      bytes += chunk.length
      if (bytes > mostRowBytes) throw tooLarge()
      worker.postMessage({ kind: 'rows', bytes: chunk } satisfies ToWorker)
    }
    worker.postMessage({ kind: 'end' } satisfies ToWorker)
  }

  async function printOn(worker: Worker, { job, rows: openRows, maxRows, tooLarge, body }: Task): Promise<void> {
    const cancelled = new SharedArrayBuffer(4)
    const rows = openRows()
    function onLeave(): void {
      Atomics.store(new Int32Array(cancelled), 0, 1)
      rows.destroy()
    }
    body.once('close', onLeave)
    worker.postMessage({ kind: 'job', job, maxRows, cancelled } satisfies ToWorker)
    try {
      const [answer] = await Promise.all([
        answerOf(worker, body, AbortSignal.timeout(mostMs)),
        feed(worker, rows, tooLarge),
      ])
      if (answer.kind === 'tooMany') throw tooLarge()
      if (answer.kind === 'failed') throw new Error(`cannot print a PDF: ${answer.message}`)
      body.end()
    } finally {
      body.off('close', onLeave)
      rows.destroy()
    }
  }

  function next(): void {
    while (printing < atOnce) {
      const task = waiting.shift()
      if (task === undefined) return
      if (task.body.destroyed) continue
      printing++
      const worker = idle.pop() ?? start()
      printOn(worker, task)
        .then(
          () => {
            if (!isClosed) idle.push(worker)
          },
          (error: Error) => {
            // The next job starts with a clean thread.
            worker.terminate()
            task.body.destroy(error)
          },
        )
        .finally(() => {
          printing--
          next()
        })
    }
  }

  return {
    /** Returns the file while it is printed. Throws if too many wait already. */
    print: (request: PrintRequest): Readable => {
      if (isClosed || waiting.length >= mostWaiting || open >= mostOpen) throw busy()
      const body = guarded()
      open++
      body.once('close', () => {
        open--
        const at = waiting.findIndex((task) => task.body === body)
        if (at >= 0) waiting.splice(at, 1)
      })
      waiting.push({ ...request, body })
      next()
      return body
    },
    close: async (): Promise<void> => {
      isClosed = true
      for (const { body } of waiting.splice(0)) body.destroy(busy())
      await Promise.all([...all].map((worker) => worker.terminate()))
    },
  }
}
