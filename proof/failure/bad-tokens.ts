/** Sends bad tokens at a fixed rate from its own thread, so that sending them does not delay the measurement. */

import { randomBytes } from 'node:crypto'
import { connect, type Socket } from 'node:net'
import { setPriority } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { parentPort, Worker, workerData } from 'node:worker_threads'
import { agentPaths, getAgents } from '@portcullis/contract'

const tickMs = 10
const connections = 20

interface Counts {
  sent: number
  refused: number
  /** Numbers of responses other than 401, by status. */
  others: Record<string, number>
  seconds: number
}

/** Returns a request with a random token of the correct length. Half of them call as hosts, half as people. */
const badRequest = (index: number): string =>
  `GET ${index % 2 === 0 ? `${agentPaths.knowledge}/${'0'.repeat(64)}` : getAgents.path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${randomBytes(48).toString('base64url')}\r\n\r\n`

const send = async (url: URL, perSecond: number, isOver: () => boolean): Promise<Counts> => {
  const counts: Counts = { sent: 0, refused: 0, others: {}, seconds: 0 }
  let answered = 0
  const open = (): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const socket = connect({ host: url.hostname, port: Number(url.port), noDelay: true }, () => resolve(socket))
      let rest = ''
      socket.on('error', reject)
      socket.on('data', (chunk: Buffer) => {
        const text = rest + chunk.toString('latin1')
        let end = 0
        for (const found of text.matchAll(/HTTP\/1\.1 (\d{3})/g)) {
          const status = found[1] as string
          end = found.index + found[0].length
          answered += 1
          if (status === '401') counts.refused += 1
          else counts.others[status] = (counts.others[status] ?? 0) + 1
        }
        // A status line may be split between two chunks.
        rest = text.slice(Math.max(end, text.length - 11))
      })
    })
  const sockets = await Promise.all(Array.from({ length: connections }, open))
  const startedAt = performance.now()
  const seconds = (): number => (performance.now() - startedAt) / 1_000
  while (!isOver()) {
    // Catch up gradually: a burst would test something other than a steady stream.
    const due = Math.min(seconds() * perSecond - counts.sent, (3 * perSecond * tickMs) / 1_000)
    const each = Math.floor(due / connections)
    for (const socket of sockets) {
      let text = ''
      for (let i = 0; i < each; i++) text += badRequest(counts.sent++)
      if (text !== '') socket.write(text)
    }
    await pause(tickMs)
  }
  counts.seconds = seconds()
  for (let tries = 0; answered < counts.sent && tries < 100; tries++) await pause(50)
  for (const socket of sockets) socket.destroy()
  return counts
}

/** Starts the thread. `stop` waits for the last responses and returns the counts. */
export const startBadTokens = (url: string, perSecond: number) => {
  const over = new Int32Array(new SharedArrayBuffer(4))
  const worker = new Worker(new URL(import.meta.url), { workerData: { badTokens: { url, perSecond, over } } })
  const counts = new Promise<Counts>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  counts.catch(() => {})
  return {
    stop: (): Promise<Counts> => {
      Atomics.store(over, 0, 1)
      return counts
    },
  }
}

const { badTokens } = (workerData ?? {}) as { badTokens?: { url: string; perSecond: number; over: Int32Array } }
if (badTokens !== undefined) {
  // Lower the priority of this thread only: real attackers would not use this machine's CPU.
  setPriority(10)
  const { url, perSecond, over } = badTokens
  parentPort?.postMessage(await send(new URL(url), perSecond, () => Atomics.load(over, 0) === 1))
}
