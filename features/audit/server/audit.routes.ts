import { getAuditPeople, getAuditRecord, getAuditRecords, getAudits, getAuditTrails } from '@portcullis/contract'
import { notFound } from '@portcullis/platform/server/app-error.ts'
import { JsonText } from '@portcullis/platform/server/http/answer.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { List } from '@portcullis/platform/server/list/list.ts'
import { requireSeverity } from '@portcullis/platform/server/severity.ts'
import { requireTime } from '@portcullis/platform/server/time.ts'
import type { AuditService } from './audit.service.ts'

export const registerAuditRoutes = (app: HttpApp, audit: AuditService, list: List): void => {
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

  app.register(getAuditRecords, ({ query }) => list.page(query))

  app.register(getAuditRecord, async ({ params }) => {
    const row = /^\d{1,15}$/.test(params.auditTrailID) ? await audit.one(params.auditTrailID) : undefined
    if (row === undefined) throw notFound('The audit trail has no record with this number.')
    return new JsonText(row)
  })

  app.register(getAuditPeople, async () => ({ data: await audit.people() }))
}
