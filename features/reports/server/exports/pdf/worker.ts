/** Worker thread that prints tables. It opens the fonts once. */
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { createCopyReader } from './copy-rows.ts'
import { type Cells, createCells, printTable } from './document.ts'
import { openFonts } from './fonts.ts'
import type { FromWorker, ToWorker } from './messages.ts'

// Linux has priorities per thread: printing must not slow requests of hosts and people.
if (process.platform === 'linux') setPriority(10)
const fonts = openFonts()
/** The current file. Its rows become printable while the database still sends more. */
let current: (Extract<ToWorker, { kind: 'job' }> & { cells: Cells; add(bytes: Uint8Array): void }) | undefined

const say = (message: FromWorker, transfer: readonly ArrayBuffer[] = []): void => {
  parentPort?.postMessage(message, transfer)
}

const print = async (): Promise<void> => {
  if (current === undefined) return
  const { job, maxRows, cancelled, cells } = current
  current = undefined
  if (cells.rows.length > maxRows) {
    say({ kind: 'tooMany' })
    return
  }
  const flag = new Int32Array(cancelled)
  await printTable(fonts, job, cells, {
    // A copy with its own buffer, which can be transferred.
    emit: (bytes) => {
      const own = new Uint8Array(bytes)
      say({ kind: 'bytes', bytes: own }, [own.buffer])
    },
    isCancelled: () => Atomics.load(flag, 0) === 1,
  })
  say({ kind: 'done' })
}

parentPort?.on('message', async (message: ToWorker) => {
  try {
    if (message.kind === 'job') {
      const cells = createCells(fonts, message.job)
      current = { ...message, cells, add: createCopyReader(cells.add).add }
    } else if (message.kind === 'rows') current?.add(message.bytes)
    else await print()
  } catch (error) {
    current = undefined
    say({ kind: 'failed', message: (error as Error).stack ?? String(error) })
  }
})
