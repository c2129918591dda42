import type { Context } from '@portcullis/platform/server/context.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { registerAuditRoutes } from './audit.routes.ts'
import { type Audit, auditWriter } from './audit.service.ts'
import { registerCheckpointRoutes } from './checkpoints.routes.ts'
import { createCheckpoints } from './checkpoints.service.ts'

export { recordsFileList } from './audit.read.ts'
export {
  type Audit,
  type AuditEntry,
  type AuditFacts,
  type AuditTarget,
  auditWriter,
  objectsMost,
} from './audit.service.ts'
export { formerKeysFile, publicKeysOf, TrailFault } from './checkpoints.anchor.ts'
export { checkpointFiles } from './checkpoints.sink.ts'
export { hasCheckpoints, readCheckpointLines, trailLines } from './checkpoints.store.ts'

export const auditFeature = (app: HttpApp, context: Context): Audit => {
  registerAuditRoutes(app, context)
  return auditWriter(context.clock)
}

/** Signs checkpoints of the trail and stores them in the database and outside it. */
export const auditCheckpoints = (app: HttpApp, context: Context & { audit: Audit }) => {
  const checkpoints = createCheckpoints(context)
  registerCheckpointRoutes(app, context, checkpoints)
  return checkpoints
}
