import type { HealthStatus, LicenseSummary, SubsystemName } from '@portcullis/contract'
import type { Clock } from '@portcullis/platform/server/clock.ts'
import type { Db } from '@portcullis/platform/server/db/db.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createList } from '@portcullis/platform/server/list/list.ts'
import type { Announce } from '@portcullis/platform/server/live.ts'
import type { Log } from '@portcullis/platform/server/log.ts'
import type { EventsApi } from '#features/events/server/index.ts'
import type { Thresholds } from '#features/settings/server/index.ts'
import { readBuildInfo } from './build-info.ts'
import { type MeasureDeps, measure } from './health.metrics.ts'
import { createProbeRunner } from './health.probe-results.ts'
import {
  agentGatewayProbe,
  backupsProbe,
  clockProbe,
  databaseProbe,
  diskProbe,
  eventProcessingProbe,
  type Follower,
  type HostClocks,
  knowledgeProbe,
  type Probe,
  type ProbeResult,
} from './health.probes.ts'
import { createHealthRead } from './health.read.ts'
import { registerHealthRoutes } from './health.routes.ts'
import { createHealthService, overall } from './health.service.ts'
import { healthChangesList } from './health.store.ts'
import { createHealthWatch } from './health.watch.ts'

export interface HealthFeatureDeps extends Omit<MeasureDeps, 'read' | 'build' | 'probeRunner'> {
  db: Db
  exportDb: Db
  clock: Clock
  log: Log
  events: Pick<EventsApi, 'append'>
  announce: Announce
  thresholds: Thresholds
  /** Returns whether every pool sees the committed first start. */
  isSetUp(): Promise<boolean>
  license: () => Promise<LicenseSummary>
  /** Returns the consumers that read all events in order. */
  followers?: () => Promise<readonly Follower[]>
  knowledgeAge: () => { version: string; ageDays: number }
  /** Returns when the newest backup was made. Null without one. */
  newestBackup: () => Promise<Date | null>
  /** Returns the state of the scheduled backups. Null if they are disabled. */
  scheduledBackups: () => Promise<ProbeResult | null>
  hostClocks: HostClocks
  /** Probes of configured subsystems. One without a probe is `Unknown`, "Not configured". */
  probes?: Readonly<Partial<Record<SubsystemName, Probe>>>
  dataDir: string
  /** Directory of the checkout or installation, for version and commit. */
  root: string
}

export const healthFeature = async (app: HttpApp, deps: HealthFeatureDeps) => {
  const { db, clock, metrics, license, fleet, ingest, dataDir, root, thresholds } = deps
  const read = createHealthRead(db)
  const build = await readBuildInfo(root)
  const probeRunner = createProbeRunner(clock, {
    database: databaseProbe(read, thresholds),
    'agent gateway': agentGatewayProbe(ingest, fleet, thresholds),
    'event processing': eventProcessingProbe(read, ingest, deps.followers ?? (async () => []), thresholds),
    disk: diskProbe(dataDir, thresholds),
    clock: clockProbe(read, clock, deps.hostClocks, thresholds),
    backups: backupsProbe(deps.newestBackup, deps.scheduledBackups, { clock, thresholds }),
    knowledge: knowledgeProbe(deps.knowledgeAge, thresholds),
    ...deps.probes,
  })
  const watch = createHealthWatch({ ...deps, probe: probeRunner.now })
  const health = createHealthService({
    clock,
    read,
    license,
    fleet,
    ingest,
    dataDir,
    probes: probeRunner,
    isSetUp: deps.isSetUp,
    sinceOf: watch.sinceOf,
    version: build.version,
  })
  const measures = measure(app, { ...deps, read, build, probeRunner })
  registerHealthRoutes(app, { health, history: createList(healthChangesList, deps), build, registry: metrics })
  await watch.read()
  return {
    /** Returns the worst configured status, and when it was probed. */
    overall: async (): Promise<{ status: HealthStatus; lastUpdated: string }> => {
      const items = await health.subsystems()
      return {
        status: overall(items),
        lastUpdated: items.reduce((newest, item) => (item.lastUpdated > newest ? item.lastUpdated : newest), ''),
      }
    },
    /** Probes all subsystems and records changes. Runs every 15 s. */
    watch: watch.run,
    /** Records the delay of the event loop. Runs every second. */
    sample: measures.sample,
    /** Deletes the old part of the history. */
    forget: watch.forget,
    close: async (): Promise<void> => {
      health.close()
      measures.close()
      await watch.close()
    },
  }
}
