import type { Knowledge } from '@portcullis/domain'
import type { Context } from '@portcullis/platform/server/context.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { ChangeRequestsApi } from '#features/change-requests/server/index.ts'
import type { JobsApi } from '#features/jobs/server/index.ts'
import type { EvaluationPort } from './ports.ts'

export interface KnowledgeContext extends Context {
  audit: Audit
  jobs: JobsApi
  changeRequests: ChangeRequestsApi
  /** The knowledge of the release. */
  release: Knowledge
  evaluation: EvaluationPort
}
