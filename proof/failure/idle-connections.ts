import { setTimeout as pause } from 'node:timers/promises'
import { agentPaths } from '@portcullis/features/contract.ts'
import { createTransport } from '../../cli/simulator/transport.ts'
import { startAttackers } from '../kit/attackers.ts'
import { startServer } from '../kit/installation.ts'
import { startProbe } from '../kit/probe.ts'
import { openSession } from '../kit/reporting-host.ts'
import { createServerMetrics } from '../kit/server-metrics.ts'
import { amount, atLeast, atMost, type Check, type Finding, type Outcome, round } from '../kit/verdict.ts'
import { forEachOf } from '../kit/wire.ts'
import { startLoaded } from './loaded-fleet.ts'

/** One address may have 512 connections without a credential. */
const addresses = 32
const perSecond = 1_000
/** If no connection is answered within this time, none will be. */
const quietMs = 3_000
/** Maximum memory of one idle connection, in kB of the server's resident memory. */
const mostKb = 15

const wakeHello = (token: string): string =>
  `GET ${agentPaths.wake} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AQIDBAUGBwgJCgsMDQ4PEA==\r\nAuthorization: Bearer ${token}\r\n\r\n`

const plain = 'GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n'

/** Opens `count` connections and waits until all are answered or no further answers arrive. */
const openAll = async (server: { url: string; ca: string | undefined }, count: number, heads: readonly string[]) => {
  const { url, ca } = server
  const opened = startAttackers({ does: 'hold', url, ca, count, addresses, perSecond, heads, reads: 'all' })
  await opened.started
  for (let before = -1, now = 0; now > before && now < count; ) {
    await pause(quietMs)
    before = now
    now = opened.counts().answered
  }
  return opened
}

/** Returns a session token of each host. */
const sessionsOf = async ({ server, hosts }: Awaited<ReturnType<typeof startLoaded>>): Promise<string[]> => {
  const { url, ca } = server
  const transport = createTransport({ server: new URL(url), connections: 32, ...(ca === undefined ? {} : { ca }) })
  const heads: string[] = []
  await forEachOf(hosts, 32, async (host) => {
    heads.push(wakeHello(String((await openSession(transport, host)).answer.body.token)))
  })
  transport.close()
  return heads
}

interface Kind {
  what: string
  count: number
  isTls: boolean
  /** True: wake sockets of hosts. False: keep-alive connections. */
  isWake: boolean
}

/** Measures memory and latency while a set of connections opens and then stays idle. */
const weigh = async ({ what, count, isTls, isWake }: Kind, isQuick: boolean, root: string): Promise<Finding[]> => {
  const metrics = createServerMetrics()
  // Its own server, because a used server keeps the memory of the previous set.
  const loaded = isWake ? await startLoaded({ root, agents: count, isTls, env: metrics.env }) : undefined
  await using server = loaded?.server ?? (await startServer({ databaseUrl: undefined, root, isTls, env: metrics.env }))
  const heads = loaded === undefined ? [plain] : await sessionsOf(loaded)
  // Open a few connections first, so that one-time allocations are not counted.
  await (await openAll(server, 100, heads.slice(0, 1))).stop()
  await pause(500)
  const before = await metrics.read(server.pid)
  const opened = await openAll(server, count, heads)
  const after = await metrics.read(server.pid)
  // The probe does not support TLS.
  const probe = isTls ? null : startProbe({ url: server.url, path: '/readyz', perSecond: 20, isFresh: true })
  await pause(3_000)
  const healthy = await probe?.stop()
  const { answered, held } = opened.counts()
  await opened.stop()
  // A server that was busy reuses memory that it already holds, so live memory can show more than the resident size.
  const live = after.heapUsed + after.external - before.heapUsed - before.external
  const kb = Math.max(after.rss - before.rss, live) / 1024 / count
  return [
    atLeast(amount(isQuick, `${what}: answered`), answered, count),
    atLeast(amount(isQuick, `${what}: open after three idle seconds`), held, count),
    atMost(`${what}: memory of each`, round(kb, 1), isTls ? undefined : mostKb, 'kB'),
    ...(healthy === undefined
      ? []
      : [
          atMost(`${what}: healthy p99 beside them`, healthy.p99, 250, 'ms'),
          atMost(`${what}: healthy requests that failed`, healthy.failed, 0),
        ]),
  ]
}

/** D10: keeps idle connections open. */
export const idleConnections: Check = {
  name: 'D10',
  isWaiting: true,
  what: 'Opens ten thousand keep-alive connections, then as many wake sockets of hosts, then both over TLS. Measures the memory per connection (growth of resident memory, or of heap and buffers after a garbage collection, whichever is higher) and the latency of a healthy client. The TLS figures are informational.',
  run: async ({ isQuick, root }): Promise<Outcome> => {
    // The heap's young generation takes 29 MB for any count. With fewer kept connections it would dominate the figure.
    const counts = isQuick ? { kept: 10_000, wake: 2_000, tls: 300 } : { kept: 10_000, wake: 10_000, tls: 10_000 }
    const findings: Finding[] = []
    for (const kind of [
      { what: 'wake sockets', count: counts.wake, isTls: false, isWake: true },
      { what: 'kept alive', count: counts.kept, isTls: false, isWake: false },
      { what: 'wake sockets over TLS', count: counts.tls, isTls: true, isWake: true },
      { what: 'kept alive over TLS', count: counts.tls, isTls: true, isWake: false },
    ])
      findings.push(...(await weigh(kind, isQuick, root)))
    return { findings }
  },
}
