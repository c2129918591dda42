/** Measures the agents list page by page, compared with a bare server that returns the same pages. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Installation } from '../kit/installation.ts'
import { atLeast, atMost, type Finding, figure } from '../kit/verdict.ts'
import type { Prepared } from './fleet.ts'
import { type Combination, combinations } from './page-combinations.ts'
import { type BenchResult, percentile, round } from './result.ts'

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

const createGetter = (base: string, token: string | undefined) => {
  const agent = new Agent({ keepAlive: true, maxSockets: parallel })
  const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
  return (query: string): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const startedAt = performance.now()
      const sent = request(`${base}${path}${query}`, { agent, headers }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () => {
          const milliseconds = performance.now() - startedAt
          const text = Buffer.concat(chunks).toString('utf8')
          resolve({ milliseconds, isGiven: response.statusCode === 200, text })
        })
      })
      sent.on('error', reject)
      sent.end()
    })
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
        const { isGiven } = await get('PageSize=50')
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
  recordsFiltered: number
  data: { uuid: string }[]
}

/** Returns the content of a page: its totals and its hosts in order. */
const pageOf = (text: string): string => {
  const { recordsTotal, recordsFiltered, data } = JSON.parse(text) as ListPage
  return JSON.stringify([recordsTotal, recordsFiltered, data.map(({ uuid }) => uuid)])
}

/** Throws if the two servers return different hosts, because then a comparison is meaningless. */
const assertSame = async (ours: Getter, bare: Getter, { name, query }: Combination): Promise<void> => {
  const [a, b] = [await ours(query), await bare(query)]
  if (!b.isGiven) throw new Error(`The bare server returned no page for "${name}": ${b.text}`)
  if (a.isGiven && pageOf(a.text) !== pageOf(b.text))
    throw new Error(`The bare server returned a different page for "${name}".`)
}

const worst = (times: ReadonlyMap<string, readonly number[]>, count: number): Finding[] =>
  [...times]
    .map(([name, values]) => ({ name, p50: percentile(values, 0.5), p95: percentile(values, 0.95) }))
    .sort((a, b) => b.p50 - a.p50)
    .slice(0, count)
    .map(({ name, p50, p95 }) => figure(`p50 of "${name}"`, round(p50, 1), 'ms', `p95 ${round(p95, 1)} ms`))

export const benchList = async ({ server, fleet, isQuick }: Prepared): Promise<BenchResult> => {
  const options = isQuick ? { rounds: 8, bareRounds: 1, seconds: 4 } : { rounds: 25, bareRounds: 3, seconds: 10 }
  const ours = createGetter(server.url, await server.signIn())
  const { times, refused } = await measureRounds(ours, options.rounds)
  const all = [...times.values()].flat()
  const bareServer = await startBare(server)
  const bare = createGetter(bareServer.url, undefined)
  for (const combination of combinations) await assertSame(ours, bare, combination)
  const bareRounds = await measureRounds(bare, options.bareRounds)
  const bareTimes = [...bareRounds.times.values()].flat()
  const rates = { bare: await perSecond(bare, options.seconds), ours: await perSecond(ours, options.seconds) }
  bareServer.stop()
  const isMillion = fleet.agents > 500_000
  const slowest = isMillion ? 200 : 30
  const filtered = combinations.filter(({ isFiltered }) => isFiltered).flatMap(({ name }) => times.get(name) ?? [])
  const slow = [...times].filter(([, values]) => percentile(values, 0.95) > slowest).map(([name]) => name)
  return {
    what: `${fleet.agents} hosts, ${fleet.peripherals} peripherals, pages of 50 in ${combinations.length} combinations, ${options.rounds} rounds, counts never cached; peer: a bare Node server with hand-written SQL, ${options.bareRounds} rounds`,
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
      figure('p50 over all, bare server', round(percentile(bareTimes, 0.5)), 'ms'),
      figure('p95 over all, bare server', round(percentile(bareTimes, 0.95)), 'ms'),
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
