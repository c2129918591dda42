import type { Context } from '@portcullis/platform/server/context.ts'
import type { LicenceApi } from '#features/agents/server/licence/index.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { ChangeRequestsApi } from '#features/change-requests/server/index.ts'
import type { MailApi } from '#features/deliveries/server/mail/index.ts'
import type { EventsApi } from '#features/events/server/index.ts'
import type { SettingsApi } from '#features/settings/server/index.ts'

export interface IdentityContext extends Context {
  audit: Audit
  licence: LicenceApi
  events: EventsApi
  settings: SettingsApi
  changeRequests: ChangeRequestsApi
  mail: MailApi
}
