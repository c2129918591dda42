/** `npm run bench -- [name…] [--quick]`: measures the product against its limits. Exits with code 1 if a limit is missed. */
import { attempt, openRun } from '../kit/run.ts'
import { atMost, round } from '../kit/verdict.ts'
import { alone, ofFleet } from './benchmarks.ts'
import { type Prepared, withFleet } from './fleet.ts'
import { describeLoad } from './load.ts'
import { type BenchResult, benchResult, tableOf } from './result.ts'

const names = [...Object.keys(ofFleet), ...Object.keys(alone)]
const sizesOf = (values: { agents?: unknown }): number[] | undefined =>
  typeof values.agents === 'string' ? values.agents.split(',').map(Number) : undefined
const run = openRun(
  `Usage: npm run bench -- [${names.join('|')}] [--quick] [--agents N,…] [--seed N] [--json FILE]

  --quick       a fleet of 100,000 hosts and fewer rounds, with the same limits, in five minutes
  --agents N,…  fleets of these sizes, from 100 to 1,000,000 hosts; by default 10,000, 100,000 and 1,000,000
  --seed N      repeats the fleet and the hosts that check in; by default a new number
  --json FILE   write the results as JSON

Exit code: 0 all limits are met, 1 a limit was missed, 2 wrong arguments, 3 incomplete (a part did not run)`,
  names,
  {
    options: ['agents'],
    isValid: (values) => sizesOf(values)?.every((size) => size >= 100 && size <= 1_000_000) !== false,
  },
)
const { isQuick, seed } = run
const databaseUrl = process.env.DATABASE_URL
// Load an external database only once: a second fleet would be added to the first.
const sizes = sizesOf(run.values) ?? (isQuick || databaseUrl !== undefined ? [100_000] : [10_000, 100_000, 1_000_000])

const record = (name: string, result: BenchResult, seconds: number, agents?: number): void => {
  const judged = benchResult(name, result, { seconds, seed, ...(agents === undefined ? {} : { agents }) })
  run.record(judged, `${tableOf(judged)}\n`)
}

const notRun = (name: string, what: string, error: Error): BenchResult => ({
  ...{ what, findings: [] },
  notRun: [`${name}: ${error.message.split('\n')[0]}`],
})

/** A benchmark that throws is incomplete. The others still run. */
const attempted = (name: string, work: () => Promise<BenchResult>): Promise<[BenchResult, number]> =>
  attempt(work, (error) => notRun(name, 'not finished', error))

/** Returns the event loop delay that the server reports for the time since the last request. */
const eventLoopDelay = async ({ server }: Prepared): Promise<number> =>
  Number((await server.call('/prime/webui/admin/systemstatus', undefined, await server.signIn())).eventLoopDelayMs)

/** Runs the benchmarks of one fleet. After an error outside a benchmark, the remaining ones count as not run. */
const measureFleet = async (chosen: readonly [string, (typeof ofFleet)[string]][], size: number): Promise<void> => {
  const left = new Set(chosen.map(([name]) => name))
  try {
    await withFleet({ databaseUrl, agents: size, isQuick, seed }, async (prepared) => {
      record('load', await describeLoad(prepared), Math.round(prepared.loadSeconds), size)
      for (const [name, bench] of chosen) {
        await eventLoopDelay(prepared)
        const [result, seconds] = await attempted(name, () => bench(prepared))
        const delay = round(await eventLoopDelay(prepared))
        left.delete(name)
        const findings = [...result.findings, atMost('event loop delay of the server meanwhile, p99', delay, 50, 'ms')]
        record(name, { ...result, findings }, seconds, size)
      }
    })
  } catch (error) {
    for (const name of left) record(name, notRun(name, 'not run', error as Error), 0, size)
  }
}

const chosenOf = <T>(all: Readonly<Record<string, T>>): [string, T][] =>
  Object.entries(all).filter(([name]) => run.chosen.includes(name))
const onFleet = chosenOf(ofFleet)
for (const size of onFleet.length === 0 ? [] : sizes) await measureFleet(onFleet, size)
for (const [name, bench] of chosenOf(alone))
  record(name, ...(await attempted(name, () => bench({ isQuick, databaseUrl }))))
run.end()
