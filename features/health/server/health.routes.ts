import { AppError } from '@portcullis/platform/server/app-error.ts'
import { answered } from '@portcullis/platform/server/http/answer.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { List } from '@portcullis/platform/server/list/list.ts'
import type { Metrics } from '@portcullis/platform/server/metrics.ts'
import {
  healthHistory,
  healthz,
  metrics,
  primeVersion,
  readyz,
  subsystemHealth,
  systemStatus,
} from '#features/contract.ts'
import type { BuildInfo } from './build-info.ts'
import type { HealthService } from './health.service.ts'

export const registerHealthRoutes = (
  app: HttpApp,
  { health, history, build, registry }: { health: HealthService; history: List; build: BuildInfo; registry: Metrics },
): void => {
  app.register(subsystemHealth, () => health.subsystems())
  app.register(healthHistory, ({ query }) => history.page(query))
  app.register(systemStatus, () => health.status())
  app.register(primeVersion, async () => {
    const { database, schema } = await health.versions()
    return {
      version: build.version,
      buildDate: build.buildDate.toISOString(),
      commit: build.commit,
      nodeVersion: process.versions.node,
      databaseVersion: database,
      schemaVersion: schema,
    }
  })
  app.register(healthz, async () => ({ status: 'OK' as const }))
  app.register(readyz, async () => {
    if (app.isDraining()) throw new AppError('unavailable', {}, { headers: { 'retry-after': '2' } })
    await health.assertReady()
    return { status: 'OK' as const }
  })
  app.register(metrics, async ({ reply }) => {
    await reply.type('text/plain; version=0.0.4; charset=utf-8').send(await registry.text())
    return answered
  })
}
