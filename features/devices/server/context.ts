import type { Context } from '@portcullis/platform/server/context.ts'
import type { AgentsApi } from '#features/agents/server/index.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { CommandsApi } from '#features/commands/server/index.ts'
import type { EventsApi } from '#features/events/server/index.ts'
import type { JobsApi } from '#features/jobs/server/index.ts'
import type { KnowledgeApi } from '#features/knowledge/server/index.ts'

export interface DevicesContext extends Context {
  audit: Audit
  events: EventsApi
  jobs: JobsApi
  agents: AgentsApi
  knowledge: KnowledgeApi
  commands: Pick<CommandsApi, 'logsOf'>
}
