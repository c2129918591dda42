/** `npm run bench -- [name] [--quick]`: what the product reaches, beside what it should. Slowness is told, never an error. */
import { parseArgs } from 'node:util'
import { benchAgentless } from './agentless.ts'
import { benchCheckIn } from './check-in.ts'
import { benchCommand } from './command.ts'
import { benchExport } from './export.ts'
import { benchInsights } from './insights.ts'
import { benchList } from './list.ts'
import { benchNotices } from './notices.ts'
import { benchPage } from './page.ts'
import { benchPolls } from './poll.ts'
import { type BenchResult, ratioOf, tableOf } from './result.ts'

interface Settings {
  isQuick: boolean
  /** Size of the fleet asked for; undefined: the benchmark's own. */
  agents: number | undefined
  databaseUrl: string | undefined
}

const benches: Readonly<Record<string, (settings: Settings) => Promise<BenchResult>>> = {
  'check-in': ({ isQuick, agents, databaseUrl }) =>
    benchCheckIn({
      databaseUrl,
      agents: agents ?? (isQuick ? 2_000 : 5_000),
      seconds: isQuick ? 6 : 20,
      connections: 512,
    }),
  command: ({ isQuick, agents, databaseUrl }) =>
    benchCommand({ databaseUrl, agents: agents ?? 10_000, rounds: isQuick ? 20 : 60 }),
  list: ({ isQuick, agents, databaseUrl }) => {
    const size = agents ?? 100_000
    return benchList({
      databaseUrl,
      agents: size,
      // The page does not read them; twelve each at a million would only be a long load.
      peripheralsPerAgent: size > 200_000 ? 3 : 12,
      rounds: isQuick ? 8 : 25,
      seconds: isQuick ? 4 : 10,
    })
  },
  export: ({ isQuick, agents, databaseUrl }) =>
    benchExport({ databaseUrl, agents: agents ?? 100_000, rounds: isQuick ? 3 : 7 }),
  insights: ({ isQuick, agents, databaseUrl }) =>
    benchInsights({ databaseUrl, agents: agents ?? 100_000, rounds: isQuick ? 10 : 30 }),
  poll: ({ isQuick }) => benchPolls({ polls: isQuick ? 300 : 2_000, peers: isQuick ? 10 : 50 }),
  agentless: ({ isQuick, agents, databaseUrl }) =>
    benchAgentless({ databaseUrl, hosts: agents ?? (isQuick ? 2_000 : 10_000), peers: isQuick ? 10 : 50 }),
  notices: ({ isQuick, databaseUrl }) => benchNotices({ databaseUrl, events: isQuick ? 50_000 : 500_000 }),
  page: ({ isQuick, agents, databaseUrl }) =>
    benchPage({ databaseUrl, agents: agents ?? (isQuick ? 100_000 : 1_000_000) }),
}

const names = Object.keys(benches)
const usage = `Usage: npm run bench -- [${names.join('|')}] [--quick] [--agents N] [--json]`

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean' }, agents: { type: 'string' }, json: { type: 'boolean' } },
  allowPositionals: true,
})
const chosen = positionals.length === 0 ? names : positionals
const agents = values.agents === undefined ? undefined : Number(values.agents)
if (
  chosen.some((name) => !Object.hasOwn(benches, name)) ||
  (agents !== undefined && !(agents >= 1 && agents <= 1_000_000))
) {
  process.stderr.write(`${usage}\n`)
  process.exit(1)
}

const results: BenchResult[] = []
for (const name of chosen) {
  const settings = { isQuick: values.quick === true, agents, databaseUrl: process.env.DATABASE_URL }
  const result = await (benches[name] as (settings: Settings) => Promise<BenchResult>)(settings)
  results.push(result)
  if (values.json !== true) process.stdout.write(`${tableOf(result)}\n\n`)
}
const json = results.map((r) => ({ ...r, figures: r.figures.map((f) => ({ ...f, ratio: ratioOf(f) })) }))
process.stdout.write(`${JSON.stringify(json)}\n`)
