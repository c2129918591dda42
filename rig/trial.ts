/** Hosts that report without a pause to a server that is about to be mistreated, or to its database. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type pg from 'pg'
import { createTransport, type Transport } from '../cli/simulator/transport.ts'
import { chance } from './chance.ts'
import { type DatabaseOptions, startDatabase, temporaryFolder } from './database.ts'
import { freePort } from './free-port.ts'
import { signalPostgres } from './leftovers.ts'
import { residentBytes } from './proc.ts'
import { type EnrolledHost, enrolHost, enrolReportingHost } from './reporting-host.ts'
import { type ServerProcess, startServerProcess } from './server.ts'
import { compareStored } from './stored.ts'
import type { Finding } from './verdict.ts'

export interface TrialOptions {
  /** First part of the names of its hosts. */
  name: string
  root: string
  hosts: number
  /** Whose database: one apart from the server, or the one that the server runs by itself. */
  database?: 'outside' | 'own'
  /** Data directory of the server; one of the trial when absent. */
  dataDir?: string
  /** For the database apart. */
  databaseOptions?: DatabaseOptions
  /** Further variables of the server's environment. */
  env?: Readonly<Record<string, string>>
  /** No request of a host may take longer; what does counts as not answered. */
  timeoutMs?: number
}

export type Trial = Awaited<ReturnType<typeof startTrial>>

export const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds))

/** Hosts get so long at the end to bring their last report through; longer is a host that is stuck. */
const settleWithinMs = 60_000

export const startTrial = async ({
  name,
  root,
  hosts: count,
  database: whose = 'outside',
  dataDir: givenDir,
  databaseOptions = {},
  env = {},
  timeoutMs = 10_000,
}: TrialOptions) => {
  const folder = temporaryFolder('trial')
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
  // Closed at the end only: what is on its way to a server that is left has to be answered.
  const opened: Transport[] = []
  const way = (): Transport =>
    shared !== undefined && chance(`ways of ${name}`) < 0.5 ? shared : (transport as Transport)
  let leave = (): void => {}
  const stop = async (): Promise<void> => {
    leave()
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
    const { token } = await first.call(
      '/prime/webui/agents/enrollmenttokens',
      { name: 'drill', maxUses: 10_000 },
      await first.signIn(),
    )
    const fleet = await Promise.all(
      Array.from({ length: count }, (_, i) => enrolReportingHost(way, String(token), `${name}-${i}`)),
    )
    leave = () => {
      for (const host of fleet) host.leave()
    }
    let memoryAtFirst = residentBytes(first.pid)
    let memory = memoryAtFirst
    let running: Promise<unknown> = Promise.resolve()
    const acknowledged = (): number => fleet.reduce((sum, { reported }) => sum + reported.acknowledged.length, 0)
    return {
      connection,
      /** As `DATABASE_URL` names the one apart. */
      databaseUrl: database?.url ?? '',
      clusterDir,
      dataDir,
      fleet,
      server: (): ServerProcess => server as ServerProcess,
      /** Starts the server again, at its address. */
      startAgain: async (): Promise<ServerProcess> => {
        transport?.close()
        server = await startServerProcess(options)
        transport = reach(server.url)
        return server
      },
      /** Enrols one more host, which does nothing by itself. */
      enrol: (name: string): Promise<EnrolledHost> => enrolHost(() => transport as Transport, String(token), name),
      /** Leads the hosts to another server from now on; the trial ends it. */
      moveTo: (other: ServerProcess): void => {
        transport?.close()
        server = other
        transport = reach(other.url)
      },
      /** Leads each request of the hosts to one or the other server, by chance; undefined: to the first one only. */
      shareWith: (other: ServerProcess | undefined): void => {
        shared = other === undefined ? undefined : reach(other.url)
        if (shared !== undefined) opened.push(shared)
      },
      /** Lets the hosts report; `restMs` between two reports of one. */
      run: (restMs = 0): void => {
        running = Promise.all(fleet.map((host) => host.run(restMs)))
      },
      /** Reports acknowledged so far. */
      acknowledged,
      /** Milliseconds until one more report is acknowledged. */
      untilAcknowledged: async (withinMs = 60_000): Promise<number> => {
        const before = acknowledged()
        const startedAt = performance.now()
        while (acknowledged() === before) {
          if (performance.now() - startedAt > withinMs) return Number.POSITIVE_INFINITY
          await pause(5)
        }
        return performance.now() - startedAt
      },
      /** Memory counts as grown from here on. */
      weighAnew: (): void => {
        memoryAtFirst = residentBytes((server as ServerProcess).pid)
        memory = memoryAtFirst
      },
      /** Notes how much memory the server has now, for `grownMiB`. */
      weigh: (): void => {
        if (server?.isRunning()) memory = Math.max(memory, residentBytes(server.pid))
      },
      /** MiB that the server had more at a weighing than before the hosts began. */
      grownMiB: (): number => Math.round((memory - memoryAtFirst) / 2 ** 20),
      /** Signals every process of the database, as the kernel's out-of-memory killer or a frozen disk would. */
      signalDatabase: (signal: NodeJS.Signals): number => signalPostgres(clusterDir, signal),
      /** Ends the reports and compares what was acknowledged with what is stored. */
      settle: async (): Promise<{ findings: Finding[]; notes: string[] }> => {
        for (const host of fleet) host.stop()
        let timer: NodeJS.Timeout | undefined
        await Promise.race([
          running,
          new Promise((resolve) => {
            timer = setTimeout(resolve, settleWithinMs)
          }),
        ])
        clearTimeout(timer)
        const stuck = fleet.filter(({ reported, pending }) => reported.refused.length === 0 && pending() !== null)
        const { lost, twice, resent, shed, refused } = await compareStored(connection, fleet)
        return {
          findings: [
            { what: 'acknowledged', value: acknowledged(), atLeast: count },
            { what: 'lost', value: lost, atMost: 0 },
            { what: 'stored twice', value: twice, atMost: 0 },
            { what: 'sent again', value: resent },
            { what: 'told to come later', value: shed },
            { what: 'refused', value: refused, atMost: 0 },
            { what: 'hosts that are stuck', value: stuck.length, atMost: 0 },
          ],
          notes: fleet.flatMap(({ reported }) => reported.refused).slice(0, 3),
        }
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Median and slowest of some times, as findings. */
export const timesOf = (what: string, times: readonly number[], bars: { p50?: number; slowest: number }): Finding[] => {
  const sorted = [...times].sort((a, b) => a - b)
  return [
    {
      what: `${what}, p50`,
      value: Math.round(sorted[Math.floor(sorted.length / 2)] ?? Number.NaN),
      unit: 'ms',
      ...(bars.p50 === undefined ? {} : { atMost: bars.p50 }),
    },
    { what: `${what}, slowest`, value: Math.round(sorted.at(-1) ?? Number.NaN), unit: 'ms', atMost: bars.slowest },
  ]
}
