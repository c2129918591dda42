/** Measures the risk insights of a whole fleet: reloads, compared with the plain aggregation that they replace. */

import { setTimeout as pause } from 'node:timers/promises'
import type { Installation } from '../kit/installation.ts'
import { atMost, figure, percentile, round } from '../kit/verdict.ts'
import type { Prepared } from './fleet.ts'
import type { BenchResult } from './result.ts'

const reloadLimitMs = 100
const paths = {
  uncommon: '/prime/webui/agents/RiskInsights/UncommonPeripherals/Reload',
  vulnerable: '/prime/webui/agents/RiskInsights/VulnerablePeripherals/Reload',
  spoofed: '/prime/webui/agents/RiskInsights/SpoofedIdentities',
} as const

/** The work of a reload without counters. */
const aggregation = `
  SELECT d.shape_id, count(DISTINCT p.agent_id) AS hosts, count(*) AS devices
  FROM peripherals p JOIN designs d ON d.design_id = p.design_id
  WHERE p.present GROUP BY d.shape_id HAVING count(DISTINCT p.agent_id) <= 3`

const timed = async (work: () => Promise<unknown>, rounds: number, pauseMs = 0): Promise<number[]> => {
  const times: number[] = []
  // The first round warms up pages and prepared statements and does not count.
  for (let n = 0; n <= rounds; n++) {
    if (pauseMs > 0) await pause(pauseMs)
    const startedAt = performance.now()
    await work()
    if (n > 0) times.push(performance.now() - startedAt)
  }
  return times
}

const rowsOf = async (server: Installation, path: string, token: string): Promise<number> =>
  Number((await server.call(path, undefined, token)).recordsTotal)

export const benchInsights = async ({ server, fleet, client, isQuick }: Prepared): Promise<BenchResult> => {
  const rounds = isQuick ? 8 : 30
  const token = await server.signIn()
  const plain = await timed(() => client.query(aggregation), Math.max(3, Math.floor(rounds / 5)))
  const figures = []
  for (const [name, path] of Object.entries(paths)) {
    const rows = await rowsOf(server, path, token)
    // The server caches a response for one second. Only reloads are computed each time.
    const pauseMs = path.endsWith('Reload') ? 0 : 1_050
    const milliseconds = await timed(() => server.call(path, undefined, token), rounds, pauseMs)
    figures.push(
      atMost(`${name}: p50`, round(percentile(milliseconds, 0.5)), reloadLimitMs, 'ms', `${rows} rows`),
      figure(`${name}: p95`, round(percentile(milliseconds, 0.95)), 'ms'),
    )
  }
  return {
    what: `${fleet.agents} hosts, ${fleet.peripherals} peripherals, ${rounds} rounds, caches expired before each`,
    findings: [...figures, figure('plain aggregation by shape, p50', round(percentile(plain, 0.5)), 'ms')],
  }
}
