/** Measures the agents list page by page, and its default page compared with a bare server. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Installation } from '../kit/installation.ts'
import { atLeast, atMost, type Finding, figure, percentile, round } from '../kit/verdict.ts'
import { createWire } from '../kit/wire.ts'
import type { Prepared } from './fleet.ts'
import { combinations } from './page-combinations.ts'
import type { BenchResult } from './result.ts'

interface Answer {
  milliseconds: number
  /** False for any status but 200. It does not throw, because a page that the server fails to return is a finding. */
  isGiven: boolean
  text: string
}

const path = '/prime/webui/agents?'
/** Length of a round. Counts are cached for one second, so each round counts again. */
const roundMs = 1_100
const parallel = 4
const defaultPage = 'PageSize=50'

const createGetter = (url: string, token: string | undefined) => {
  const wire = createWire(url, { connections: parallel })
  return async (query: string): Promise<Answer> => {
    const startedAt = performance.now()
    const { status, text } = await wire.once({ method: 'GET', path: path + query, token })
    return { milliseconds: performance.now() - startedAt, isGiven: status === 200, text }
  }
}

type Getter = ReturnType<typeof createGetter>

/** Returns the milliseconds by combination, and the number of failed pages. */
const measureRounds = async (get: Getter, rounds: number) => {
  const times = new Map<string, number[]>(combinations.map(({ name }) => [name, []]))
  const refused = new Map<string, number>()
  // The first round warms up pages and prepared statements and does not count.
  for (let n = 0; n <= rounds; n++) {
    const startedAt = performance.now()
    for (const { name, query } of combinations) {
      const { milliseconds, isGiven } = await get(query)
      if (!isGiven) refused.set(name, (refused.get(name) ?? 0) + 1)
      if (n > 0) times.get(name)?.push(milliseconds)
    }
    const left = roundMs - (performance.now() - startedAt)
    if (left > 0) await pause(left)
  }
  return { times, refused }
}

/** Returns the number of pages per second. Failed requests do not count as throughput. */
const perSecond = async (get: Getter, seconds: number): Promise<{ rate: number; failed: number }> => {
  let done = 0
  let failed = 0
  const endsAt = performance.now() + seconds * 1000
  await Promise.all(
    Array.from({ length: parallel }, async () => {
      while (performance.now() < endsAt) {
        const { isGiven } = await get(defaultPage)
        if (isGiven) done += 1
        else failed += 1
      }
    }),
  )
  return { rate: done / seconds, failed }
}

const startBare = async (server: Installation) => {
  const script = fileURLToPath(new URL('bare-server.ts', import.meta.url))
  const child = spawn(process.execPath, [script, JSON.stringify(server.connection)], {
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  })
  const [port] = (await once(child.stdout as NodeJS.ReadableStream, 'data')) as [Buffer]
  return { url: `http://127.0.0.1:${port.toString().trim()}`, stop: () => child.disconnect() }
}

interface ListPage {
  recordsTotal: number
  data: { uuid: string }[]
}

/** Throws if the bare server returns other hosts, because then a comparison is meaningless. */
const assertSame = async (ours: Getter, bare: Getter): Promise<void> => {
  const hostsOf = async (get: Getter): Promise<string> => {
    const { recordsTotal, data } = JSON.parse((await get(defaultPage)).text) as ListPage
    return JSON.stringify([recordsTotal, data.map(({ uuid }) => uuid)])
  }
  if ((await hostsOf(ours)) !== (await hostsOf(bare))) throw new Error('The bare server returned a different page.')
}

const worst = (times: ReadonlyMap<string, readonly number[]>, count: number): Finding[] =>
  [...times]
    .map(([name, values]) => ({ name, p50: percentile(values, 0.5), p95: percentile(values, 0.95) }))
    .sort((a, b) => b.p50 - a.p50)
    .slice(0, count)
    .map(({ name, p50, p95 }) => figure(`p50 of "${name}"`, round(p50, 1), 'ms', `p95 ${round(p95, 1)} ms`))

export const benchList = async ({ server, fleet, isQuick }: Prepared): Promise<BenchResult> => {
  const options = isQuick ? { rounds: 8, seconds: 4 } : { rounds: 25, seconds: 10 }
  const ours = createGetter(server.url, await server.signIn())
  const { times, refused } = await measureRounds(ours, options.rounds)
  const all = [...times.values()].flat()
  const bareServer = await startBare(server)
  const bare = createGetter(bareServer.url, undefined)
  await assertSame(ours, bare)
  const rates = { bare: await perSecond(bare, options.seconds), ours: await perSecond(ours, options.seconds) }
  bareServer.stop()
  const isMillion = fleet.agents > 500_000
  const slowest = isMillion ? 200 : 30
  const filtered = combinations.filter(({ isFiltered }) => isFiltered).flatMap(({ name }) => times.get(name) ?? [])
  const slow = [...times].filter(([, values]) => percentile(values, 0.95) > slowest).map(([name]) => name)
  return {
    what: `${fleet.agents} hosts, ${fleet.peripherals} peripherals, pages of 50 in ${combinations.length} combinations, ${options.rounds} rounds, counts never cached; peer of the default page: a bare Node server with hand-written SQL`,
    findings: [
      atMost('p50 over all', round(percentile(all, 0.5)), isMillion ? 50 : 5, 'ms'),
      atMost('p95 over all', round(percentile(all, 0.95)), slowest, 'ms'),
      atMost('p50 over filtered pages', round(percentile(filtered, 0.5)), isMillion ? 50 : 5, 'ms'),
      atMost('p95 over filtered pages', round(percentile(filtered, 0.95)), slowest, 'ms'),
      atMost(
        'kinds of pages whose own p95 is above the limit',
        slow.length,
        0,
        '',
        slow.length === 0 ? undefined : slow.join('; '),
      ),
      figure('default page, 4 side by side', Math.round(rates.ours.rate), '/s'),
      figure('the same from the bare server', Math.round(rates.bare.rate), '/s'),
      atLeast('share of the bare server', round(rates.ours.rate / rates.bare.rate), 0.5),
      atMost(
        'pages not given',
        [...refused.values()].reduce((sum, n) => sum + n, rates.ours.failed),
        0,
        '',
        refused.size === 0 ? undefined : [...refused.keys()].join('; '),
      ),
      ...worst(times, combinations.length),
    ],
  }
}
