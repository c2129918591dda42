import type { Context } from '@portcullis/platform/server/context.ts'
import type { AgentsApi } from '#features/agents/server/index.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { BuildsApi } from '#features/builds/server/index.ts'
import type { WindowsApi } from '#features/builds/server/windows/index.ts'
import type { ChangeRequestsApi } from '#features/change-requests/server/index.ts'
import type { CommandsApi } from '#features/commands/server/index.ts'
import type { DevicesApi } from '#features/devices/server/index.ts'
import type { EventsApi } from '#features/events/server/index.ts'
import type { JobsApi } from '#features/jobs/server/index.ts'
import type { PolicyApi } from '#features/policy/server/index.ts'
import type { TagsApi } from '#features/tags/server/index.ts'

export interface HostsContext extends Context {
  audit: Audit
  events: EventsApi
  tags: TagsApi
  jobs: JobsApi
  changeRequests: ChangeRequestsApi
  agents: AgentsApi
  commands: CommandsApi
  builds: BuildsApi
  windows: WindowsApi
  peripherals: DevicesApi
  policy: PolicyApi
}
