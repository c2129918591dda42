/** Measures how long the server takes to start: empty, with a fleet, and after a kill. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { temporaryFolder } from '../kit/database.ts'
import { seedFingerprints } from '../kit/fleet.ts'
import { loadFleet } from '../kit/loader.ts'
import { cpuSecondsOfTree } from '../kit/proc.ts'
import type { ServerProcess } from '../kit/server.ts'
import { atMost, figure, percentile, round } from '../kit/verdict.ts'
import { createProduction, type Started } from './production.ts'
import type { BenchResult, Settings } from './result.ts'

/** Fingerprints in the fleet, and devices of each host: as in the benchmarks of a fleet. */
const designs = 3_000
const peripheralsPerAgent = 12
/** Time between a start and a kill, so that the kill meets a server that has finished its start. */
const runsForMs = 3_000

const load = async (server: ServerProcess, connection: Parameters<typeof loadFleet>[0], hosts: number) => {
  await seedFingerprints(server, designs)
  await loadFleet(connection, { agents: hosts, peripheralsPerAgent, nowMs: Date.now() })
}

const seconds = (milliseconds: readonly number[]): number => round(percentile(milliseconds, 0.5) / 1000)
const slowest = (milliseconds: readonly number[]): string => `slowest ${round(Math.max(...milliseconds) / 1000)} s`

export const benchStart = async ({ isQuick }: Settings): Promise<BenchResult> => {
  const { hosts, rounds } = isQuick ? { hosts: 10_000, rounds: 3 } : { hosts: 100_000, rounds: 5 }
  const folder = temporaryFolder('start')
  let server: ServerProcess | undefined
  const times = { empty: [] as number[], loaded: [] as number[], killed: [] as number[] }
  const cpu = { empty: [] as number[], loaded: [] as number[], killed: [] as number[] }
  try {
    const timed = async (kind: keyof typeof times, start: () => Promise<Started>): Promise<void> => {
      const started = await start()
      server = started.server
      times[kind].push(started.readyMs)
      cpu[kind].push(cpuSecondsOfTree(server.pid))
    }
    let production = await createProduction(folder)
    for (let n = 0; n < rounds; n++) {
      await server?.end()
      rmSync(join(folder, 'data'), { recursive: true, force: true })
      production = await createProduction(folder)
      await timed('empty', production.start)
    }
    await load(server as ServerProcess, production.connection, hosts)
    for (let n = 0; n < rounds; n++) {
      await server?.end()
      await timed('loaded', production.start)
    }
    for (let n = 0; n < rounds; n++) {
      await setTimeout(runsForMs)
      await server?.end('SIGKILL')
      await timed('killed', production.start)
    }
    return {
      what: `${rounds} starts each until /readyz answers 200, with the embedded database and HTTPS by an own CA; files are in the page cache; medians`,
      findings: [
        atMost('start with an empty data directory', seconds(times.empty), 6, 's', slowest(times.empty)),
        atMost(`start with the data of ${hosts} hosts`, seconds(times.loaded), 3, 's', slowest(times.loaded)),
        atMost(
          `restart after a kill, with the data of ${hosts} hosts`,
          seconds(times.killed),
          1.5,
          's',
          slowest(times.killed),
        ),
        ...(['empty', 'loaded', 'killed'] as const).map((kind) =>
          figure(
            `processor time until then: ${{ empty: 'empty data directory', loaded: 'with hosts', killed: 'after a kill' }[kind]}`,
            round(percentile(cpu[kind], 0.5)),
            's',
          ),
        ),
      ],
    }
  } finally {
    await server?.end()
  }
}
