import type { Clock } from '@portcullis/platform/server/clock.ts'
import type { Context } from '@portcullis/platform/server/context.ts'
import type { Db } from '@portcullis/platform/server/db/db.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createList } from '@portcullis/platform/server/list/list.ts'
import { auditRowsList } from './audit.read.ts'
import { registerAuditRoutes } from './audit.routes.ts'
import { type Audit, createAuditService } from './audit.service.ts'
import { createAuditStore } from './audit.store.ts'
import { registerCheckpointRoutes } from './checkpoints.routes.ts'
import { createCheckpoints } from './checkpoints.service.ts'

export { auditList } from './audit.read.ts'
export type { Audit, AuditEntry, AuditFacts, AuditTarget } from './audit.service.ts'
export { formerKeysFile, publicKeysOf, TrailFault } from './checkpoints.anchor.ts'
export { checkpointFiles } from './checkpoints.sink.ts'
export { hasCheckpoints, readCheckpointLines, trailLines } from './checkpoints.store.ts'

/** Creates the audit writer of commands that run on the server, without HTTP. */
export const auditWriter = (db: Db, clock: Clock): Audit => createAuditService({ store: createAuditStore(db), clock })

export const auditFeature = (app: HttpApp, context: Context): Audit => {
  const service = createAuditService({ store: createAuditStore(context.db), clock: context.clock })
  registerAuditRoutes(app, service, createList(auditRowsList, context))
  return service
}

/** Signs checkpoints of the trail and stores them in the database and outside it. */
export const auditCheckpoints = (app: HttpApp, context: Context & { audit: Audit }) => {
  const checkpoints = createCheckpoints(context)
  registerCheckpointRoutes(app, context, checkpoints)
  return checkpoints
}
