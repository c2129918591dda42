/** `npm run bench -- [name…] [--quick]`: what the product reaches, beside what it should. Slowness is told, never an error. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { benchAgentless } from './agentless.ts'
import { benchCheckIn } from './check-in.ts'
import { benchCommand } from './command.ts'
import { benchConsole } from './console.ts'
import { benchExport } from './export.ts'
import { type Prepared, withFleet } from './fleet.ts'
import { benchInsights } from './insights.ts'
import { benchKernel } from './kernel.ts'
import { benchList } from './list.ts'
import { describeLoad } from './load.ts'
import { benchNotices } from './notices.ts'
import { benchPage } from './page.ts'
import { benchPolls } from './poll.ts'
import { benchReplicas } from './replicas.ts'
import { reportOf } from './report.ts'
import { type BenchResult, ratioOf, round, tableOf } from './result.ts'

/** Of a fleet, whose size tells; in this order, because the last ones change it. */
const ofFleet: Readonly<Record<string, (prepared: Prepared) => Promise<BenchResult>>> = {
  list: benchList,
  page: benchPage,
  export: benchExport,
  insights: benchInsights,
  console: benchConsole,
  'check-in': benchCheckIn,
  replicas: benchReplicas,
  command: benchCommand,
}

interface Settings {
  isQuick: boolean
  databaseUrl: string | undefined
}

/** Of parts whose cost has nothing to do with the size of the fleet. */
const alone: Readonly<Record<string, (settings: Settings) => Promise<BenchResult>>> = {
  poll: ({ isQuick }) => benchPolls({ polls: isQuick ? 300 : 2_000, peers: isQuick ? 10 : 50 }),
  agentless: ({ isQuick, databaseUrl }) =>
    benchAgentless({ databaseUrl, hosts: isQuick ? 500 : 10_000, peers: isQuick ? 10 : 50 }),
  kernel: benchKernel,
  notices: ({ isQuick, databaseUrl }) => benchNotices({ databaseUrl, events: isQuick ? 50_000 : 500_000 }),
}

const names = [...Object.keys(ofFleet), ...Object.keys(alone)]
const usage = `Usage: npm run bench -- [${names.join('|')}] [--quick] [--agents N,…] [--json] [--save FILE]

  --quick       a fleet of 100,000 hosts, in five minutes
  --agents N,…  fleets of these sizes, from 100 to 1,000,000 hosts; by default 10,000, 100,000 and 1,000,000
  --json        the figures as JSON
  --save FILE   write the results as a page (Markdown)`

const readArguments = () => {
  try {
    return parseArgs({
      options: {
        quick: { type: 'boolean' },
        agents: { type: 'string' },
        json: { type: 'boolean' },
        save: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
    })
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${usage}\n`)
    process.exit(1)
  }
}
const { values, positionals } = readArguments()
if (values.help === true) {
  process.stdout.write(`${usage}\n`)
  process.exit(0)
}
const chosen = positionals.length === 0 ? names : positionals
const agents = values.agents?.split(',').map(Number)
if (
  chosen.some((name) => !names.includes(name)) ||
  agents?.some((size) => !(size >= 100 && size <= 1_000_000)) === true
) {
  process.stderr.write(`${usage}\n`)
  process.exit(1)
}
const isQuick = values.quick === true
const databaseUrl = process.env.DATABASE_URL
// An outside database is filled once: a second fleet would lie beside the first.
const sizes =
  agents !== undefined ? agents : isQuick || databaseUrl !== undefined ? [100_000] : [10_000, 100_000, 1_000_000]

const results: BenchResult[] = []
const tell = (result: BenchResult): void => {
  results.push(result)
  // With each result, so that a run that is broken off has told what it found.
  if (values.save !== undefined) {
    mkdirSync(dirname(values.save), { recursive: true })
    writeFileSync(values.save, reportOf(results, isQuick))
  }
  if (values.json !== true) process.stdout.write(`${tableOf(result)}\n\n`)
}

/** One benchmark that can not be finished is told as such; hours of others are not thrown away with it. */
const attempted = (name: string, work: Promise<BenchResult>): Promise<BenchResult> =>
  work.catch((error: unknown) => ({
    name,
    conditions: `NOT FINISHED: ${(error as Error).message.split('\n')[0]}`,
    figures: [],
  }))

/** The delay of the server's event loop while it was measured, as the server itself sees it: since it was last asked. */
const eventLoopDelay = async ({ server }: Prepared): Promise<number> =>
  Number((await server.call('/prime/webui/admin/systemstatus', undefined, await server.signIn())).eventLoopDelayMs)

const onFleet = chosen.filter((name) => Object.hasOwn(ofFleet, name))
for (const size of onFleet.length === 0 ? [] : sizes)
  await withFleet({ databaseUrl, agents: size, isQuick }, async (prepared) => {
    tell({ ...(await describeLoad(prepared)), agents: size })
    for (const name of Object.keys(ofFleet).filter((one) => onFleet.includes(one))) {
      await eventLoopDelay(prepared)
      const result = await attempted(name, (ofFleet[name] as (prepared: Prepared) => Promise<BenchResult>)(prepared))
      const delay = await eventLoopDelay(prepared)
      tell({
        ...result,
        agents: size,
        figures: [
          ...result.figures,
          {
            what: 'event loop delay of the server meanwhile, p99',
            value: round(delay),
            unit: 'ms',
            limit: 50,
            better: 'less',
          },
        ],
      })
    }
  })
for (const name of Object.keys(alone).filter((one) => chosen.includes(one)))
  tell(await attempted(name, (alone[name] as (settings: Settings) => Promise<BenchResult>)({ isQuick, databaseUrl })))

const json = results.map((r) => ({ ...r, figures: r.figures.map((f) => ({ ...f, ratio: ratioOf(f) })) }))
process.stdout.write(`${JSON.stringify(json)}\n`)
