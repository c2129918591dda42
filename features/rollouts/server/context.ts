import type { Context } from '@portcullis/platform/server/context.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { BuildsApi } from '#features/builds/server/index.ts'
import type { WindowsApi } from '#features/builds/server/windows/index.ts'
import type { ChangeRequestsApi } from '#features/change-requests/server/index.ts'
import type { CommandsApi } from '#features/commands/server/index.ts'
import type { EventsApi } from '#features/events/server/index.ts'
import type { PolicyApi } from '#features/policy/server/index.ts'

export interface RolloutsContext extends Context {
  audit: Audit
  events: EventsApi
  changeRequests: ChangeRequestsApi
  commands: CommandsApi
  builds: BuildsApi
  windows: WindowsApi
  policy: PolicyApi
}
