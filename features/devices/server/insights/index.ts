import type { UncommonPeripheral } from '@portcullis/contract'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { DevicesContext } from '../context.ts'
import { createInsightsRead, type UsableViolation } from './insights.read.ts'
import { registerInsightRoutes } from './insights.routes.ts'
import { createInsightsService, type InsightsService } from './insights.service.ts'

export { type UsableViolation, violationsList } from './insights.read.ts'
/** The data for exported files. */
export type InsightsApi = Pick<InsightsService, 'uncommon' | 'vulnerable' | 'spoofed' | 'errorsBetween'> & {
  /** Shapes that are uncommon now; null: the population is too small. */
  uncommonNow(): Promise<readonly UncommonPeripheral[] | null>
  /** Attached devices that armed hosts let work although no rule allows them, up to a limit. */
  usableViolations(limit: number): Promise<readonly UsableViolation[]>
}

/** Creates risk insights: uncommon, vulnerable, spoofed and not allowed devices of the whole fleet. Owns no tables. */
export const insightsFeature = (app: HttpApp, context: DevicesContext): InsightsApi => {
  const read = createInsightsRead(context.db)
  const service = createInsightsService({ ...context, read })
  registerInsightRoutes(app, service)
  return {
    ...service,
    uncommonNow: async () => {
      const { insufficientPopulation, data } = await service.uncommon.get()
      return insufficientPopulation ? null : data
    },
    usableViolations: (limit) => context.exportDb.query<UsableViolation>(read.usableViolations(limit)),
  }
}
