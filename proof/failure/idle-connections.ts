import { rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { connect as connectTls, createSecureContext } from 'node:tls'
import { agentPaths } from '@portcullis/contract'
import { createTransport } from '../../cli/simulator/transport.ts'
import { temporaryFolder } from '../kit/database.ts'
import { startServer } from '../kit/installation.ts'
import { startProbe } from '../kit/probe.ts'
import { createServerMetrics } from '../kit/server-metrics.ts'
import { amount, atLeast, atMost, type Check, type Finding, type Outcome } from '../kit/verdict.ts'
import { openSession, startLoaded } from './loaded-fleet.ts'

/** Number of connections that are opened at the same time. */
const atOnce = 100
/** Addresses of the clients. */
const addresses = 32
/** Maximum memory of one idle connection, in kB of the server's resident memory. */
const mostKb = 15

interface OpenConnections {
  /** Number of connections that received the expected answer. */
  good: number
  isOpen(): number
  close(): void
}

/** Opens `count` connections, sends `hello` on each, and waits for answers that start with `expected`. */
const openAll = async (
  count: number,
  open: () => Socket,
  hello: (index: number) => string,
  expected: string,
): Promise<OpenConnections> => {
  const sockets: Socket[] = []
  let good = 0
  const join = (index: number): Promise<void> =>
    new Promise((resolve) => {
      const socket = open()
      sockets.push(socket)
      socket.on('error', () => resolve())
      socket.on('close', () => resolve())
      socket.once('data', (line: Buffer) => {
        if (line.toString('latin1').startsWith(expected)) good += 1
        resolve()
      })
      socket.write(hello(index))
    })
  for (let at = 0; at < count; at += atOnce)
    await Promise.all(Array.from({ length: Math.min(atOnce, count - at) }, (_, i) => join(at + i)))
  return {
    good,
    isOpen: () => sockets.filter((socket) => !socket.destroyed).length,
    close: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/** Measures memory and latency while a set of connections opens and then stays idle. */
const weigh = async (
  what: string,
  count: number,
  isQuick: boolean,
  bar: number | undefined,
  server: { pid: number; url: string },
  metrics: ReturnType<typeof createServerMetrics>,
  assemble: () => Promise<OpenConnections>,
): Promise<Finding[]> => {
  const before = await metrics.read(server.pid)
  const opened = await assemble()
  const after = await metrics.read(server.pid)
  // The probe does not support TLS.
  const probe = server.url.startsWith('http:')
    ? startProbe({ url: server.url, path: '/readyz', perSecond: 20, isFresh: true })
    : null
  await pause(3_000)
  const healthy = await probe?.stop()
  const stillOpen = opened.isOpen()
  opened.close()
  // A server that was busy reuses memory that it already holds, so live memory can show more than the resident size.
  const live = after.heapUsed + after.external - before.heapUsed - before.external
  const kb = Math.max(after.rss - before.rss, live) / 1024 / count
  return [
    atLeast(amount(isQuick, `${what}: answered`), opened.good, count),
    atLeast(amount(isQuick, `${what}: open after three idle seconds`), stillOpen, count),
    atMost(`${what}: memory of each`, Math.round(kb * 10) / 10, bar, 'kB'),
    ...(healthy === undefined
      ? []
      : [
          atMost(`${what}: healthy p99 beside them`, healthy.p99, 250, 'ms'),
          atMost(`${what}: healthy requests that failed`, healthy.failed, 0),
        ]),
  ]
}

const wakeHello = (token: string): string =>
  `GET ${agentPaths.wake} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==\r\nAuthorization: Bearer ${token}\r\n\r\n`

const plain = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'

/** Gives each set of connections its own server, because a used server keeps the memory of the previous set. */
const withInside = async <T>(work: (metrics: ReturnType<typeof createServerMetrics>) => Promise<T>): Promise<T> => {
  const folder = temporaryFolder('idle')
  try {
    return await work(createServerMetrics(folder))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Opens a few connections first, so that one-time allocations are not counted. */
const warm = async (open: () => Socket, hello: string): Promise<void> => {
  const few = await openAll(100, open, () => hello, 'HTTP/1.1')
  few.close()
  await pause(500)
}

const opener = (server: { url: string; ca: string | undefined }, isTls: boolean): (() => Socket) => {
  const { hostname, port } = new URL(server.url)
  const secureContext = isTls ? createSecureContext({ ca: server.ca as string }) : undefined
  let opened = 0
  return () => {
    // One address may have 512 connections without a credential.
    const target = { host: hostname, port: Number(port), localAddress: `127.0.0.${2 + (opened++ % addresses)}` }
    return secureContext === undefined ? connect(target) : connectTls({ ...target, secureContext })
  }
}

const weighWake = (what: string, count: number, isQuick: boolean, isTls: boolean, root: string): Promise<Finding[]> =>
  withInside(async (metrics) => {
    const { server, hosts } = await startLoaded({ root, agents: count, isTls, env: metrics.env })
    try {
      const open = opener(server, isTls)
      const transport = createTransport({
        server: new URL(server.url),
        connections: 32,
        ...(server.ca === undefined ? {} : { ca: server.ca }),
      })
      const tokens: string[] = []
      for (let at = 0; at < hosts.length; at += 200)
        tokens.push(
          ...(await Promise.all(
            hosts
              .slice(at, at + 200)
              .map(async (host) => String((await openSession(transport, host)).answer.body.token)),
          )),
        )
      transport.close()
      await warm(open, wakeHello(tokens[0] as string))
      return await weigh(what, count, isQuick, isTls ? undefined : mostKb, server, metrics, () =>
        openAll(count, open, (index) => wakeHello(tokens[index] as string), 'HTTP/1.1 101'),
      )
    } finally {
      await server.stop()
    }
  })

const weighKept = (what: string, count: number, isQuick: boolean, isTls: boolean, root: string): Promise<Finding[]> =>
  withInside(async (metrics) => {
    const server = await startServer({ databaseUrl: undefined, root, isTls, env: metrics.env })
    try {
      const open = opener(server, isTls)
      await warm(open, plain)
      return await weigh(what, count, isQuick, isTls ? undefined : mostKb, server, metrics, () =>
        openAll(count, open, () => plain, 'HTTP/1.1 200'),
      )
    } finally {
      await server.stop()
    }
  })

/** D10: keeps idle connections open. */
export const idleConnections: Check = {
  name: 'D10',
  isWaiting: true,
  what: 'Opens ten thousand keep-alive connections, then as many wake sockets of hosts, then both over TLS. Measures the memory per connection (growth of resident memory, or of heap and buffers after a garbage collection, whichever is higher) and the latency of a healthy client. The TLS figures are informational.',
  run: async ({ isQuick, root }): Promise<Outcome> => {
    // The heap's young generation takes 29 MB for any count. With fewer kept connections it would dominate the figure.
    const counts = isQuick ? { kept: 10_000, wake: 2_000, tls: 300 } : { kept: 10_000, wake: 10_000, tls: 10_000 }
    return {
      findings: [
        ...(await weighWake('wake sockets', counts.wake, isQuick, false, root)),
        ...(await weighKept('kept alive', counts.kept, isQuick, false, root)),
        ...(await weighWake('wake sockets over TLS', counts.tls, isQuick, true, root)),
        ...(await weighKept('kept alive over TLS', counts.tls, isQuick, true, root)),
      ],
    }
  },
}
