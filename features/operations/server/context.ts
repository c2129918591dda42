import type { Context } from '@portcullis/platform/server/context.ts'
import type { AlertsApi } from '#features/alerts/server/index.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { JobsApi } from '#features/jobs/server/index.ts'
import type { PolicyApi } from '#features/policy/server/index.ts'
import type { SettingsApi } from '#features/settings/server/index.ts'
import type { TagsApi } from '#features/tags/server/index.ts'

export interface OperationsContext extends Context {
  audit: Audit
  tags: TagsApi
  settings: SettingsApi
  jobs: JobsApi
  policy: PolicyApi
  alerts: AlertsApi
}
