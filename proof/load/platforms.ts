import { createHostAgent, type HostAgent } from '../../cli/simulator/host-agent.ts'
import { createHost } from '../../cli/simulator/hosts.ts'
import { createInventory } from '../../cli/simulator/inventory.ts'
import type { Platform } from '../../cli/simulator/platforms.ts'
import { createRandom } from '../../cli/simulator/random.ts'
import { createTransport } from '../../cli/simulator/transport.ts'
import { createWaits } from '../../cli/simulator/waits.ts'
import { startServer } from '../kit/installation.ts'
import { atLeast, atMost, figure, round } from '../kit/verdict.ts'
import { forEachOf } from '../kit/wire.ts'
import type { BenchResult, Settings } from './result.ts'

/** As in the simulator. The server enrols hosts one by one, so more would only wait. */
const concurrency = 16
/** Requirement: reports of Windows hosts cost at most a quarter more than those of Linux hosts. */
const wantedShare = 0.8

/** Compares reports of simulated Windows and Linux hosts, in turns on the same server. */
export const benchPlatforms = async ({ databaseUrl, isQuick }: Settings): Promise<BenchResult> => {
  // Hosts of each platform, and rounds in which each reports one change.
  const { hosts, rounds } = isQuick ? { hosts: 200, rounds: 4 } : { hosts: 1_000, rounds: 10 }
  await using server = await startServer({ databaseUrl })
  using transport = createTransport({ server: new URL(server.url), connections: concurrency })
  const failed: string[] = []
  const waits = createWaits()
  const token = await server.enrolmentToken(2 * hosts)
  const fleetOf = (platform: Platform, from: number): HostAgent[] =>
    Array.from({ length: hosts }, (_, i) => {
      const random = createRandom(Math.imul(i + 1, 0x85ebca6b))
      const host = createHost(from + i, random, 'platforms', platform)
      const inventory = createInventory(host.department, random, platform)
      const clock = { now: () => Date.now() }
      return createHostAgent({ host, inventory, transport, clock, waits, failed: (what) => failed.push(what) })
    })
  const fleets = { linux: fleetOf('linux', 0), windows: fleetOf('windows', hosts) }
  type Name = keyof typeof fleets
  const spent: Record<Name, { checkIns: number; seconds: number }> = {
    linux: { checkIns: 0, seconds: 0 },
    windows: { checkIns: 0, seconds: 0 },
  }
  const reported = async (name: Name, work: (host: HostAgent) => void = () => {}): Promise<void> => {
    const before = server.cpu()
    await forEachOf(fleets[name], concurrency, async (host) => {
      work(host)
      await host.checkIn(undefined, () => {
        spent[name].checkIns++
      })
    })
    const after = server.cpu()
    spent[name].seconds += after.server - before.server + after.database - before.database
  }
  /** Returns the check-ins per core-second since the last call. */
  const rates = (): Record<Name, number> => {
    const rate = (name: Name): number => spent[name].checkIns / spent[name].seconds
    const result = { linux: rate('linux'), windows: rate('windows') }
    for (const name of ['linux', 'windows'] as const) spent[name] = { checkIns: 0, seconds: 0 }
    return result
  }
  for (const fleet of Object.values(fleets)) await forEachOf(fleet, concurrency, (host) => host.join(token))
  for (const name of ['linux', 'windows'] as const) await reported(name)
  const first = rates()
  for (let i = 0; i < rounds; i++)
    // Each platform goes first equally often.
    for (const name of i % 2 === 0 ? (['linux', 'windows'] as const) : (['windows', 'linux'] as const))
      await reported(name, (host) => host.changeDevices())
  const changed = rates()
  return {
    what: `${hosts} simulated hosts of each platform in turns, ${rounds} changes each; server and database on this machine`,
    findings: [
      atLeast(
        'a change: check-ins of Windows hosts per core-second, as share of Linux hosts',
        round(changed.windows / changed.linux),
        wantedShare,
        '',
        `${round(changed.windows, 0)}/s and ${round(changed.linux, 0)}/s`,
      ),
      figure(
        'the first inventory: the same',
        round(first.windows / first.linux),
        '',
        `${round(first.windows, 0)}/s and ${round(first.linux, 0)}/s`,
      ),
      atMost(
        'requests of simulated hosts that failed',
        failed.length,
        0,
        '',
        failed[0] === undefined ? undefined : `first: ${failed[0]}`,
      ),
    ],
  }
}
