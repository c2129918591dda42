import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { DevicesContext } from '../context.ts'
import { registerInsightRoutes } from './insights.routes.ts'
import { createInsightsService } from './insights.service.ts'

export { type UsableViolation, violationsList } from './insights.read.ts'
export type InsightsApi = ReturnType<typeof insightsFeature>

/** Creates risk insights: uncommon, vulnerable, spoofed and not allowed devices of the whole fleet. Owns no tables. */
export const insightsFeature = (app: HttpApp, context: DevicesContext) => {
  const service = createInsightsService(context)
  registerInsightRoutes(app, service)
  return service
}
