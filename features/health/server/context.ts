import type { Context } from '@portcullis/platform/server/context.ts'
import type { AgentsApi } from '#features/agents/server/index.ts'
import type { LicenceApi } from '#features/agents/server/licence/index.ts'
import type { SubsystemName } from '#features/contract.ts'
import type { MailApi } from '#features/deliveries/server/mail/index.ts'
import type { EventsApi } from '#features/events/server/index.ts'
import type { IngestApi } from '#features/ingest/server/index.ts'
import type { JobsApi } from '#features/jobs/server/index.ts'
import type { KnowledgeApi } from '#features/knowledge/server/index.ts'
import type { BackupApi } from '#features/operations/server/backup/index.ts'
import type { SettingsApi } from '#features/settings/server/index.ts'
import type { Follower, Probe } from './probes.ts'

export interface HealthContext extends Context {
  events: EventsApi
  settings: SettingsApi
  jobs: JobsApi
  licence: LicenceApi
  mail: MailApi
  agents: AgentsApi
  knowledge: KnowledgeApi
  ingest: IngestApi
  backup: BackupApi
  /** Returns whether every pool sees the committed first start. */
  isSetUp(): Promise<boolean>
  /** Returns the consumers that read all events in order. */
  followers(): Promise<readonly Follower[]>
  /** Probes of configured subsystems. One without a probe is `Unknown`, "Not configured". */
  probes: Readonly<Partial<Record<SubsystemName, Probe>>>
  /** Directory of the checkout or installation, for version and commit. */
  root: string
}
