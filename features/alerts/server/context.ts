import type { Context } from '@portcullis/platform/server/context.ts'
import type { AgentsApi } from '#features/agents/server/index.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { DeliveriesApi } from '#features/deliveries/server/index.ts'
import type { MailApi } from '#features/deliveries/server/mail/index.ts'
import type { DevicesApi } from '#features/devices/server/index.ts'
import type { InsightsApi } from '#features/devices/server/insights/index.ts'
import type { EventsApi } from '#features/events/server/index.ts'
import type { PolicyApi } from '#features/policy/server/index.ts'
import type { SettingsApi } from '#features/settings/server/index.ts'
import type { HealthPort } from './ports.ts'

export interface AlertsContext extends Context {
  audit: Audit
  agents: AgentsApi
  events: EventsApi
  mail: MailApi
  deliveries: DeliveriesApi
  settings: SettingsApi
  peripherals: DevicesApi
  insights: InsightsApi
  policy: PolicyApi
  /** Returns the overall health and its time. */
  health: HealthPort
}
