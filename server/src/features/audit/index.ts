import type { Clock } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import { registerAuditRoutes } from './audit.routes.ts'
import { type AuditService, createAuditService } from './audit.service.ts'
import { createAuditStore } from './audit.store.ts'

export { auditList } from './audit.read.ts'

export type AuditApi = Pick<AuditService, 'write'>

export const auditFeature = (app: HttpApp, { db, clock }: { db: Db; clock: Clock }): AuditApi => {
  const service = createAuditService({ store: createAuditStore(db), clock })
  registerAuditRoutes(app, service)
  return service
}
