import { getAudits, getAuditTrails } from '@portcullis/contract'
import type { HttpApp } from '#platform/http/http-app.ts'
import { requireSeverity } from '#platform/severity.ts'
import { requireTime } from '#platform/time.ts'
import type { AuditService } from './audit.service.ts'

export const registerAuditRoutes = (app: HttpApp, audit: AuditService): void => {
  for (const operation of [getAudits, getAuditTrails])
    app.register(operation, async ({ query }) => ({
      data: await audit.read({
        maximumSeverity:
          query.MinimumSeverity === undefined ? 7 : requireSeverity('query.MinimumSeverity', query.MinimumSeverity),
        limit: query.PageSize ?? 50,
        fromId: query.FromAuditTrailId ?? null,
        fromDate: query.FromDate === undefined ? null : requireTime('query.FromDate', query.FromDate).from,
      }),
    }))
}
