import { connect, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { startServer } from '../kit/installation.ts'
import { startProbe } from '../kit/probe.ts'
import { openFiles } from '../kit/proc.ts'
import { atLeast, atMost, type Check, figure, type Outcome } from '../kit/verdict.ts'

const clients = 1_000
const perSecond = 200
const probesPerSecond = 20
/** One address may have 512 of them. */
const addresses = 8

/** Each kind sends `start`, then one byte per second without end. A client that does not read sends nothing more. */
const kinds = {
  headers: { start: 'GET /docs HTTP/1.1\r\nHost: a\r\nX-Slow: ', isReading: true },
  'body of a sign-in': {
    start:
      'POST /prime/webui/Auth/LocalLogin HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 10000\r\n\r\n{"',
    isReading: true,
  },
  'body of an enrolment': {
    start:
      'POST /agent/v1/enrol HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2000\r\n{"',
    isReading: true,
  },
  // Six megabytes do not fit into the kernel's socket buffers.
  reader: { start: 'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(6), isReading: false },
} as const

type Kind = (typeof kinds)[keyof typeof kinds]

const open = (url: URL, { start, isReading }: Kind, localAddress: string): Promise<Socket> =>
  new Promise((resolve, reject) => {
    const socket = connect({ host: url.hostname, port: Number(url.port), localAddress })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.removeListener('error', reject)
      socket.on('error', () => {})
      socket.write(start)
      if (isReading) {
        socket.resume()
        const timer = setInterval(() => socket.write('a'), 1_000)
        socket.once('close', () => clearInterval(timer))
      }
      resolve(socket)
    })
  })

/** D9: connects clients that are slow on purpose. */
export const slowClients: Check = {
  name: 'D9',
  what: `${clients} slow clients connect from ${addresses} addresses, ${perSecond} each second. Three tenths each send headers, a sign-in body or an enrolment body at one byte a second. The others request megabytes and read none of them. A healthy client sends ${probesPerSecond} requests a second, each over a new connection.`,
  run: async ({ root }): Promise<Outcome> => {
    const server = await startServer({ databaseUrl: undefined, root })
    const sockets: Socket[] = []
    try {
      const url = new URL(server.url)
      // The first request builds the document.
      await server.call('/openapi.json')
      const healthy = startProbe({ url: server.url, path: '/readyz', perSecond: probesPerSecond, isFresh: true })
      await pause(3_000)
      const { p99: before } = await healthy.restart()
      const filesBefore = openFiles(server.pid)
      const startedAt = performance.now()
      const slow = Object.values(kinds)
      const reader = slow.pop() as Kind
      for (let i = 0; i < clients; i++) {
        sockets.push(
          await open(url, i % 10 === 9 ? reader : (slow[i % slow.length] as Kind), `127.0.0.${2 + (i % addresses)}`),
        )
        const aheadMs = (i * 1_000) / perSecond - (performance.now() - startedAt)
        if (aheadMs > 0) await pause(aheadMs)
      }
      const openedAt = performance.now()
      await pause(1_000)
      const filesAtMost = openFiles(server.pid)
      // The healthy client opens and closes a few files.
      const held = (): number => Math.max(0, openFiles(server.pid) - filesBefore - 5)
      while (held() > 0 && performance.now() - openedAt < 40_000) await pause(250)
      const seconds = (performance.now() - openedAt) / 1_000
      const { sent, failed, failures, p99 } = await healthy.stop()
      return {
        findings: [
          atLeast('slow clients held at once', filesAtMost - filesBefore, clients * 0.95),
          atMost('held to the end', held(), 0),
          // 28 s for a request, checked every 2 s, plus the interval of this measurement.
          atMost('all dropped after the last came', Math.round(seconds * 10) / 10, 30.5, 's'),
          atLeast('healthy requests', sent, 20 * 20),
          atMost('healthy requests that failed', failed, 0),
          figure('healthy p99 before', before, 'ms'),
          atMost('healthy p99 beside them', p99, 250, 'ms'),
        ],
        notes: failures,
      }
    } finally {
      for (const socket of sockets) socket.destroy()
      await server.stop()
    }
  },
}
