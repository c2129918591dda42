import type { Knowledge } from '@portcullis/domain'
import type { Clock } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import { createInsightsRead } from './insights.read.ts'
import { registerInsightRoutes } from './insights.routes.ts'
import { createInsightsService, type InsightsService } from './insights.service.ts'

export { violationsList } from './insights.read.ts'
/** What files are made of. */
export type InsightsApi = Pick<InsightsService, 'uncommon' | 'vulnerable' | 'spoofed' | 'errorsBetween'>

/** Risk insights: what is rare, vulnerable, in violation or out of line in the whole fleet. Owns no tables. */
export const insightsFeature = (
  app: HttpApp,
  deps: { db: Db; exportDb: Db; clock: Clock; knowledge(): Knowledge },
): InsightsApi => {
  const service = createInsightsService({ ...deps, read: createInsightsRead(deps.db) })
  registerInsightRoutes(app, service)
  return service
}
