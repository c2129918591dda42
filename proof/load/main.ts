/** `npm run bench -- [name…] [--quick]`: measures the product against its limits. Exits with code 1 if a limit is missed. */
import { randomInt } from 'node:crypto'
import { parseArgs } from 'node:util'
import { seedChance } from '../kit/chance.ts'
import { machine } from '../kit/machine.ts'
import { incompleteUntil, sumOf, writeResults } from '../kit/run-checks.ts'
import { type Result, worstOf } from '../kit/verdict.ts'
import { alone, ofFleet, type Settings } from './benchmarks.ts'
import { type Prepared, withFleet } from './fleet.ts'
import { describeLoad } from './load.ts'
import { type BenchResult, judged, round, tableOf } from './result.ts'

const names = [...Object.keys(ofFleet), ...Object.keys(alone)]
const usage = `Usage: npm run bench -- [${names.join('|')}] [--quick] [--agents N,…] [--seed N] [--json FILE]

  --quick       a fleet of 100,000 hosts and fewer rounds, with the same limits, in five minutes
  --agents N,…  fleets of these sizes, from 100 to 1,000,000 hosts; by default 10,000, 100,000 and 1,000,000
  --seed N      repeats the fleet and the hosts that check in; by default a new number
  --json FILE   write the results as JSON

Exit code: 0 all limits are met, 1 a limit was missed, 2 wrong arguments, 3 incomplete (a part did not run)`

const readArguments = () => {
  try {
    return parseArgs({
      options: {
        quick: { type: 'boolean' },
        agents: { type: 'string' },
        seed: { type: 'string' },
        json: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
    })
  } catch (error) {
    process.stderr.write(`${(error as Error).message}\n${usage}\n`)
    process.exit(2)
  }
}
const { values, positionals } = readArguments()
if (values.help === true) {
  process.stdout.write(`${usage}\n`)
  process.exit(0)
}
const chosen = positionals.length === 0 ? names : positionals
const agents = values.agents?.split(',').map(Number)
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed)
if (
  chosen.some((name) => !names.includes(name)) ||
  agents?.some((size) => !(size >= 100 && size <= 1_000_000)) === true ||
  !Number.isSafeInteger(seed)
) {
  process.stderr.write(`${usage}\n`)
  process.exit(2)
}
const isQuick = values.quick === true
const databaseUrl = process.env.DATABASE_URL
// Load an external database only once: a second fleet would be added to the first.
const sizes =
  agents !== undefined ? agents : isQuick || databaseUrl !== undefined ? [100_000] : [10_000, 100_000, 1_000_000]

const finish = incompleteUntil()
seedChance(seed)
process.stderr.write(`${machine()}; seed ${seed}\n`)
const results: Result[] = []
const record = (result: BenchResult, seconds: number): void => {
  results.push(judged(result, seconds, seed))
  // Write after each result, so that an interrupted run keeps its measurements.
  writeResults(values.json, results)
  process.stdout.write(`${tableOf(result)}\n\n`)
}

/** A benchmark that throws is incomplete. The others still run. */
const attempted = async (name: string, work: () => Promise<BenchResult>): Promise<[BenchResult, number]> => {
  const startedAt = performance.now()
  const result = await work().catch(
    (error: unknown): BenchResult => ({
      name,
      conditions: 'not finished',
      figures: [],
      notRun: [`${name}: ${(error as Error).message.split('\n')[0]}`],
    }),
  )
  return [result, Math.round((performance.now() - startedAt) / 100) / 10]
}

/** Returns the event loop delay that the server reports for the time since the last request. */
const eventLoopDelay = async ({ server }: Prepared): Promise<number> =>
  Number((await server.call('/prime/webui/admin/systemstatus', undefined, await server.signIn())).eventLoopDelayMs)

const onFleet = Object.keys(ofFleet).filter((name) => chosen.includes(name))

/** Runs the benchmarks of one fleet. After an error outside a benchmark, the remaining ones count as not run. */
const measureFleet = async (size: number): Promise<void> => {
  const left = new Set(onFleet)
  try {
    await withFleet({ databaseUrl, agents: size, isQuick, seed }, async (prepared) => {
      record({ ...(await describeLoad(prepared)), agents: size }, Math.round(prepared.loadSeconds))
      for (const name of onFleet) {
        await eventLoopDelay(prepared)
        const [result, seconds] = await attempted(name, () =>
          (ofFleet[name] as (prepared: Prepared) => Promise<BenchResult>)(prepared),
        )
        const delay = await eventLoopDelay(prepared)
        left.delete(name)
        record(
          {
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
          },
          seconds,
        )
      }
    })
  } catch (error) {
    const reason = (error as Error).message.split('\n')[0]
    for (const name of left)
      record({ name, agents: size, conditions: 'not run', figures: [], notRun: [`${name}: ${reason}`] }, 0)
  }
}

for (const size of onFleet.length === 0 ? [] : sizes) await measureFleet(size)
for (const name of Object.keys(alone).filter((one) => chosen.includes(one)))
  record(
    ...(await attempted(name, () =>
      (alone[name] as (settings: Settings) => Promise<BenchResult>)({ isQuick, databaseUrl }),
    )),
  )

const verdict = worstOf(results.map((one) => one.verdict))
process.stdout.write(`${JSON.stringify(results)}\n${verdict}: ${sumOf(results)}\n`)
finish(verdict)
