import type { KeyObject } from 'node:crypto'
import type { Clock } from '@portcullis/platform/server/clock.ts'
import type { Db } from '@portcullis/platform/server/db/db.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createList } from '@portcullis/platform/server/list/list.ts'
import type { Log } from '@portcullis/platform/server/log.ts'
import type { Secret } from '@portcullis/platform/server/secret.ts'
import { auditRowsList } from './audit.read.ts'
import { registerAuditRoutes } from './audit.routes.ts'
import { type Audit, createAuditService } from './audit.service.ts'
import { createAuditStore } from './audit.store.ts'
import { createCheckpointAnchor } from './checkpoints.anchor.ts'
import { registerCheckpointRoutes } from './checkpoints.routes.ts'
import { createCheckpoints } from './checkpoints.service.ts'
import { createCheckpointSink } from './checkpoints.sink.ts'
import { createCheckpointsStore } from './checkpoints.store.ts'

export { auditList } from './audit.read.ts'
export type { Audit, AuditEntry, AuditFacts, AuditTarget } from './audit.service.ts'
export { formerKeysFile, publicKeysOf, TrailFault } from './checkpoints.anchor.ts'
export { checkpointFiles } from './checkpoints.sink.ts'
export { hasCheckpoints, readCheckpointLines, trailLines } from './checkpoints.store.ts'

/** Creates the audit writer of commands that run on the server, without HTTP. */
export const auditWriter = (db: Db, clock: Clock): Audit => createAuditService({ store: createAuditStore(db), clock })

export const auditFeature = (app: HttpApp, deps: { db: Db; exportDb: Db; clock: Clock }): Audit => {
  const service = createAuditService({ store: createAuditStore(deps.db), clock: deps.clock })
  registerAuditRoutes(app, service, createList(auditRowsList, deps))
  return service
}

export interface AuditCheckpointsDeps {
  db: Db
  /** Pool of long reads. */
  exportDb: Db
  clock: Clock
  log: Log
  audit: Audit
  key: { privateKey: KeyObject; publicKey: KeyObject }
  dir: string
  /** Whether the server may create it. False if a person configured it. */
  mayMakeDir: boolean
  /** The key file, next to which the anchor is stored, and the key that authenticates the anchor. */
  anchor: { keyFile: string; key: Secret<Buffer> }
}

/** Signs checkpoints of the trail and stores them in the database and outside it. */
export const auditCheckpoints = (app: HttpApp, deps: AuditCheckpointsDeps) => {
  const checkpoints = createCheckpoints({
    ...deps,
    store: createCheckpointsStore(deps.db),
    sink: createCheckpointSink(deps.dir, { mayMake: deps.mayMakeDir }),
    anchor: createCheckpointAnchor(deps.anchor.keyFile, deps.anchor.key),
  })
  registerCheckpointRoutes(app, { ...deps, checkpoints })
  return checkpoints
}
