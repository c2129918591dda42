import type { Context } from '@portcullis/platform/server/context.ts'
import type { AgentsApi } from '#features/agents/server/index.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { ChangeRequestsApi } from '#features/change-requests/server/index.ts'
import type { CommandsApi } from '#features/commands/server/index.ts'
import type { DevicesApi } from '#features/devices/server/index.ts'
import type { JobsApi } from '#features/jobs/server/index.ts'
import type { KnowledgeApi } from '#features/knowledge/server/index.ts'
import type { SettingsApi } from '#features/settings/server/index.ts'
import type { TagsApi } from '#features/tags/server/index.ts'

export interface PolicyBaseContext extends Context {
  audit: Audit
  tags: TagsApi
  settings: SettingsApi
  jobs: JobsApi
  changeRequests: ChangeRequestsApi
  agents: AgentsApi
  knowledge: KnowledgeApi
  commands: CommandsApi
  peripherals: DevicesApi
}
