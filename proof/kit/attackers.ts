/** Attackers in separate processes, so that they do not delay the measurement. The parent sends each process one order. */
import { fork } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setPriority } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectTls, createSecureContext } from 'node:tls'
import { fileURLToPath } from 'node:url'
import { agentPaths } from '@portcullis/contract/agent-protocol.ts'

/** Opens connections and keeps them open. */
export interface HoldOrder {
  does: 'hold'
  url: string
  ca?: string | undefined
  count: number
  /** Number of the first client, which determines its address. */
  first?: number
  /** Source addresses of the clients, in turn. Absent: all come from 127.0.0.1. */
  addresses?: number
  /** What the clients send, in turn. */
  heads: readonly string[]
  /** Connections opened per second. */
  perSecond: number
  /** What a client reads: all, a byte every ten seconds, or nothing. */
  reads: 'all' | 'slowly' | 'nothing'
  /** Text that each client sends repeatedly. */
  writes?: { text: string; everyMs: number }
  /** Time until a closed connection is opened again. Absent: never. */
  againMs?: number
}

/** Sends each request repeatedly, each time on a new connection. */
interface SendOrder {
  does: 'send'
  url: string
  requests: readonly string[]
  restMs?: number
}

/** Sends bad tokens at a steady rate: half of them as hosts, half as people. */
interface TokenOrder {
  does: 'tokens'
  url: string
  perSecond: number
}

export type Order = HoldOrder | SendOrder | TokenOrder

/** Counts of an attack. Statuses are those of `send` and `tokens`; `answered` counts clients of `hold` with status 200 or 101. */
export interface Counts {
  sent: number
  opened: number
  held: number
  answered: number
  seconds: number
  statuses: Record<string, number>
}

const noCounts = (): Counts => ({ sent: 0, opened: 0, held: 0, answered: 0, seconds: 0, statuses: {} })

const sumOf = (all: readonly Counts[]): Counts => {
  const sum = noCounts()
  for (const one of all) {
    for (const key of ['sent', 'opened', 'held', 'answered'] as const) sum[key] += one[key]
    sum.seconds = Math.max(sum.seconds, one.seconds)
    for (const [status, n] of Object.entries(one.statuses)) sum.statuses[status] = (sum.statuses[status] ?? 0) + n
  }
  return sum
}

type Attack<O extends Order> = (order: O, counts: Counts, isOver: () => boolean) => Promise<unknown>

const readMs = 10_000

const hold: Attack<HoldOrder> = async (order, counts, isOver) => {
  const { hostname: host, port } = new URL(order.url)
  const { first = 0, addresses, writes, againMs, reads } = order
  const secureContext = order.ca === undefined ? undefined : createSecureContext({ ca: order.ca })
  const open = (index: number): void => {
    const n = (first + index) % (addresses ?? 1)
    const target = {
      ...{ host, port: Number(port) },
      ...(addresses === undefined ? {} : { localAddress: `127.1.${Math.floor(n / 200)}.${1 + (n % 200)}` }),
    }
    const socket = secureContext === undefined ? connect(target) : connectTls({ ...target, secureContext })
    const timers: NodeJS.Timeout[] = []
    socket.on('error', () => {})
    socket.once(secureContext === undefined ? 'connect' : 'secureConnect', () => {
      counts.opened += 1
      counts.held += 1
      socket.once('close', () => {
        counts.held -= 1
      })
      socket.write(order.heads[index % order.heads.length] as string)
      if (writes !== undefined) timers.push(setInterval(() => socket.write(writes.text), writes.everyMs))
      if (reads === 'slowly') timers.push(setInterval(() => socket.read(1), readMs))
      if (reads !== 'all') socket.pause()
      else
        socket.once('data', (data) => {
          if (/^HTTP\/1\.1 (?:200|101)/.test(String(data))) counts.answered += 1
          socket.resume()
        })
    })
    socket.once('close', () => {
      for (const timer of timers) clearInterval(timer)
      if (againMs !== undefined) setTimeout(open, againMs, index)
    })
  }
  for (let index = 0; index < order.count; index++) setTimeout(open, (index * 1_000) / order.perSecond, index)
  while (!isOver()) await pause(100)
}

/** Sends bytes on a new connection. Returns the status, or 0 if the connection closes without one. */
const exchange = (url: URL, bytes: Buffer): Promise<number> =>
  new Promise((resolve) => {
    const socket = connect(Number(url.port), url.hostname, () => socket.write(bytes))
    let answer = ''
    socket.on('data', (data) => {
      answer += data.toString('latin1')
      if (answer.includes('\r\n\r\n')) socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)))
  })

const send: Attack<SendOrder> = ({ url, requests, restMs = 0 }, counts, isOver) =>
  Promise.all(
    requests.map(async (request) => {
      const bytes = Buffer.from(request, 'latin1')
      while (!isOver()) {
        const status = await exchange(new URL(url), bytes)
        counts.sent += 1
        counts.statuses[status] = (counts.statuses[status] ?? 0) + 1
        if (restMs > 0) await pause(restMs)
      }
    }),
  )

const tickMs = 10
const tokenConnections = 20

const badRequest = (index: number): string =>
  `GET ${index % 2 === 0 ? `${agentPaths.knowledge}/${'0'.repeat(64)}` : '/prime/webui/agents'} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${randomBytes(48).toString('base64url')}\r\n\r\n`

const tokens: Attack<TokenOrder> = async ({ url, perSecond }, counts, isOver) => {
  // Real attackers would not use this machine's CPU.
  setPriority(10)
  const { hostname: host, port } = new URL(url)
  let answered = 0
  const open = async (): Promise<Socket> => {
    const socket = connect({ host, port: Number(port), noDelay: true })
    let rest = ''
    socket.on('data', (chunk: Buffer) => {
      const text = rest + chunk.toString('latin1')
      let end = 0
      for (const found of text.matchAll(/HTTP\/1\.1 (\d{3})/g)) {
        const status = found[1] as string
        end = found.index + found[0].length
        answered += 1
        counts.statuses[status] = (counts.statuses[status] ?? 0) + 1
      }
      // A status line may be split between two chunks.
      rest = text.slice(Math.max(end, text.length - 11))
    })
    await once(socket, 'connect')
    return socket
  }
  const sockets = await Promise.all(Array.from({ length: tokenConnections }, open))
  const startedAt = performance.now()
  const seconds = (): number => (performance.now() - startedAt) / 1_000
  while (!isOver()) {
    // Catch up gradually: a burst would test something other than a steady stream.
    const due = Math.min(seconds() * perSecond - counts.sent, (3 * perSecond * tickMs) / 1_000)
    const each = Math.floor(due / tokenConnections)
    for (const socket of each > 0 ? sockets : [])
      socket.write(Array.from({ length: each }, () => badRequest(counts.sent++)).join(''))
    await pause(tickMs)
  }
  counts.seconds = seconds()
  for (let tries = 0; answered < counts.sent && tries < 100; tries++) await pause(50)
}

const file = fileURLToPath(import.meta.url)
/** Time for the last responses. */
const stopWithinMs = 15_000

/** A process may open as many files as the server. */
const clientsOfProcess = 5_000

const partsOf = (order: Order): Order[] => {
  if (order.does !== 'hold' || order.count <= clientsOfProcess) return [order]
  const parts = Math.ceil(order.count / clientsOfProcess)
  return Array.from({ length: parts }, (_, index) => {
    const first = index * clientsOfProcess
    const count = Math.min(clientsOfProcess, order.count - first)
    return { ...order, first, count, perSecond: order.perSecond / parts }
  })
}

/** Starts the processes of an attack. */
export const startAttackers = (order: Order) => {
  const children = partsOf(order).map((part) => {
    const child = fork(file, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'], serialization: 'advanced' })
    child.send(part)
    return child
  })
  const latest = children.map(noCounts)
  for (const [index, child] of children.entries())
    child.on('message', (counts) => {
      latest[index] = counts as Counts
    })
  return {
    /** Resolves when every process has started its attack. */
    started: Promise.all(children.map((child) => once(child, 'message'))),
    /** Returns the counts of about the last quarter of a second. */
    counts: (): Counts => sumOf(latest),
    /** Stops the attack, waits for the last responses, and returns all counts. */
    stop: async (): Promise<Counts> => {
      await Promise.all(
        children.map(async (child) => {
          if (child.exitCode !== null || child.signalCode !== null) return
          const ended = once(child, 'exit')
          child.send('stop')
          const late = setTimeout(() => child.kill('SIGKILL'), stopWithinMs)
          await ended
          clearTimeout(late)
        }),
      )
      return sumOf(latest)
    },
  }
}

const attack = (order: Order, counts: Counts, isOver: () => boolean): Promise<unknown> =>
  order.does === 'hold'
    ? hold(order, counts, isOver)
    : order.does === 'send'
      ? send(order, counts, isOver)
      : tokens(order, counts, isOver)

if (process.argv[1] === file) {
  let isOver = false
  const counts = noCounts()
  const report = (done = (): void => {}): void => void process.send?.(counts, undefined, {}, () => done())
  process.once('message', async (order: Order) => {
    process.once('message', () => {
      isOver = true
    })
    report()
    setInterval(report, 250)
    await Promise.race([attack(order, counts, () => isOver), once(process, 'disconnect')])
    report(() => process.exit(0))
  })
}
