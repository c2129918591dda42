/** Measures the agents list page by page, compared with a bare server that returns the same pages. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { fileURLToPath } from 'node:url'
import type { BenchServer } from '../kit/server-process.ts'
import type { Prepared } from './fleet.ts'
import { type Combination, combinations } from './page-combinations.ts'
import { type BenchResult, type Figure, percentile, round } from './result.ts'

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
    if (left > 0) await new Promise((resolve) => setTimeout(resolve, left))
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

const startBare = async (server: BenchServer) => {
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

const worst = (times: ReadonlyMap<string, readonly number[]>, count: number): Figure[] =>
  [...times]
    .map(([name, values]) => ({ name, p50: percentile(values, 0.5), p95: percentile(values, 0.95) }))
    .sort((a, b) => b.p50 - a.p50)
    .slice(0, count)
    .map(({ name, p50, p95 }) => ({
      what: `p50 of "${name}"`,
      value: round(p50, 1),
      unit: 'ms',
      beside: `p95 ${round(p95, 1)} ms`,
      better: 'less' as const,
    }))

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
    name: 'list',
    conditions: `${fleet.agents} hosts, ${fleet.peripherals} peripherals, pages of 50 in ${combinations.length} combinations, ${options.rounds} rounds, counts never cached; peer: a bare Node server with hand-written SQL, ${options.bareRounds} rounds`,
    figures: [
      {
        what: 'p50 over all',
        value: round(percentile(all, 0.5)),
        unit: 'ms',
        limit: isMillion ? 50 : 5,
        better: 'less',
      },
      {
        what: 'p95 over all',
        value: round(percentile(all, 0.95)),
        unit: 'ms',
        limit: slowest,
        better: 'less',
      },
      {
        what: 'p50 over filtered pages',
        value: round(percentile(filtered, 0.5)),
        unit: 'ms',
        limit: isMillion ? 50 : 5,
        better: 'less',
      },
      {
        what: 'p95 over filtered pages',
        value: round(percentile(filtered, 0.95)),
        unit: 'ms',
        limit: slowest,
        better: 'less',
      },
      {
        what: 'kinds of pages whose own p95 is above the limit',
        value: slow.length,
        unit: '',
        ...(slow.length === 0 ? {} : { beside: slow.join('; ') }),
        limit: 0,
        better: 'less',
      },
      { what: 'p50 over all, bare server', value: round(percentile(bareTimes, 0.5)), unit: 'ms', better: 'less' },
      { what: 'p95 over all, bare server', value: round(percentile(bareTimes, 0.95)), unit: 'ms', better: 'less' },
      { what: 'default page, 4 side by side', value: Math.round(rates.ours.rate), unit: '/s', better: 'more' },
      { what: 'the same from the bare server', value: Math.round(rates.bare.rate), unit: '/s', better: 'more' },
      {
        what: 'share of the bare server',
        value: round(rates.ours.rate / rates.bare.rate),
        unit: '',
        limit: 0.5,
        better: 'more',
      },
      {
        what: 'pages not given',
        value: [...refused.values()].reduce((sum, n) => sum + n, rates.ours.failed),
        unit: '',
        ...(refused.size === 0 ? {} : { beside: [...refused.keys()].join('; ') }),
        limit: 0,
        better: 'less',
      },
      ...worst(times, combinations.length),
    ],
  }
}
