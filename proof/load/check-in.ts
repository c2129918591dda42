/** Measures check-ins per second, and check-ins per CPU second of server and database. */

import { setTimeout as pause } from 'node:timers/promises'
import { inventoryHash } from '@portcullis/domain'
import { storageStick } from '@portcullis/domain/testing'
import { agentPaths, type DeviceReport } from '@portcullis/features/contract.ts'
import type pg from 'pg'
import { createPercentiles } from '../../cli/simulator/percentiles.ts'
import { createTransport } from '../../cli/simulator/transport.ts'
import type { Installation } from '../kit/installation.ts'
import type { PlayedHost } from '../kit/loader/hosts.ts'
import { cpuSecondsOf } from '../kit/proc.ts'
import { openSession } from '../kit/reporting-host.ts'
import { seededRandom } from '../kit/seeded-random.ts'
import { atLeast, atMost, type Finding, figure, round } from '../kit/verdict.ts'
import type { Prepared } from './fleet.ts'
import { runFresh, runRaw, type Work } from './raw-client.ts'
import type { BenchResult } from './result.ts'

/** A host with an open session and its prepared requests. */
export interface Player {
  host: PlayedHost
  bootId: string
  head: string
  seq: number
  isPlugged: boolean
  devices: DeviceReport[]
}

const stick = storageStick({ portPath: '4-1' })
const seqWidth = 10

export const openSessions = async (
  { url, ca }: Pick<Installation, 'url' | 'ca'>,
  hosts: readonly PlayedHost[],
): Promise<Player[]> => {
  const transport = createTransport({ server: new URL(url), connections: 4, ...(ca === undefined ? {} : { ca }) })
  const { host: authority } = new URL(url)
  const players = await Promise.all(
    hosts.map(async (host): Promise<Player> => {
      let { answer, bootId } = await openSession(transport, host)
      // If a whole fleet opens sessions at once, the server returns 503 and asks hosts to try again later.
      while (answer.status === 503) {
        await pause(seededRandom('session waits') * Math.max(500, answer.retryAfterMs))
        ;({ answer, bootId } = await openSession(transport, host))
      }
      if (answer.status !== 200) throw new Error(`A session was refused: ${JSON.stringify(answer.body)}`)
      const head = `POST ${agentPaths.checkIn} HTTP/1.1\r\nHost: ${authority}\r\nContent-Type: application/json\r\nAuthorization: Bearer ${answer.body.token}\r\nContent-Length: `
      return { host, bootId, head, seq: Number(answer.body.nextSeq), isPlugged: false, devices: host.devices }
    }),
  )
  transport.close()
  return players
}

const unchanged = (player: Player): Buffer => {
  const body = `{"bootId":"${player.bootId}","seq":${String(player.seq).padStart(seqWidth)},"inventoryHash":"${player.host.inventoryHash}","clock":${Date.now()}}`
  return Buffer.from(`${player.head}${body.length}\r\n\r\n${body}`, 'latin1')
}

/** Attaches a stick, or detaches it again. */
const changed = (player: Player): Buffer => {
  player.isPlugged = !player.isPlugged
  const at = Date.now()
  const change = player.isPlugged
    ? { op: 'attached', at, device: stick }
    : { op: 'removed', at, portPath: stick.portPath }
  player.devices = player.isPlugged ? [...player.host.devices, stick] : player.host.devices
  player.host.inventoryHash = inventoryHash(player.devices)
  const body = Buffer.from(
    JSON.stringify({
      bootId: player.bootId,
      seq: player.seq,
      inventoryHash: player.host.inventoryHash,
      clock: at,
      changes: [change],
    }),
  )
  return Buffer.concat([Buffer.from(`${player.head}${body.length}\r\n\r\n`), body])
}

/** Returns the next request of a host. A share of the requests reports a change. */
const requestOf = (player: Player, changedShare: number): Buffer => {
  const bytes =
    changedShare > 0 && seededRandom('check-in changes') < changedShare ? changed(player) : unchanged(player)
  player.seq += 1
  return bytes
}

/** Divides the hosts among connections, as a reverse proxy does, and counts the answers to their check-ins. */
export const checkInsOf = (
  players: readonly Player[],
  connections: number,
  changedShare: number,
  isOver: () => boolean = () => false,
) => {
  const result = { taken: 0, failed: 0, times: createPercentiles() }
  const works = Array.from({ length: connections }, (_, lane): Work => {
    const mine = players.filter((_, index) => index % connections === lane)
    return {
      next: () => {
        if (mine.length === 0 || isOver()) return undefined
        // Draw hosts uniformly, as in a real fleet. In a fixed order, each batch would always have the same rows.
        return requestOf(mine[Math.floor(seededRandom(`check-in lane ${lane}`) * mine.length)] as Player, changedShare)
      },
      answered: (status, body, milliseconds) => {
        result.times.add(milliseconds)
        if (status === 200 && !body.includes('needInventory')) result.taken += 1
        else {
          result.failed += 1
          if (result.failed <= 3) process.stderr.write(`check-in: ${status} ${body.slice(0, 300)}\n`)
        }
      },
    }
  })
  return { works, result }
}

export interface Measured {
  /** Check-ins that the server accepted. */
  count: number
  perSecond: number
  perCoreSecond: number
  serverShare: number
  p50: number
  p99: number
  failed: number
}

/** The parts of a server that a check-in measurement uses. */
export type Measurable = Pick<Installation, 'url' | 'ca' | 'cpu'>

export const measure = async (
  server: Measurable,
  players: readonly Player[],
  connections: number,
  seconds: number,
  changedShare: number,
  run: typeof runRaw = runRaw,
): Promise<Measured> => {
  let endsAt = 0
  const { works, result } = checkInsOf(players, connections, changedShare, () => performance.now() >= endsAt)
  let before = server.cpu()
  let startedAt = 0
  await run(server.url, server.ca, works, () => {
    before = server.cpu()
    startedAt = performance.now()
    endsAt = startedAt + seconds * 1000
  })
  const elapsed = (performance.now() - startedAt) / 1000
  const after = server.cpu()
  const [own, database] = [after.server - before.server, after.database - before.database]
  const { taken, failed, times } = result
  return {
    count: taken,
    perSecond: taken / elapsed,
    perCoreSecond: taken / (own + (Number.isFinite(database) ? database : 0)),
    serverShare: Number.isFinite(database) ? own / (own + database) : Number.NaN,
    p50: times.at(0.5),
    p99: times.at(0.99),
    failed,
  }
}

const figures = (what: string, m: Measured, limit?: number, p99Limit?: number): Finding[] => [
  atLeast(`${what}: per core-second, server and database`, Math.round(m.perCoreSecond), limit, '/s'),
  figure(`${what}: per second on this machine`, Math.round(m.perSecond), '/s'),
  figure(`${what}: p50`, round(m.p50), 'ms'),
  atMost(`${what}: p99`, round(m.p99), p99Limit, 'ms'),
  figure(`${what}: share of the server process in the CPU time`, round(m.serverShare * 100, 0), '%'),
  atMost(`${what}: refused or asked for an inventory`, m.failed, 0),
]

/** Limit for the p99 of check-ins. */
const p99Ms = 250

const shares = { unchanged: 0, '1 % changed': 0.01 } as const

/** Number of hosts that connect at the same time if each check-in opens its own connection. */
const freshLanes = 64

/** Number of connections, each with its own hosts, as from a reverse proxy. */
export const connections = 512

/** Returns the bytes of the write-ahead log so far. */
const logBytes = async (client: pg.Client): Promise<number> => {
  const { rows } = await client.query<{ n: string }>("SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0') AS n")
  return Number(rows[0]?.n ?? 0)
}

/** Measures check-ins without changes and check-ins with changes. */
const measureBoth = async (
  server: Measurable,
  players: readonly Player[],
  seconds: number,
): Promise<Record<keyof typeof shares, Measured> & { asked: number }> => {
  // Warm up prepared statements, pages and the just-in-time compiler.
  const warm = await measure(server, players, connections, Math.min(3, seconds), 0)
  const unchanged = await measure(server, players, connections, seconds, shares.unchanged)
  const changed = await measure(server, players, connections, seconds, shares['1 % changed'])
  return { unchanged, '1 % changed': changed, asked: warm.count + unchanged.count + changed.count }
}

/** Runs the same hosts over plain HTTP first, then with new sessions against a replica that serves HTTPS. */
export const benchCheckIn = async ({
  server,
  fleet,
  isQuick,
  client,
  startReplica,
}: Prepared): Promise<BenchResult> => {
  const seconds = isQuick ? 5 : 20
  const players = await openSessions(server, fleet.played)
  const before = await logBytes(client)
  const plain = await measureBoth(server, players, seconds)
  const written = (await logBytes(client)) - before
  await using replica = await startReplica({ isTls: true })
  const overTls = {
    ...replica,
    cpu: () => ({ server: cpuSecondsOf(replica.pid), database: server.cpu().database }),
  }
  const overTlsPlayers = await openSessions(overTls, fleet.played)
  const tls = await measureBoth(overTls, overTlsPlayers, seconds)
  const fresh = await measure(overTls, overTlsPlayers, freshLanes, seconds, shares['1 % changed'], runFresh)
  return {
    what: `${fleet.played.length} hosts drawn uniformly from ${fleet.agents}, ${connections} kept-alive connections in a closed loop, ${seconds} s each, load generator on the same cores`,
    findings: [
      ...figures('unchanged', plain.unchanged, 8_000, p99Ms),
      ...figures('1 % changed', plain['1 % changed'], undefined, p99Ms),
      figure(
        'log of the database for a million check-ins, 1 % of every other one changed',
        round(written / plain.asked, 0),
        'MB',
      ),
      ...figures('TLS, unchanged', tls.unchanged, undefined, p99Ms),
      ...figures('TLS, 1 % changed', tls['1 % changed'], 2_000, p99Ms),
      ...figures('TLS, 1 % changed, a handshake for each', fresh),
    ],
  }
}
