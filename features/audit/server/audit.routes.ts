import { notFound } from '@portcullis/platform/server/app-error.ts'
import type { Context } from '@portcullis/platform/server/context.ts'
import { JsonText } from '@portcullis/platform/server/http/answer.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createList } from '@portcullis/platform/server/list/list.ts'
import { getAuditPeople, getAuditRecord, getAuditRecords, getAudits, getAuditTrails } from '#features/contract.ts'
import { createAuditRead, recordsList } from './audit.read.ts'

export const registerAuditRoutes = (app: HttpApp, context: Context): void => {
  const read = createAuditRead(context)
  const records = createList(recordsList, context)

  for (const operation of [getAudits, getAuditTrails]) app.register(operation, ({ query }) => read.follow(query))

  app.register(getAuditRecords, ({ query }) => records.page(query))

  app.register(getAuditRecord, async ({ params }) => {
    const row = /^\d{1,15}$/.test(params.auditTrailID) ? await read.one(params.auditTrailID) : undefined
    if (row === undefined) throw notFound('The audit trail has no record with this number.')
    return new JsonText(row)
  })

  app.register(getAuditPeople, async () => ({ data: await read.people() }))
}
