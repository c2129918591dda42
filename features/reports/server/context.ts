import type { Context } from '@portcullis/platform/server/context.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { MailApi } from '#features/deliveries/server/mail/index.ts'
import type { InsightsApi } from '#features/devices/server/insights/index.ts'
import type { AccountsApi } from '#features/identity/server/accounts/index.ts'
import type { JobsApi } from '#features/jobs/server/index.ts'
import type { SettingsApi } from '#features/settings/server/index.ts'

export interface ReportsContext extends Context {
  audit: Audit
  accounts: AccountsApi
  insights: InsightsApi
  jobs: JobsApi
  mail: MailApi
  settings: SettingsApi
}
