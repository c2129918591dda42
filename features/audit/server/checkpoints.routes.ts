import type { Context } from '@portcullis/platform/server/context.ts'
import type { SqlFragment } from '@portcullis/platform/server/db/sql.ts'
import { exportFileName, FileAnswer } from '@portcullis/platform/server/http/answer.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { streamLines } from '@portcullis/platform/server/list/stream.ts'
import { auditStatus, exportAuditCheckpoints, exportAuditTrail } from '#features/contract.ts'
import type { CheckpointsService } from './checkpoints.service.ts'
import { checkpointLines, trailLines } from './checkpoints.store.ts'

export const registerCheckpointRoutes = (
  app: HttpApp,
  { exportDb, clock }: Context,
  checkpoints: CheckpointsService,
): void => {
  const file = (stem: string, lines: SqlFragment): FileAnswer =>
    new FileAnswer(exportFileName(stem, clock.now(), 'jsonl'), 'application/x-ndjson', streamLines(exportDb, lines))
  app.register(auditStatus, () => checkpoints.status())
  app.register(exportAuditTrail, async () => file('audit', trailLines))
  app.register(exportAuditCheckpoints, async () => file('audit-checkpoints', checkpointLines))
}
