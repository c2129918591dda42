import type { Context } from '@portcullis/platform/server/context.ts'
import type { AgentsApi } from '#features/agents/server/index.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { ChangeRequestsApi } from '#features/change-requests/server/index.ts'
import type { CommandsApi } from '#features/commands/server/index.ts'
import type { SettingsApi } from '#features/settings/server/index.ts'

export interface BuildsContext extends Context {
  audit: Audit
  settings: SettingsApi
  changeRequests: ChangeRequestsApi
  agents: AgentsApi
  commands: CommandsApi
}
