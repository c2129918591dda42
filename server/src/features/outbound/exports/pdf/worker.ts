/** Worker thread that prints tables. It opens the fonts once. */
import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { createCopyReader } from './copy-rows.ts'
import { printTable } from './document.ts'
import { openFonts } from './fonts.ts'
import type { FromWorker, ToWorker } from './messages.ts'

// Linux has priorities per thread: printing must not slow requests of hosts and people.
if (process.platform === 'linux') setPriority(10)
const fonts = openFonts()
let asked: Extract<ToWorker, { kind: 'job' }> | undefined
let reader = createCopyReader()

const say = (message: FromWorker, transfer: readonly ArrayBuffer[] = []): void => {
  parentPort?.postMessage(message, transfer)
}

const print = (): void => {
  const { rows } = reader
  reader = createCopyReader()
  if (asked === undefined) return
  const { job, maxRows, cancelled } = asked
  if (rows.length > maxRows) {
    say({ kind: 'tooMany' })
    return
  }
  const flag = new Int32Array(cancelled)
  printTable(fonts, job, rows, {
    // A copy with its own buffer, which can be transferred.
    emit: (bytes) => {
      const own = new Uint8Array(bytes)
      say({ kind: 'bytes', bytes: own }, [own.buffer])
    },
    isCancelled: () => Atomics.load(flag, 0) === 1,
  })
  say({ kind: 'done' })
}

parentPort?.on('message', (message: ToWorker) => {
  try {
    if (message.kind === 'job') asked = message
    else if (message.kind === 'rows') reader.add(message.bytes)
    else print()
  } catch (error) {
    reader = createCopyReader()
    say({ kind: 'failed', message: (error as Error).stack ?? String(error) })
  }
})
