import type { Clock } from '@portcullis/platform/server/clock.ts'
import type { Bus } from '@portcullis/platform/server/db/bus.ts'
import type { Db, Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { Keys } from '@portcullis/platform/server/keys.ts'
import { createList } from '@portcullis/platform/server/list/list.ts'
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
import { createAcceptedFindings } from './accepted.service.ts'
import { createAffected } from './affected.ts'
import { createAgentPolicy } from './agent-policy.ts'
import { createApprovals } from './approvals.service.ts'
import { createChanges } from './changes.service.ts'
import { createDevicesRead } from './devices.read.ts'
import { createDrafts } from './draft.service.ts'
import { findForged } from './forged.ts'
import { createLongRead } from './long.read.ts'
import { createNewlyAllowed } from './newly-allowed.ts'
import { createOpenPolicy } from './open-policy.ts'
import { createOptionGate } from './option-gate.ts'
import { createPolicyOverview } from './overview.service.ts'
import { createPolicyRead, rulesList } from './policy.read.ts'
import { registerPolicyRoutes } from './policy.routes.ts'
import { createPolicySettings, optionNames } from './policy.settings.ts'
import { createPolicyStore } from './policy.store.ts'
import { createPolicyHostsStore } from './policy-hosts.store.ts'
import { createPolicyTest } from './policy-test.service.ts'
import { createPredict } from './predict.ts'
import { createReassess } from './reassess.ts'
import { createRestore } from './restore.service.ts'
import { createRuleIntegrityStore } from './rule-integrity.store.ts'
import { createRuleIntegrity, setPurpose } from './rule-integrity.ts'
import { createRulePrints } from './rule-prints.ts'
import { createSeals, rulesPurpose } from './seal.ts'
import { createTagGate } from './tag-gate.ts'
import { createPolicyUpkeep } from './upkeep.service.ts'

export { type Assessment, assessHosts, rowOf } from './assess.ts'
export { type AttachedDevice, attachedKey, attachedLine } from './attached-devices.ts'
export { findForged } from './forged.ts'
export { type HostPeripheral, hostOf, verdictOf } from './host.ts'
export type { LongRead } from './long.read.ts'
export { rulesFileList } from './policy.read.ts'
export type { AttachmentCount } from './policy-hosts.store.ts'
export type { PredictedHost } from './predict.read.ts'
export type { Change, Predict } from './predict.ts'
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
  jobs: Pick<JobsApi, 'enqueue' | 'handle' | 'count'>
  agents: Pick<
    AgentsApi,
    'onRemove' | 'lockStates' | 'writeVerdicts' | 'markPolicyDue' | 'takePolicyDue' | 'resolve' | 'wake'
  >
  peripherals: Pick<PeripheralsApi, 'storedOf' | 'writeDecisions' | 'designs' | 'accepted' | 'rejudge'>
  commands: Pick<CommandsApi, 'queue'>
  /** SHA-256 of the knowledge that agents receive. */
  knowledgeHash(): string
  tags: Pick<TagsApi, 'carryOut'>
  changeRequests: Pick<
    ChangeRequestsApi,
    'handle' | 'isLatched' | 'mayAlone' | 'takeAllowed' | 'liftedUntil' | 'require'
  >
  announce: Announce
}

/** Kind of the job that recalculates decisions, and topic of the bus that announces changed rules. */
const jobKind = 'policy'
const changedTopic = 'policy-changed'

/** Creates the policy: rules, the decisions they make, and the policies that hosts receive. */
export const policyFeature = (app: HttpApp, deps: PolicyDeps) => {
  const { db, clock, log, bus, jobs } = deps
  const store = createPolicyStore(clock)
  const hosts = createPolicyHostsStore()
  const devices = createDevicesRead()
  const seals = createSeals(deps.keys.derive(rulesPurpose))
  const settings = createPolicySettings(deps.config)
  const read = createPolicyRead(db)
  const { open } = createOpenPolicy({ store, seals, log })
  const reassess = createReassess({
    ...deps,
    store: hosts,
    open: async (tx, states) => (await open(tx, states)).policies,
    progress: (tx, jobId, hosts) => jobs.count(tx, [{ jobId, done: hosts, failed: 0 }]),
  })
  const affected = createAffected({ store, hosts, devices, designs: deps.peripherals.designs })
  const rulePrints = createRulePrints({ devices, designs: deps.peripherals.designs })
  const newlyAllowed = createNewlyAllowed({ store, affected })
  const { predict, scopes } = createPredict({ clock, store, seals, affected, designs: deps.peripherals.designs })
  const tagGate = createTagGate({
    ...deps,
    store,
    newlyAllowed,
    settings,
    predict,
    scopes,
    carryOut: deps.tags.carryOut,
  })
  const announceChange = (tx: Tx) => bus.publish(tx, changedTopic)
  const integrityStore = createRuleIntegrityStore()
  const findForgedRules = (q: Queryable) => findForged((id) => integrityStore.sealedAfter(q, id), seals)
  const integrity = createRuleIntegrity({
    ...{ db, clock, log, audit: deps.audit, key: deps.keys.derive(setPurpose), keyFile: deps.keys.ruleSeal },
    ...{ store: integrityStore, seals, findForged: findForgedRules },
    lockHead: store.lockHead,
  })
  deps.agents.onRemove({ before: integrity.hostsLeave })
  const changes = createChanges({
    ...deps,
    integrity,
    store,
    hosts,
    affected,
    rulePrints,
    newlyAllowed,
    seals,
    settings,
    startJob: (tx, actor, hosts, title) => jobs.enqueue(tx, actor, { kind: jobKind, title, total: hosts }),
    announceChange,
    drain: reassess.drain,
  })
  const approvals = createApprovals({
    ...{ db, clock, settings, store, changes, resolve: deps.agents.resolve },
    ...{ peripherals: deps.peripherals, commands: deps.commands, undecided: newlyAllowed.undecided },
  })
  const findings = createAcceptedFindings({ ...deps, store, newlyAllowed, announceChange })
  const longRead = createLongRead(deps.exportDb)
  const drafts = createDrafts({ ...deps, longRead, store, rulePrints, predict, newlyAllowed })
  const upkeep = createPolicyUpkeep({
    ...{ db, clock, store, seals, affected, rulePrints, announceChange, findForged: findForgedRules },
    designs: deps.peripherals.designs,
    drain: reassess.drain,
  })
  const overview = createPolicyOverview({
    ...deps,
    read,
    settings,
    guardOptions: createOptionGate({ ...deps, store, settings }),
  })
  deps.config.guard('vendorA', overview.guardItems)
  const settle = (): Promise<unknown> =>
    reassess
      .drain()
      .catch((error: unknown) =>
        log.warn({ err: error }, 'cannot recalculate the decisions; the timer retries in a second'),
      )
  const drainAfterChange = (): void => void settle()
  bus.on(changedTopic, drainAfterChange)
  // Signed policies contain the options of their hosts.
  deps.config.onChange((names) => {
    if (names?.some((name) => optionNames.some((option) => option === name)) !== true) return
    db.transaction((tx) => hosts.queueAll(tx)).then(drainAfterChange, (error: unknown) =>
      log.warn({ err: error }, 'cannot notify hosts of the changed options; hosts get them with their next policy'),
    )
  })
  jobs.handle(jobKind, {
    run: async () => {
      await reassess.drain()
      return 'waits'
    },
  })
  registerPolicyRoutes(app, {
    clock,
    rules: createList(rulesList, deps),
    read,
    changes,
    restore: createRestore({ clock, store, changes, seals, settings, predict, newlyAllowed, longRead }),
    approvals,
    findings,
    drafts,
    previewTags: (actor, changes) => tagGate.preview(db, actor, changes),
    test: createPolicyTest({ longRead, drafts, predict, scopes }),
    overview,
  })
  return {
    /** Opens the policies of locked hosts, for the ingest. */
    open: async (tx: Tx, states: Parameters<typeof open>[1]) => (await open(tx, states)).policies,
    countAttachments: hosts.countAttachments,
    /** Returns the signed policy of one host; null: the host is unknown. */
    forAgent: createAgentPolicy({
      ...deps,
      settings,
      open,
      integrity,
      accepted: deps.peripherals.accepted.inForce,
    }),
    /** Checks and seals the set of rules. */
    integrity: {
      maintain: integrity.maintain,
      accept: integrity.accept,
      differences: integrity.differences,
      health: integrity.health,
    },
    /** Recalculates the decisions about all devices of these hosts, in a transaction of the caller. */
    reassess: reassess.hosts,
    /** Recalculates all queued decisions, for example after a tag change or the crash of a replica. */
    drain: reassess.drain,
    /** Does the same, but logs a failure instead of throwing it: the timer retries. */
    settle,
    /** Carries out the expiry of rules and grants. */
    endOver: upkeep.endOver,
    checkSeals: upkeep.checkSeals,
    adoptFingerprints: upkeep.adoptFingerprints,
    /** Runs a rule change: locks the head, does the work, then recalculates decisions. */
    change: changes.change,
    writtenRules: changes.writtenRules,
    replaceRules: changes.replaceRules,
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
