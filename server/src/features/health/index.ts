import type { AnyOperation, LicenseSummary, SubsystemName } from '@portcullis/contract'
import type { Clock } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { Metrics } from '#platform/metrics.ts'
import { readBuildInfo } from './build-info.ts'
import {
  agentGatewayProbe,
  clockProbe,
  databaseProbe,
  diskProbe,
  eventProcessingProbe,
  type FleetFigures,
  type IngestFigures,
  type Probe,
} from './health.probes.ts'
import { createHealthRead } from './health.read.ts'
import { registerHealthRoutes } from './health.routes.ts'
import { createHealthService, type HealthService } from './health.service.ts'

export type { FleetFigures, IngestFigures, Probe }

export interface HealthFeatureDeps {
  db: Db
  clock: Clock
  metrics: Metrics
  license: () => Promise<LicenseSummary>
  /** Hosts, all and connected. */
  fleet: () => Promise<FleetFigures>
  ingest: () => IngestFigures
  /** Probes of parts that exist or are set up; a part without one is `Unknown`, "Not configured". */
  probes?: Readonly<Partial<Record<SubsystemName, Probe>>>
  /** Where the data lies, for the disk probe. */
  dataDir: string
  /** Folder of the checkout or installation, for version and commit. */
  root: string
}

export type HealthApi = Pick<HealthService, 'subsystems' | 'close'>

/** Figures of the process and of every request, under the operation's id: a path would make a series per object. */
const measure = (app: HttpApp, { metrics, fleet, ingest }: HealthFeatureDeps): void => {
  const requests = metrics.counter('portcullis_http_requests_total', 'Requests answered, by operation and status.', [
    'operation',
    'status',
  ])
  const seconds = metrics.histogram('portcullis_http_request_seconds', 'Seconds to the end of the answer.', [
    'operation',
  ])
  app.fastify.addHook('onResponse', async (request, reply) => {
    const config = request.routeOptions.config as { operation?: AnyOperation }
    const operation = config.operation?.id ?? 'none'
    requests.inc({ operation, status: String(reply.statusCode) })
    seconds.observe(reply.elapsedTime / 1000, { operation })
  })
  metrics.read('portcullis_ingest_queue_depth', 'gauge', 'Reports that wait to be stored.', () => ingest().queueDepth)
  metrics.read('portcullis_agents', 'gauge', 'Hosts known.', async () => (await fleet()).total)
  metrics.read('portcullis_agents_connected', 'gauge', 'Hosts connected.', async () => (await fleet()).connected)
  metrics.read('process_resident_memory_bytes', 'gauge', 'Resident memory of this process.', () =>
    process.memoryUsage.rss(),
  )
  metrics.read('process_cpu_seconds_total', 'counter', 'Processor time of this process.', () => {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1e6
  })
}

export const healthFeature = async (app: HttpApp, deps: HealthFeatureDeps): Promise<HealthApi> => {
  const { db, clock, metrics, license, fleet, ingest, dataDir, root } = deps
  const read = createHealthRead(db)
  const build = await readBuildInfo(root)
  const health = createHealthService({
    clock,
    read,
    license,
    fleet,
    ingest,
    dataDir,
    version: build.version,
    probes: {
      database: databaseProbe(read),
      'agent gateway': agentGatewayProbe(ingest, fleet),
      'event processing': eventProcessingProbe(read, ingest),
      disk: diskProbe(dataDir),
      clock: clockProbe(read, clock),
      ...deps.probes,
    },
  })
  measure(app, deps)
  registerHealthRoutes(app, { health, build, registry: metrics })
  return health
}
