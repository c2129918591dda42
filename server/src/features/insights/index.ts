import type { Knowledge } from '@portcullis/domain'
import type { Clock } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import { createInsightsRead } from './insights.read.ts'
import { registerInsightRoutes } from './insights.routes.ts'
import { createInsightsService } from './insights.service.ts'

/** Risk insights: what is rare, vulnerable, in violation or out of line in the whole fleet. Owns no tables. */
export const insightsFeature = (
  app: HttpApp,
  deps: { db: Db; exportDb: Db; clock: Clock; knowledge(): Knowledge },
): void => {
  registerInsightRoutes(app, createInsightsService({ ...deps, read: createInsightsRead(deps.db) }))
}
