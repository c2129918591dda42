import type { Clock } from '@portcullis/platform/server/clock.ts'
import type { Bus } from '@portcullis/platform/server/db/bus.ts'
import type { Db, Tx } from '@portcullis/platform/server/db/db.ts'
import type { Keys } from '@portcullis/platform/server/keys.ts'
import type { Announce } from '@portcullis/platform/server/live.ts'
import type { Log } from '@portcullis/platform/server/log.ts'
import type { AgentsApi } from '#features/agents/server/index.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { ChangeRequestsApi } from '#features/change-requests/server/index.ts'
import type { CommandsApi } from '#features/commands/server/index.ts'
import type { PeripheralsApi } from '#features/devices/server/index.ts'
import type { JobsApi } from '#features/jobs/server/index.ts'
import type { SettingsApi } from '#features/settings/server/index.ts'
import type { TagsApi } from '#features/tags/server/index.ts'
import type { Affected } from './affected.store.ts'
import type { LongRead } from './long.read.ts'
import type { NewlyAllowed } from './newly-allowed.read.ts'
import type { PolicySettingsApi } from './policy.settings.ts'
import type { PolicyStore } from './policy.store.ts'
import type { Predict, PredictionScopes } from './predict.ts'
import type { RuleIntegrity } from './rule-integrity.ts'
import type { Seals } from './seal.ts'

export interface PolicyDeps {
  db: Db
  exportDb: Db
  clock: Clock
  keys: Keys
  log: Log
  bus: Bus
  /** The general configuration, which stores the policy settings. */
  config: Pick<SettingsApi, 'values' | 'write' | 'lock' | 'onChange' | 'guard'>
  audit: Audit
  jobs: JobsApi
  agents: AgentsApi
  peripherals: PeripheralsApi
  commands: CommandsApi
  /** SHA-256 of the knowledge that agents receive. */
  knowledgeHash(): string
  tags: Pick<TagsApi, 'carryOut'>
  changeRequests: ChangeRequestsApi
  announce: Announce
}

/** The context of the services of the policy. */
export interface PolicyContext extends PolicyDeps {
  store: PolicyStore
  seals: Seals
  settings: PolicySettingsApi
  affected: Affected
  newlyAllowed: NewlyAllowed
  integrity: RuleIntegrity
  predict: Predict
  scopes: PredictionScopes
  longRead: LongRead
  /** Notifies every replica at COMMIT. */
  announceChange(tx: Tx): Promise<void>
  /** Recalculates queued decisions. */
  drain(): Promise<void>
  /** Does the same, but logs a failure: the timer retries. */
  settle(): Promise<void>
}
