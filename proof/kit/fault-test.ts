/** Runs hosts that report continuously to a server while the server or its database is disturbed. */

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type pg from 'pg'
import { createTransport, type Transport } from '../../cli/simulator/transport.ts'
import { freePort } from '../../server/test/free-port.ts'
import { type DatabaseOptions, startDatabase, temporaryFolder } from './database.ts'
import { signalPostgres } from './interrupts.ts'
import { residentBytes } from './proc.ts'
import { acknowledgedBy, enrolReportingHosts } from './reporting-host.ts'
import { seededRandom } from './seeded-random.ts'
import { type ServerProcess, startServerProcess } from './server.ts'
import { compareStored } from './stored.ts'
import { atLeast, atMost, type Finding, figure } from './verdict.ts'

export interface FaultTestOptions {
  /** Prefix of the host names. */
  name: string
  root: string
  hosts: number
  /** The database to use: a separate one, or the one that the server runs itself. */
  database?: 'outside' | 'own'
  /** Data directory of the server. Default: a temporary one. */
  dataDir?: string
  /** Options of the separate database. */
  databaseOptions?: DatabaseOptions
  /** Additional environment variables of the server. */
  env?: Readonly<Record<string, string>>
  /** Timeout of a host's request. A request that takes longer counts as unanswered. */
  timeoutMs?: number
}

export type FaultTest = Awaited<ReturnType<typeof startFaultTest>>

/** Time for hosts to deliver their last report at the end. A host that needs longer is stuck. */
const settleWithinMs = 60_000

export const startFaultTest = async ({
  name,
  root,
  hosts: count,
  database: whose = 'outside',
  dataDir: givenDir,
  databaseOptions = {},
  env = {},
  timeoutMs = 10_000,
}: FaultTestOptions) => {
  const folder = temporaryFolder('test')
  const dataDir = givenDir ?? join(folder, 'server')
  const database = whose === 'own' ? null : await startDatabase(databaseOptions)
  const connection: pg.ClientConfig = database?.connection ?? {
    host: join(dataDir, 'run'),
    port: 5432,
    user: 'portcullis',
    database: 'portcullis',
  }
  const clusterDir = database?.clusterDir ?? join(dataDir, 'postgres')
  const options = {
    ...(database === null ? {} : { databaseUrl: database.url }),
    dataDir,
    port: await freePort(),
    root,
    env,
  }
  const reach = (url: string): Transport => createTransport({ server: new URL(url), connections: count, timeoutMs })
  let server: ServerProcess | undefined
  let transport: Transport | undefined
  let shared: Transport | undefined
  // Closed only at the end, because requests to a previous server must still complete.
  const opened: Transport[] = []
  const way = (): Transport =>
    shared !== undefined && seededRandom(`ways of ${name}`) < 0.5 ? shared : (transport as Transport)
  let leave = (): void => {}
  const stop = async (): Promise<void> => {
    leave()
    // A server cannot end while its database is paused.
    signalPostgres(clusterDir, 'SIGCONT')
    await server?.end()
    transport?.close()
    for (const one of opened) one.close()
    await database?.stop()
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    const first = await startServerProcess(options)
    server = first
    transport = reach(first.url)
    const token = await first.enrolmentToken(10_000)
    const fleet = await enrolReportingHosts(count, way, token, name)
    leave = () => {
      for (const host of fleet) host.leave()
    }
    let memoryAtFirst = residentBytes(first.pid)
    let memory = memoryAtFirst
    let running: Promise<unknown> = Promise.resolve()
    const acknowledged = (): number => acknowledgedBy(fleet)
    return {
      connection,
      /** `DATABASE_URL` of the separate database. */
      databaseUrl: database?.url ?? '',
      clusterDir,
      dataDir,
      fleet,
      server: (): ServerProcess => server as ServerProcess,
      /** Starts the server again at the same address. */
      startAgain: async (): Promise<ServerProcess> => {
        transport?.close()
        server = await startServerProcess(options)
        transport = reach(server.url)
        return server
      },
      /** Directs the hosts to another server from now on. That server is stopped at the end. */
      moveTo: (other: ServerProcess): void => {
        transport?.close()
        server = other
        transport = reach(other.url)
      },
      /** Directs each request at random to one of the two servers. Undefined: only to the first one. */
      shareWith: (other: ServerProcess | undefined): void => {
        shared = other === undefined ? undefined : reach(other.url)
        if (shared !== undefined) opened.push(shared)
      },
      /** Starts the reports, with a pause of `restMs` between two reports of a host. */
      run: (restMs = 0): void => {
        running = Promise.all(fleet.map((host) => host.run(restMs)))
      },
      /** Returns the number of acknowledged reports so far. */
      acknowledged,
      /** Returns the milliseconds until one more report is acknowledged. */
      untilAcknowledged: async (withinMs = 60_000): Promise<number> => {
        const before = acknowledged()
        const startedAt = performance.now()
        while (acknowledged() === before) {
          if (performance.now() - startedAt > withinMs) return Number.POSITIVE_INFINITY
          await pause(5)
        }
        return performance.now() - startedAt
      },
      /** Takes the current memory as the new baseline. */
      weighAnew: (): void => {
        memoryAtFirst = residentBytes((server as ServerProcess).pid)
        memory = memoryAtFirst
      },
      /** Samples the server's memory. `grownMiB` uses the largest sample. */
      weigh: (): void => {
        if (server?.isRunning()) memory = Math.max(memory, residentBytes(server.pid))
      },
      /** Returns by how many MiB the largest sample exceeds the baseline. */
      grownMiB: (): number => Math.round((memory - memoryAtFirst) / 2 ** 20),
      /** Signals every database process, like the kernel's out-of-memory killer or a frozen disk. */
      signalDatabase: (signal: NodeJS.Signals): number => signalPostgres(clusterDir, signal),
      /** Stops the reports and compares the acknowledged reports with the stored ones. */
      settle: async (): Promise<{ findings: Finding[]; notes: string[] }> => {
        for (const host of fleet) host.stop()
        await Promise.race([running, pause(settleWithinMs, undefined, { ref: false })])
        const stuck = fleet.filter(({ reported, pending }) => reported.refused.length === 0 && pending() !== null)
        const { lost, twice, resent, shed, refused } = await compareStored(connection, fleet)
        return {
          findings: [
            atLeast('acknowledged', acknowledged(), count),
            atMost('lost', lost, 0),
            atMost('stored twice', twice, 0),
            figure('sent again', resent),
            figure('told to come later', shed),
            atMost('refused', refused, 0),
            atMost('hosts that are stuck', stuck.length, 0),
          ],
          notes: fleet.flatMap(({ reported }) => reported.refused).slice(0, 3),
        }
      },
      stop,
      [Symbol.asyncDispose]: stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Returns the median and the maximum of times as findings. */
export const timesOf = (what: string, times: readonly number[], bars: { p50?: number; slowest: number }): Finding[] => {
  const sorted = [...times].sort((a, b) => a - b)
  return [
    atMost(`${what}, p50`, Math.round(sorted[Math.floor(sorted.length / 2)] ?? Number.NaN), bars.p50, 'ms'),
    atMost(`${what}, slowest`, Math.round(sorted.at(-1) ?? Number.NaN), bars.slowest, 'ms'),
  ]
}
