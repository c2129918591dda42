/** Starts a server whose database holds a fleet. All benchmarks of that size use the same one. */
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from '../../server/test/free-port.ts'
import { makeCertificate } from '../kit/certificate.ts'
import { seedFingerprints } from '../kit/fleet.ts'
import { type Installation, startServer } from '../kit/installation.ts'
import { type LoadedFleet, loadFleet } from '../kit/loader.ts'
import { type ServerProcess, startServerProcess } from '../kit/server.ts'

export interface FleetOptions {
  databaseUrl: string | undefined
  agents: number
  isQuick: boolean
  seed: number
}

/** Number of fingerprints in the pool, and of devices on each host: similar to a fleet of office computers. */
const designs = 3_000
const peripheralsPerAgent = 12
/** Number of hosts with real keys, drawn from the whole fleet. At most half of it, because they count as connected. */
const mostPlayed = { short: 5_000, full: 20_000 }

export interface Prepared {
  server: Installation
  fleet: LoadedFleet
  /** Seconds that loading the fleet took. */
  loadSeconds: number
  isQuick: boolean
  seed: number
  /** A separate database client, closed with the server. */
  client: pg.Client
  /** Starts another server on the same database with the same keys. The caller stops it. */
  startReplica(options?: { isTls?: boolean }): Promise<ServerProcess>
}

const say = (line: string): void => {
  process.stderr.write(`${line}\n`)
}

/** Starts a server, lets it judge the fleet's fingerprints, loads the fleet into its database, and calls `work`. */
export const withFleet = async <T>(options: FleetOptions, work: (prepared: Prepared) => Promise<T>): Promise<T> => {
  const server = await startServer(options)
  const client = new pg.Client(server.connection)
  // If a run is interrupted, the database stops before the client.
  client.on('error', () => {})
  try {
    await client.connect()
    const seeded = await seedFingerprints(server, designs)
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
