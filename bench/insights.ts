/** Risk insights of a whole fleet: reloads beside the plain aggregation they stand in for. */
import pg from 'pg'
import type { BenchServer } from '../rig/server-process.ts'
import { countDevices } from './loader.ts'
import { prepareFleet } from './prepare.ts'
import { type BenchResult, percentile, round } from './result.ts'

export interface InsightsOptions {
  databaseUrl: string | undefined
  agents: number
  rounds: number
}

const reloadLimitMs = 100
const paths = {
  uncommon: '/prime/webui/agents/RiskInsights/UncommonPeripherals/Reload',
  vulnerable: '/prime/webui/agents/RiskInsights/VulnerablePeripherals/Reload',
  spoofed: '/prime/webui/agents/RiskInsights/SpoofedIdentities',
} as const

/** What a reload would have to do without counters. */
const aggregation = `
  SELECT d.shape_id, count(DISTINCT p.agent_id) AS hosts, count(*) AS devices
  FROM peripherals p JOIN designs d ON d.design_id = p.design_id
  WHERE p.present GROUP BY d.shape_id HAVING count(DISTINCT p.agent_id) <= 3`

/** Models that so many hosts at most keep, to have something rare: the loader gives every model to many. */
const rareDesigns = 1_000
const keptHosts = 3
const makeRare = (client: pg.Client): Promise<unknown> =>
  client.query(
    `UPDATE peripherals p SET present = false FROM (
       SELECT q.agent_id, q.device_id, row_number() OVER (PARTITION BY q.design_id ORDER BY q.agent_id) AS n
       FROM peripherals q WHERE q.present AND q.design_id IN (SELECT c.design_id FROM design_counts c WHERE c.devices > 0 ORDER BY c.devices LIMIT $1)) r
     WHERE r.agent_id = p.agent_id AND r.device_id = p.device_id AND r.n > $2`,
    [rareDesigns, keptHosts],
  )

const timed = async (work: () => Promise<unknown>, rounds: number, pauseMs = 0): Promise<number[]> => {
  const times: number[] = []
  // The first one warms pages and prepared statements and is not counted.
  for (let n = 0; n <= rounds; n++) {
    if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs))
    const startedAt = performance.now()
    await work()
    if (n > 0) times.push(performance.now() - startedAt)
  }
  return times
}

const rowsOf = async (server: BenchServer, path: string, token: string): Promise<number> =>
  Number((await server.call(path, undefined, token)).recordsTotal)

export const benchInsights = async (options: InsightsOptions): Promise<BenchResult> => {
  const { server, fleet } = await prepareFleet({ ...options, peripheralsPerAgent: 12, designs: 3_000 })
  const client = new pg.Client(server.connection)
  try {
    const token = await server.signIn()
    await client.connect()
    await makeRare(client)
    await countDevices(client)
    await client.query('VACUUM (ANALYZE)')
    const plain = await timed(() => client.query(aggregation), Math.max(3, Math.floor(options.rounds / 5)))
    const figures = []
    for (const [name, path] of Object.entries(paths)) {
      const rows = await rowsOf(server, path, token)
      // An answer is kept for a second; only reloads are computed each time.
      const pauseMs = path.endsWith('Reload') ? 0 : 1_050
      const milliseconds = await timed(() => server.call(path, undefined, token), options.rounds, pauseMs)
      figures.push(
        {
          what: `${name}, ${rows} rows: p50`,
          value: round(percentile(milliseconds, 0.5)),
          unit: 'ms',
          limit: reloadLimitMs,
          better: 'less' as const,
        },
        { what: `${name}: p95`, value: round(percentile(milliseconds, 0.95)), unit: 'ms', better: 'less' as const },
      )
    }
    return {
      name: 'insights',
      conditions: `${fleet.agents} hosts, ${fleet.peripherals} peripherals, ${options.rounds} rounds, each computed anew`,
      figures: [
        ...figures,
        {
          what: 'plain aggregation by shape, p50',
          value: round(percentile(plain, 0.5)),
          unit: 'ms',
          better: 'less',
        },
      ],
    }
  } finally {
    await client.end()
    await server.stop()
  }
}
