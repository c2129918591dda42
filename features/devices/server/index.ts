import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createList } from '@portcullis/platform/server/list/list.ts'
import { evaluationJob } from '#features/knowledge/server/index.ts'
import { createAccepted } from './accepted.ts'
import type { DevicesContext } from './context.ts'
import { findingsList } from './findings.read.ts'
import { registerFindingRoutes } from './findings.routes.ts'
import { createFindings } from './findings.service.ts'
import { createFindingsStore } from './findings.store.ts'
import { createFingerprints } from './fingerprints.ts'
import { moveHistory } from './merge.store.ts'
import { createModelPassport } from './model-passport.ts'
import { createPassport } from './passport.ts'
import { createPeripheralsRead, modelsList, ofAgent, peripheralsList } from './peripherals.read.ts'
import { registerPeripheralRoutes } from './peripherals.routes.ts'
import { createPeripheralsStore } from './peripherals.store.ts'
import type { DecisionsPort } from './ports.ts'
import { createReevaluation } from './reevaluation.ts'
import { createSuggestions } from './suggestions.read.ts'

export { decider, decisionReason } from './decision-labels.ts'
export { eventDevice } from './event-device.ts'
export { findingsList, findingsOfAlerts } from './findings.read.ts'
export type { FindingWrite } from './findings.store.ts'
export { type DeviceFinding, isOpen, nextFinding, pointsOf } from './findings.ts'
export { deviceOf, type EvaluatedDevice, type Fingerprint } from './fingerprint.ts'
export { isEscapedSql, modelsList, peripheralsList, serialKeySql } from './peripherals.read.ts'
export type { CounterDelta, KernelReport, PeripheralWrite, StoredPeripheral } from './peripherals.store.ts'

/** Decisions that one statement deletes. */
const forgottenAtOnce = 20_000

export type DevicesApi = ReturnType<typeof devicesFeature>

/** Creates the devices capability: lists, verdicts, and the writes of the ingest. */
export const devicesFeature = (app: HttpApp, context: DevicesContext & { decisions: DecisionsPort }) => {
  const store = createPeripheralsStore(context.db)
  const findingStore = createFindingsStore()
  const accepted = createAccepted(context)
  const fingerprints = createFingerprints({ ...context, store, accepted })
  const reevaluation = createReevaluation(context, fingerprints, accepted)
  const peripherals = createList(peripheralsList, context)
  const read = createPeripheralsRead(context.db)
  context.agents.onRemove({ before: store.forgetAgents })
  context.agents.onMerge(async (tx, { from, to }) => {
    await moveHistory(tx, from, to, new Date(context.clock.now()))
    await context.agents.lockStates(tx, [to])
    await context.decisions.reassess(tx, [to], false)
  })
  context.jobs.handle(evaluationJob, {
    run: async (job) => {
      await context.knowledge.refresh()
      await reevaluation.run(job)
      return 'done'
    },
  })
  const findings = createFindings(context, findingStore)
  registerFindingRoutes(app, createList(findingsList, context), findings)
  const models = createList(modelsList, context)
  registerPeripheralRoutes(app, { peripherals, models }, read, createSuggestions(context.db), {
    device: createPassport(context.db, context.commands.logsOf),
    model: createModelPassport(context, models),
  })
  return {
    /** Returns the JSON text of an agent's peripherals, attached and detached; at most 2,000. */
    ofAgent: (agentId: string): Promise<string[]> => peripherals.rowsWhere(ofAgent(agentId), 2_000),
    findings: read.findings,
    /** Returns the stored devices of locked hosts, which reports and assessments change. */
    storedOf: store.ofAgents,
    writeReported: store.write,
    lastHosts: store.lastHosts,
    writeDecisions: store.writeDecisions,
    writeFindings: findingStore.write,
    moveCounters: store.moveCounters,
    /**
     * Deletes decisions from before the retention period that a newer one about the same device replaced, in batches. 0 days
     * keeps all. Returns the number of deleted decisions.
     */
    forgetDecisions: async (keptDays: number): Promise<number> => {
      if (keptDays === 0) return 0
      const before = new Date(context.clock.now() - keptDays * 86_400_000)
      let removed = 0
      for (let some = forgottenAtOnce; some === forgottenAtOnce; removed += some)
        some = await store.forgetDecisions(before, forgottenAtOnce)
      return removed
    },
    fingerprints,
    /** Halves the points of findings about devices that were removed. */
    halveFindings: findings.halve,
    /** Closes findings in the caller's transaction. The caller must not lock hosts afterwards. */
    closeFindings: findings.closeIn,
    openFindings: (): Promise<number> => findingStore.countOpen(context.db),
    /** Returns the hosts of findings, in id order. */
    hostsOfFindings: findingStore.hostsOf,
    /** Findings that people accepted. */
    accepted,
    /** Tests other knowledge, and brings verdicts up to date with new knowledge. */
    reevaluation,
  }
}
