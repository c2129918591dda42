import type { Context } from '@portcullis/platform/server/context.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { AccountsApi } from '#features/identity/server/accounts/index.ts'
import type { JobsApi } from '#features/jobs/server/index.ts'

export interface AssetsContext extends Context {
  audit: Audit
  jobs: JobsApi
  accounts: AccountsApi
}
