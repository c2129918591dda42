import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { Affected } from './affected.store.ts'
import type { PolicyBaseContext } from './context.ts'
import type { LongRead } from './long.read.ts'
import type { NewlyAllowed } from './newly-allowed.read.ts'
import type { PolicyStore } from './policy.store.ts'
import type { Predict, PredictionScopes } from './predict.ts'
import type { RuleGroupStore } from './rule-groups.store.ts'
import type { RuleIntegrity } from './rule-integrity.ts'
import type { RuleTests } from './rule-tests.service.ts'
import type { Seals } from './seal.ts'
import type { PolicySettingsApi } from './settings.ts'

/** The context of the services of the policy. */
export interface PolicyContext extends PolicyBaseContext {
  store: PolicyStore
  seals: Seals
  groups: RuleGroupStore
  policySettings: PolicySettingsApi
  affected: Affected
  newlyAllowed: NewlyAllowed
  integrity: RuleIntegrity
  ruleTests: RuleTests
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
