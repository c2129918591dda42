import { setTimeout as pause } from 'node:timers/promises'
import { startServer } from '../kit/installation.ts'
import { startProbe } from '../kit/probe.ts'
import { createServerMetrics, type ServerMetrics } from '../kit/server-metrics.ts'
import { startSimulator } from '../kit/simulator.ts'
import { amount, atLeast, atMost, type Check, figure, median, type Outcome, relative, round } from '../kit/verdict.ts'

const mib = 2 ** 20
/** Maximum memory growth, in MiB per hour. */
const slopeLimit = 1
/** The heap varies by about 4 MiB between measurements. A shorter soak cannot distinguish that from a leak of `slopeLimit`. */
const leakMinutes = 120
/** The short form runs for seconds, so it detects only a leak of megabytes, far above the bar. */
const suddenSlopeLimit = 800

interface Point {
  hours: number
  mib: number
}

/** Growth per hour by least squares. */
const slopeOf = (points: readonly Point[]): number => {
  const meanX = points.reduce((sum, { hours }) => sum + hours, 0) / points.length
  const meanY = points.reduce((sum, point) => sum + point.mib, 0) / points.length
  const over = points.reduce((sum, point) => sum + (point.hours - meanX) * (point.mib - meanY), 0)
  const under = points.reduce((sum, { hours }) => sum + (hours - meanX) ** 2, 0)
  return over / under
}

/** D15: runs ordinary work for hours. */
export const soak: Check = {
  name: 'D15',
  what: 'A simulated fleet checks in, attaches and detaches devices, and people sign in, read lists and export them. After a warm-up of one third of the time, measures the growth of live memory (heap and buffers after a garbage collection, least squares) and open handles. Also compares the p99 of a healthy client in both halves. Takes two hours unless --minutes is set; a shorter soak cannot measure a leak.',
  run: async ({ isQuick, minutes: given, root }): Promise<Outcome> => {
    const minutes = given ?? (isQuick ? 0.3 : leakMinutes)
    const agents = isQuick ? 1_000 : 10_000
    const metrics = createServerMetrics()
    await using server = await startServer({ databaseUrl: undefined, root, env: metrics.env })
    const seconds = minutes * 60
    using fleet = await startSimulator(server, agents, {
      interval: isQuick ? 2 : 10,
      wake: 500,
      'plug-rate': 20,
      offline: 0,
    })
    const probe = startProbe({ url: server.url, path: '/readyz', perSecond: 20, isFresh: true })
    const looks: { look: ServerMetrics; hours: number }[] = []
    const p99: number[] = []
    let failed = 0
    let worked = 0
    const startedAt = performance.now()
    const elapsed = (): number => (performance.now() - startedAt) / 1_000
    const work = async (): Promise<void> => {
      const admin = await server.signIn()
      await server.call('/prime/webui/agents?PageSize=1000', undefined, admin)
      for (const path of ['/prime/webui/agents/AgentExportFile', '/prime/webui/events/getevents?PageSize=500'])
        await fetch(server.url + path, { headers: { authorization: `Bearer ${admin}` } }).then(async (answer) => {
          await answer.arrayBuffer()
          if (answer.status !== 200) throw new Error(`${path}: ${answer.status}`)
        })
      worked += 1
    }
    const failures: string[] = []
    const stepMs = Math.max(1_000, (seconds * 1_000) / 120)
    let half = false
    while (elapsed() < seconds) {
      const next = performance.now() + stepMs
      await work().catch((error: unknown) => {
        failed += 1
        failures.push(String(error))
      })
      const look = await metrics.read(server.pid)
      if (elapsed() > seconds / 3) looks.push({ look, hours: elapsed() / 3_600 })
      else await probe.restart()
      if (!half && elapsed() > (seconds * 2) / 3) {
        half = true
        p99.push((await probe.restart()).p99)
      }
      await pause(Math.max(0, next - performance.now()))
    }
    const healthy = await probe.stop()
    p99.push(healthy.p99)
    const report = await fleet.stop()
    const live = slopeOf(looks.map(({ look, hours }) => ({ hours, mib: (look.heapUsed + look.external) / mib })))
    const resident = slopeOf(looks.map(({ look, hours }) => ({ hours, mib: look.rss / mib })))
    const handles = looks.map(({ look }) => look.resources)
    const cut = Math.floor(handles.length / 2)
    const [first = 0, second = 0] = p99
    return {
      findings: [
        figure('minutes', minutes),
        atLeast(amount(isQuick, 'hosts'), report.agents ?? 0, agents),
        atLeast(amount(isQuick, 'check-ins'), report.checkIns ?? 0, agents),
        atMost('requests of hosts that failed', report.errors ?? Number.NaN, 0),
        atLeast('rounds of people', worked, 5),
        atMost('rounds of people that failed', failed, 0),
        ...(minutes >= leakMinutes
          ? [atMost('growth of what lives in memory', round(live, 1), slopeLimit, 'MiB/h')]
          : [atMost('sudden growth of what lives in memory', round(live, 1), suddenSlopeLimit, 'MiB/h')]),
        figure('growth of resident memory', round(resident, 1), 'MiB/h'),
        figure('handles, second half', median(handles.slice(cut))),
        atMost('handles, growth', median(handles.slice(cut)) - median(handles.slice(0, cut)), 50),
        figure('p99, first half', first, 'ms'),
        figure('p99, second half', second, 'ms'),
        // On a shared machine, a tenth of a few milliseconds is below the measurement noise.
        relative(atMost('p99, growth', round(second - first, 1), Math.max(20, round(first / 10, 1)), 'ms')),
      ],
      notRun:
        minutes >= leakMinutes || isQuick
          ? []
          : [`a leak of ${slopeLimit} MiB/h: measuring it takes ${leakMinutes} minutes, but this soak took ${minutes}`],
      notes: failures.slice(0, 3),
    }
  },
}
