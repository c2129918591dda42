/** A server whose database holds a fleet; every benchmark of that size measures the same one. */
import { join } from 'node:path'
import pg from 'pg'
import { makeCertificate } from '../rig/certificate.ts'
import { freePort } from '../rig/free-port.ts'
import { seedDesigns } from '../rig/loader/designs.ts'
import { type LoadedFleet, loadFleet } from '../rig/loader.ts'
import { fromRoot } from '../rig/root.ts'
import { type ServerProcess, startServerProcess } from '../rig/server.ts'
import { type BenchServer, startServer } from '../rig/server-process.ts'

export interface FleetOptions {
  databaseUrl: string | undefined
  agents: number
  isQuick: boolean
  seed: number
}

/** Size of the pool of device designs, and devices of a host: what a fleet of offices has, more or less. */
const designs = 3_000
const peripheralsPerAgent = 12
/** Hosts with real keys, drawn from the whole fleet; at most half of it, because they all count as connected. */
const mostPlayed = { short: 5_000, full: 20_000 }

export interface Prepared {
  server: BenchServer
  fleet: LoadedFleet
  /** Seconds that it took to load the fleet. */
  loadSeconds: number
  isQuick: boolean
  seed: number
  /** A client of its own at the database; ended with the server. */
  client: pg.Client
  /** Another server on the same database, with the same keys. Its caller ends it. */
  startReplica(options?: { isTls?: boolean }): Promise<ServerProcess>
}

const say = (line: string): void => {
  process.stderr.write(`${line}\n`)
}

/** Starts a server, lets it judge the designs of the fleet, loads the fleet beneath it, and gives it to `work`. */
export const withFleet = async <T>(options: FleetOptions, work: (prepared: Prepared) => Promise<T>): Promise<T> => {
  const server = await startServer(options)
  const client = new pg.Client(server.connection)
  // The database goes away before the client when a run is broken off.
  client.on('error', () => {})
  try {
    await client.connect()
    const token = await server.signIn()
    const enrolment = await server.call(
      '/prime/webui/agents/enrollmenttokens',
      { name: 'Designs of the benchmark', maxUses: Math.ceil(designs / 100) },
      token,
    )
    const seeded = await seedDesigns({
      url: server.url,
      ca: server.ca,
      token: String(enrolment.token),
      count: designs,
      usbIdsFile: fromRoot('knowledge/usb.ids'),
    })
    await server.call('/prime/webui/agents/deleteAgents', seeded, await server.signIn())
    const startedAt = performance.now()
    const fleet = await loadFleet(server.connection, {
      agents: options.agents,
      peripheralsPerAgent,
      played: Math.min(options.agents / 2, options.isQuick ? mostPlayed.short : mostPlayed.full),
      seed: options.seed,
      nowMs: Date.now(),
      progress: (loaded) => {
        if (loaded % 100_000 === 0) say(`${loaded} of ${options.agents} hosts loaded`)
      },
    })
    const loadSeconds = (performance.now() - startedAt) / 1000
    say(`${fleet.agents} hosts with ${fleet.peripherals} peripherals loaded in ${loadSeconds.toFixed(1)} s`)
    let replicas = 0
    const startReplica: Prepared['startReplica'] = async ({ isTls = false } = {}) => {
      const dataDir = join(server.dataDir, `replica-${++replicas}`)
      const tls = isTls ? await makeCertificate(dataDir) : null
      return startServerProcess({
        databaseUrl: server.databaseUrl,
        dataDir,
        port: await freePort(),
        env: { PORTCULLIS_KEY_FILE: join(server.dataDir, 'portcullis.key'), ...tls?.env },
        ...(tls === null ? {} : { ca: tls.ca }),
      })
    }
    return await work({
      server,
      fleet,
      loadSeconds,
      isQuick: options.isQuick,
      seed: options.seed,
      client,
      startReplica,
    })
  } finally {
    await client.end().catch(() => {})
    await server.stop()
  }
}
