import type { Context } from '@portcullis/platform/server/context.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { EventsApi } from '#features/events/server/index.ts'
import type { SettingsApi } from '#features/settings/server/index.ts'
import type { TagsApi } from '#features/tags/server/index.ts'

export interface AgentsContext extends Context {
  audit: Audit
  events: EventsApi
  tags: TagsApi
  settings: SettingsApi
}
