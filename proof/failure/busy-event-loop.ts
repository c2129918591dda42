import { randomBytes } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import {
  type AgentCommand,
  agentPaths,
  exportAgentPdf,
  exportPeripheralsCsv,
  fetchAgentsDebugLogs,
} from '@portcullis/features/contract.ts'
import { createTransport } from '../../cli/simulator/transport.ts'
import { startAttackers } from '../kit/attackers.ts'
import type { PlayedHost } from '../kit/loader/hosts.ts'
import { startProbe } from '../kit/probe.ts'
import { openSession } from '../kit/reporting-host.ts'
import { createServerMetrics } from '../kit/server-metrics.ts'
import { withClient } from '../kit/stored.ts'
import { amount, atLeast, atMost, type Check, figure, type Outcome, round } from '../kit/verdict.ts'
import { startLoaded } from './loaded-fleet.ts'

const tokensPerSecond = 5_000
const logBytes = 10 * 2 ** 20
const exportedRows = 50_000

/** D16: runs CPU-heavy work during normal use. */
export const busyEventLoop: Check = {
  name: 'D16',
  what: `Exports lists of at least ${exportedRows} rows as CSV and another list as PDF, uploads debug logs of 10 MiB, and sends ${tokensPerSecond} invalid tokens a second, all repeatedly. Measures the event loop delay of the server and the latency of a healthy client, which sends 50 requests a second over new connections. The database and all clients run on the same machine.`,
  run: async ({ isQuick, root }): Promise<Outcome> => {
    const seconds = isQuick ? 5 : 60
    const agents = isQuick ? 5_000 : 10_000
    const metrics = createServerMetrics()
    await using loaded = await startLoaded({ root, agents, peripheralsPerAgent: 11, env: metrics.env })
    const { server, hosts } = loaded
    using transport = createTransport({ server: new URL(server.url), connections: 8, timeoutMs: 30_000 })
    const token = await server.signIn()
    let isOver = false
    const failures: string[] = []
    const done = { rows: 0, csv: 0, pdf: 0, logs: 0 }
    const again = async (work: () => Promise<void>): Promise<void> => {
      while (!isOver)
        await work().catch(async (error: unknown) => {
          failures.push(String(error))
          await pause(100)
        })
    }
    const ask = async (path: string, body: unknown): Promise<Response> => {
      const answer = await fetch(server.url + path, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
      if (answer.status !== 200) throw new Error(`${path}: ${answer.status} ${await answer.text()}`)
      return answer
    }
    const exportCsv = async (): Promise<void> => {
      const bytes = Buffer.from(await (await ask(exportPeripheralsCsv.path, null)).arrayBuffer())
      let rows = -1
      for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) rows += 1
      done.rows = done.csv === 0 ? rows : Math.min(done.rows, rows)
      done.csv += 1
    }
    const exportPdf = async (): Promise<void> => {
      await (await ask(exportAgentPdf.path, {})).arrayBuffer()
      done.pdf += 1
    }
    // Random bytes do not compress, so the upload is as large as the unpacked log.
    const log = gzipSync(randomBytes(logBytes), { level: 1 })
    const askForLog = async (host: PlayedHost): Promise<{ id: string; session: string }> => {
      await ask(fetchAgentsDebugLogs.path, [host.agentId])
      const { answer, bootId } = await openSession(transport, host)
      const session = String(answer.body.token)
      const beat = { bootId, seq: 1, inventoryHash: host.inventoryHash, clock: Date.now() }
      const taken = await transport.post(agentPaths.checkIn, () => JSON.stringify(beat), session)
      const [command] = (taken.body.commands ?? []) as { payload: string }[]
      if (command === undefined) throw new Error(`The check-in returned no command (status ${taken.status}).`)
      return { id: (JSON.parse(command.payload) as AgentCommand).id, session }
    }
    // Agentless hosts upload no logs.
    const { rows: polled } = await withClient(server.connection, (client) =>
      client.query<{ id: string }>('SELECT agent_id AS id FROM agent_rows WHERE agentless'),
    )
    const without = new Set(polled.map(({ id }) => id))
    const bringing = hosts.filter(({ agentId }) => !without.has(agentId))
    let next = 0
    const bringLog = async (): Promise<void> => {
      const host = bringing[next++ % bringing.length] as PlayedHost
      const { id, session } = await askForLog(host)
      const answer = await fetch(`${server.url}${agentPaths.debugLogs}/${id}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${session}`, 'content-type': 'application/gzip' },
        body: new Uint8Array(log),
      })
      if (answer.status !== 200) throw new Error(`debug log: ${answer.status} ${await answer.text()}`)
      done.logs += 1
    }
    const healthy = startProbe({ url: server.url, path: '/readyz', perSecond: 50, isFresh: true })
    await pause(1_000)
    const { p99: before } = await healthy.restart()
    const bad = startAttackers({ does: 'tokens', url: server.url, perSecond: tokensPerSecond })
    await bad.started
    const working = [exportCsv, exportPdf, bringLog].map(again)
    // Compiling and loading take the first seconds: little of a minute, but most of the short form's five seconds.
    if (isQuick) await pause(2_000)
    await metrics.read(server.pid)
    // A measurement collects all garbage, and requests that arrive meanwhile wait for it.
    await pause(500)
    await healthy.restart()
    await pause(seconds * 1_000)
    // Measure before the work ends: an idle event loop would improve the figures.
    const { p99, failed, failures: unhealthy } = await healthy.read()
    const { delays } = await metrics.read(server.pid)
    isOver = true
    const tokens = await bad.stop()
    await Promise.all(working)
    await healthy.stop()
    const { 401: refused = 0, ...others } = tokens.statuses
    return {
      findings: [
        atLeast('exports as CSV', done.csv, 1),
        atLeast('rows of each', done.rows, exportedRows),
        atLeast('exports as PDF', done.pdf, 1),
        atLeast('debug logs', done.logs, 1),
        atMost('work that failed', failures.length, 0),
        figure('bad tokens sent', tokens.sent),
        atLeast('bad tokens refused, a second', Math.round(refused / tokens.seconds), tokensPerSecond * 0.9),
        atMost('bad tokens not refused', tokens.sent - refused, 0),
        atLeast(amount(isQuick, 'looks at the event loop'), delays.count, 10 * seconds),
        atMost('event loop delay, p99', round(delays.p99Ms, 1), 50, 'ms'),
        figure('event loop delay, longest', round(delays.maxMs, 1), 'ms'),
        atMost('healthy requests that failed', failed, 0),
        figure('healthy p99 before', before, 'ms'),
        atMost('healthy p99 beside the work', p99, 250, 'ms'),
      ],
      notes: [
        ...failures.slice(0, 3),
        ...unhealthy,
        ...Object.entries(others).map(([status, count]) => `${count} bad tokens got status ${status}`),
      ],
    }
  },
}
