import { setTimeout as pause } from 'node:timers/promises'
import { type HoldOrder, startAttackers } from '../kit/attackers.ts'
import { startServer } from '../kit/installation.ts'
import { startProbe } from '../kit/probe.ts'
import { openFiles } from '../kit/proc.ts'
import { atLeast, atMost, type Check, figure, type Outcome, round } from '../kit/verdict.ts'

const clients = 1_000
const perSecond = 200
const probesPerSecond = 20
/** One address may have 512 of them. */
const addresses = 8

const post = (path: string, headers: string, body: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${headers}\r\n\r\n${body}`
/** Clients send one of these, then one byte per second without end. */
const slow = [
  'GET /docs HTTP/1.1\r\nHost: a\r\nX-Slow: ',
  post('/prime/webui/Auth/LocalLogin', 'Content-Length: 10000', '{"'),
  post('/agent/v1/enrol', 'Transfer-Encoding: chunked', '2000\r\n{"'),
]
/** Six megabytes do not fit into the kernel's socket buffers. */
const unread = 'GET /openapi.json HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(6)

/** D9: connects clients that are slow on purpose. */
export const slowClients: Check = {
  name: 'D9',
  what: `${clients} slow clients connect from ${addresses} addresses, ${perSecond} each second. Three tenths each send headers, a sign-in body or an enrolment body at one byte a second. The others request megabytes and read none of them. A healthy client sends ${probesPerSecond} requests a second, each over a new connection.`,
  run: async ({ root }): Promise<Outcome> => {
    await using server = await startServer({ databaseUrl: undefined, root })
    const { url } = server
    await using stack = new AsyncDisposableStack()
    const attackers: ReturnType<typeof startAttackers>[] = []
    // The first request builds the document.
    await server.call('/openapi.json')
    const healthy = startProbe({ url, path: '/readyz', perSecond: probesPerSecond, isFresh: true })
    await pause(3_000)
    const { p99: before } = await healthy.restart()
    const filesBefore = openFiles(server.pid)
    const connect = (share: number, heads: string[], more: Pick<HoldOrder, 'reads' | 'writes'>): void => {
      const order = { does: 'hold', url, addresses, count: clients * share, perSecond: perSecond * share } as const
      attackers.push(stack.adopt(startAttackers({ ...order, heads, ...more }), (one) => one.stop().then(() => {})))
    }
    connect(0.9, slow, { reads: 'all', writes: { text: 'a', everyMs: 1_000 } })
    connect(0.1, [unread], { reads: 'nothing' })
    const opened = (): number => attackers.reduce((sum, one) => sum + one.counts().opened, 0)
    for (let tries = 0; opened() < clients && tries < 300; tries++) await pause(100)
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
        atMost('all dropped after the last came', round(seconds, 1), 30.5, 's'),
        atLeast('healthy requests', sent, 20 * 20),
        atMost('healthy requests that failed', failed, 0),
        figure('healthy p99 before', before, 'ms'),
        atMost('healthy p99 beside them', p99, 250, 'ms'),
      ],
      notes: failures,
    }
  },
}
