import type { UncommonPeripheral, WhitelistViolation } from '@portcullis/contract'
import type { Knowledge } from '@portcullis/domain'
import type { Clock } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import { createInsightsRead } from './insights.read.ts'
import { registerInsightRoutes } from './insights.routes.ts'
import { createInsightsService, type InsightsService } from './insights.service.ts'

export { violationsList } from './insights.read.ts'
/** The data for exported files. */
export type InsightsApi = Pick<InsightsService, 'uncommon' | 'vulnerable' | 'spoofed' | 'errorsBetween'> & {
  /** Shapes that are uncommon now; null: the population is too small. */
  uncommonNow(): Promise<readonly UncommonPeripheral[] | null>
  /** Devices that no allow rule covers, up to a limit. */
  violationsNow(limit: number): Promise<readonly WhitelistViolation[]>
}

/** Creates risk insights: rare, vulnerable, violating and spoofed devices of the whole fleet. Owns no tables. */
export const insightsFeature = (
  app: HttpApp,
  deps: { db: Db; exportDb: Db; clock: Clock; knowledge(): Knowledge },
): InsightsApi => {
  const read = createInsightsRead(deps.db)
  const service = createInsightsService({ ...deps, read })
  registerInsightRoutes(app, service)
  return {
    ...service,
    uncommonNow: async () => {
      const { insufficientPopulation, data } = await service.uncommon.get()
      return insufficientPopulation ? null : data
    },
    violationsNow: async (limit) =>
      (await deps.exportDb.query<{ row: string }>(read.violations(limit))).map(
        ({ row }) => JSON.parse(row) as WhitelistViolation,
      ),
  }
}
