import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createList } from '@portcullis/platform/server/list/list.ts'
import type { HealthStatus } from '#features/contract.ts'
import { readBuildInfo } from './build-info.ts'
import type { HealthContext } from './context.ts'
import { createHealthRead } from './health.read.ts'
import { registerHealthRoutes } from './health.routes.ts'
import { createHealthService, overall } from './health.service.ts'
import { healthChangesList } from './health.store.ts'
import { measure } from './metrics.ts'
import { createProbeRunner } from './probe-results.ts'
import {
  agentGatewayProbe,
  backupsProbe,
  clockProbe,
  databaseProbe,
  diskProbe,
  eventProcessingProbe,
  knowledgeProbe,
} from './probes.ts'
import { createHealthWatch } from './watch.ts'

export const healthFeature = async (app: HttpApp, context: HealthContext) => {
  const { db, clock, metrics, agents, ingest, knowledge, backup, config, root } = context
  const thresholds = context.settings.threshold
  const read = createHealthRead(db)
  const build = await readBuildInfo(root)
  const probeRunner = createProbeRunner(clock, {
    database: databaseProbe(read, thresholds),
    'agent gateway': agentGatewayProbe(ingest.figures, agents.totals, thresholds),
    'event processing': eventProcessingProbe(read, ingest.figures, context.followers, thresholds),
    disk: diskProbe(config.dataDir, thresholds),
    clock: clockProbe(read, clock, agents.wrongClocks, thresholds),
    backups: backupsProbe(backup.newest, backup.health, { clock, thresholds }),
    knowledge: knowledgeProbe(knowledge.age, thresholds),
    ...context.probes,
  })
  const watch = createHealthWatch(context, probeRunner.now)
  const health = createHealthService(context, build, probeRunner, watch.sinceOf)
  const measures = measure(app, context, build, probeRunner)
  registerHealthRoutes(app, { health, history: createList(healthChangesList, context), build, registry: metrics })
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
