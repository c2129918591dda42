import type { Context } from '@portcullis/platform/server/context.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { ChangeRequestsApi } from '#features/change-requests/server/index.ts'
import type { JobsApi } from '#features/jobs/server/index.ts'

export interface KnowledgeContext extends Context {
  audit: Audit
  jobs: JobsApi
  changeRequests: ChangeRequestsApi
}
