/** Runs lists and check-ins at the same time over HTTPS, each at the rate of a fleet and its operators. */

import { setTimeout as pause } from 'node:timers/promises'
import { cpuSecondsOf } from '../kit/proc.ts'
import { seededRandom } from '../kit/seeded-random.ts'
import { atLeast, atMost, type Finding, figure, percentile, round } from '../kit/verdict.ts'
import { createWire } from '../kit/wire.ts'
import { checkInsOf, openSessions } from './check-in.ts'
import type { Prepared } from './fleet.ts'
import { combinations } from './page-combinations.ts'
import { runPaced } from './raw-client.ts'
import type { BenchResult } from './result.ts'

/** Check-in interval of the fleet. This machine also runs the load generator. */
const intervalSeconds = 60
const mostPerSecond = 2_000
const mostLanes = 128
const pagesPerSecond = 10
const changedShare = 0.01

/** Requests all kinds of pages at a steady rate, without waiting for earlier responses. */
const readPages = async (url: string, ca: string, token: string, seconds: number) => {
  const wire = createWire(url, { connections: 16, ca })
  const times: number[] = []
  let failed = 0
  const get = async (query: string): Promise<void> => {
    const startedAt = performance.now()
    const { status } = await wire.once({ method: 'GET', path: `/prime/webui/agents?${query}`, token })
    if (status === 200) times.push(performance.now() - startedAt)
    else failed += 1
  }
  const asked: Promise<void>[] = []
  for (let n = 0; n < seconds * pagesPerSecond; n++) {
    const { query } = combinations[
      Math.floor(seededRandom('mixed pages') * combinations.length)
    ] as (typeof combinations)[number]
    asked.push(get(query))
    await pause(1_000 / pagesPerSecond)
  }
  await Promise.all(asked)
  wire.close()
  return { times, failed }
}

export const benchMixed = async ({ server, fleet, isQuick, startReplica }: Prepared): Promise<BenchResult> => {
  const seconds = isQuick ? 10 : 60
  const wanted = Math.min(mostPerSecond, fleet.agents / intervalSeconds)
  const isMillion = fleet.agents > 500_000
  await using replica = await startReplica({ isTls: true })
  const ca = String(replica.ca)
  const players = await openSessions(replica, fleet.played)
  const lanes = Math.min(mostLanes, Math.ceil(wanted))
  const { works, result } = checkInsOf(players, lanes, changedShare)
  const token = await server.signIn()
  await readPages(replica.url, ca, token, 3)
  const cpu = { server: cpuSecondsOf(replica.pid), database: server.cpu().database }
  const [pages] = await Promise.all([
    readPages(replica.url, ca, token, seconds),
    runPaced(replica.url, ca, works, wanted / lanes, seconds),
  ])
  const spent = cpuSecondsOf(replica.pid) - cpu.server + (server.cpu().database - cpu.database)
  const figures: Finding[] = [
    atMost('pages: p50', round(percentile(pages.times, 0.5)), isMillion ? 50 : 5, 'ms'),
    atMost('pages: p95', round(percentile(pages.times, 0.95)), isMillion ? 200 : 30, 'ms'),
    atMost('pages: failed', pages.failed, 0),
    atLeast(
      'check-ins: share of the wanted pace',
      round(result.taken / seconds / wanted),
      0.95,
      '',
      `${Math.round(wanted)} /s wanted`,
    ),
    atMost('check-ins: p99 from the time they are due', round(result.times.at(0.99)), 250, 'ms'),
    atMost('check-ins: failed', result.failed, 0),
    figure('processor time of server and database', round(spent / seconds), 'cores'),
  ]
  return {
    what: `${pagesPerSecond} pages of 50 a second in ${combinations.length} combinations beside check-ins of ${fleet.played.length} hosts drawn uniformly from ${fleet.agents}, 1 % of them changed, as many as a fleet sends in ${intervalSeconds} s but at most ${mostPerSecond} a second; all over HTTPS, ${seconds} s, load generator on the same cores`,
    findings: figures,
  }
}
