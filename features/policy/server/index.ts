import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createAcceptedFindings } from './accepted.service.ts'
import { countAttachments, createAffected } from './affected.store.ts'
import { createAgentPolicy } from './agent-policy.ts'
import { createApprovals } from './approvals.service.ts'
import { createReassess } from './assess.ts'
import { createChanges, jobKind } from './changes.service.ts'
import type { PolicyBaseContext } from './context.ts'
import { createDrafts } from './draft.service.ts'
import { findForged } from './forged.ts'
import { createImport } from './import.service.ts'
import { createLongRead } from './long.read.ts'
import { createPolicyUpkeep } from './maintenance.service.ts'
import { createNewlyAllowed } from './newly-allowed.read.ts'
import { createOpenPolicy } from './open-policy.ts'
import { createPolicyOverview } from './overview.service.ts'
import type { PolicyContext } from './policy.context.ts'
import { createPolicyRead } from './policy.read.ts'
import { registerPolicyRoutes } from './policy.routes.ts'
import { createPolicyStore } from './policy.store.ts'
import { createPredict } from './predict.ts'
import { createRestore } from './restore.service.ts'
import { registerRuleGroups } from './rule-groups.service.ts'
import { createRuleGroupStore } from './rule-groups.store.ts'
import { createRuleIntegrityStore } from './rule-integrity.store.ts'
import { createRuleIntegrity } from './rule-integrity.ts'
import { registerRuleTests } from './rule-tests.routes.ts'
import { createRuleTests } from './rule-tests.service.ts'
import { moveRuleTests } from './rule-tests.store.ts'
import { createRules } from './rules.service.ts'
import { createSeals, rulesPurpose } from './seal.ts'
import { createPolicySettings, optionNames } from './settings.ts'
import { createTagGate } from './tag-gate.ts'

export type { AttachmentCount } from './affected.store.ts'
export {
  type Assessment,
  assessHosts,
  fingerprintIdsOf,
  type HostPeripheral,
  hostOf,
  rowOf,
  verdictOf,
} from './assess.ts'
export { type AttachedDevice, attachedLine } from './attached-devices.ts'
export { findForged } from './forged.ts'
export { rulesFileList } from './policy.read.ts'
export { testedRow } from './policy-test.service.ts'
export type { PredictedHost } from './predict.read.ts'
export type { Change, Predict, Predicted } from './predict.ts'
export {
  type Difference,
  differencesSql,
  ruleSetSchema,
  type SealedRow,
  type SetRow,
  sealedPage,
  setSql,
  type UnsealedFacts,
  unsealedSql,
} from './rule-integrity.store.ts'
export { allDifferences, createSetSeals, isSealDue, setPurpose } from './rule-integrity.ts'
export { createSeals, rulesPurpose } from './seal.ts'
export { worksAgainLines } from './works-again.ts'

/** Topic of the bus that announces changed rules. */
const changedTopic = 'policy-changed'

/** Creates the policy: rules, the decisions they make, and the policies that hosts receive. */
export const policyFeature = (app: HttpApp, given: PolicyBaseContext) => {
  const { db, clock, keys, log, bus, jobs, agents, settings } = given
  const store = createPolicyStore(clock)
  const seals = createSeals(keys.derive(rulesPurpose))
  const { open } = createOpenPolicy({ store, seals, log })
  const affected = createAffected(store, given.peripherals.fingerprints)
  const reassess = createReassess(given, affected, open)
  const { sealedAfter } = createRuleIntegrityStore()
  const findForgedRules = (q: Queryable) => findForged((id) => sealedAfter(q, id), seals)
  const integrity = createRuleIntegrity(given, seals, findForgedRules, store.lockHead)
  const settle = (): Promise<void> =>
    reassess
      .drain()
      .catch((error: unknown) =>
        log.warn({ err: error }, 'cannot recalculate the decisions; the timer retries in a second'),
      )
  const context: PolicyContext = {
    ...given,
    ...{ store, seals, affected, integrity, drain: reassess.drain, settle },
    ruleTests: createRuleTests(given, store, seals, affected),
    groups: createRuleGroupStore(),
    policySettings: createPolicySettings(settings),
    newlyAllowed: createNewlyAllowed(store, affected),
    ...createPredict(given, store, seals, affected),
    longRead: createLongRead(given.exportDb),
    announceChange: (tx: Tx) => bus.publish(tx, changedTopic),
  }
  const { newlyAllowed, predict, longRead } = context
  const read = createPolicyRead(db)
  const tagGate = createTagGate(context)
  agents.onRemove({ before: integrity.hostsLeave })
  agents.onMerge(async (tx, { from, to }) => void (await moveRuleTests(tx, from, to)))
  const changes = createChanges(context)
  const rules = createRules(context, changes)
  const approvals = createApprovals(context, changes)
  const findings = createAcceptedFindings(context)
  const drafts = createDrafts(context, approvals)
  const upkeep = createPolicyUpkeep(context, findForgedRules)
  const overview = createPolicyOverview(context, read)
  settings.addValidator('vendorA', overview.validateItems)
  const drainAfterChange = (): void => void settle()
  bus.on(changedTopic, drainAfterChange)
  // Signed policies contain the options of their hosts.
  settings.onChange((names) => {
    if (names?.some((name) => optionNames.some((option) => option === name)) !== true) return
    db.transaction((tx) => affected.queueAll(tx)).then(drainAfterChange, (error: unknown) =>
      log.warn({ err: error }, 'cannot notify hosts of the changed options; hosts get them with their next policy'),
    )
  })
  jobs.handle(jobKind, {
    run: async () => {
      await reassess.drain()
      return 'waits'
    },
  })
  registerRuleTests(app, context.ruleTests)
  registerPolicyRoutes(app, context, {
    ...{ read, approvals, findings, drafts, overview, tagGate },
    written: rules,
    imports: createImport(context, changes, rules),
    restore: createRestore(context, changes),
  })
  registerRuleGroups(app, context)
  return {
    /** Opens the policies of locked hosts, for the ingest. */
    open: async (tx: Tx, states: Parameters<typeof open>[1]) => (await open(tx, states)).policies,
    countAttachments,
    /** Returns the signed policy of one host; null: the host is unknown. */
    forAgent: createAgentPolicy(context, open),
    /** Checks and seals the set of rules. */
    integrity,
    /** Recalculates the decisions about all devices of these hosts, in a transaction of the caller. */
    reassess: reassess.hosts,
    /** Recalculates all queued decisions, for example after a tag change or the crash of a replica. */
    drain: reassess.drain,
    /** Does the same, but logs a failure instead of throwing it: the timer retries. */
    settle,
    ...upkeep,
    writtenRules: rules.writtenRules,
    planRules: rules.planRules,
    /** Makes other changes of rules wait until the transaction ends. */
    lock: store.lockHead,
    commit: changes.commit,
    finish: changes.finish,
    approvePresent: approvals.approvePresent,
    attachedTo: approvals.attachedTo,
    predict,
    /** Runs a prediction for many hosts on the pool of long reads. */
    longRead,
    /** Counts the hosts with an attached device that `approvePresent` would newly allow. */
    approvable: (agentIds: readonly string[]) => newlyAllowed.approvable(db, agentIds),
    onAccepted: findings.onAccepted,
    ofAgent: read.ofAgent,
    /** Measures tag changes of hosts. */
    tagGate,
    settings: overview.settings,
  }
}

export type PolicyApi = ReturnType<typeof policyFeature>
