import type { Db } from '@portcullis/platform/server/db/db.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { Keys } from '@portcullis/platform/server/keys.ts'
import { createList } from '@portcullis/platform/server/list/list.ts'
import type { Log } from '@portcullis/platform/server/log.ts'
import type { AgentsApi } from '#features/agents/server/index.ts'
import type { JobsApi } from '#features/jobs/server/index.ts'
import { judgingJob, type KnowledgeApi } from '#features/knowledge/server/index.ts'
import { createAccepted } from './accepted.ts'
import { createFingerprints } from './fingerprints.ts'
import { createPeripheralsRead, modelsList, ofAgent, peripheralsList } from './peripherals.read.ts'
import { registerPeripheralRoutes } from './peripherals.routes.ts'
import { createPeripheralsStore } from './peripherals.store.ts'
import { createRejudge, type RejudgeDeps } from './rejudge.ts'

export { decider, decisionReason } from './decision-labels.ts'
export { eventDevice } from './event-device.ts'
export { deviceOf, type Fingerprint, type JudgedDevice } from './fingerprint.ts'
export { isEscapedSql, modelsList, peripheralsList, serialKeySql } from './peripherals.read.ts'
export type { CounterDelta, KernelReport, PeripheralWrite, StoredPeripheral } from './peripherals.store.ts'
export type PeripheralsApi = ReturnType<typeof peripheralsFeature>

/** Creates the peripherals feature: lists, verdicts, and the writes of the ingest. */
export const peripheralsFeature = (
  app: HttpApp,
  deps: {
    exportDb: Db
    agents: Pick<AgentsApi, 'onRemove'>
    jobs: Pick<JobsApi, 'handle'>
    knowledge: Pick<KnowledgeApi, 'current' | 'refresh'>
    keys: Pick<Keys, 'derive'>
    log: Log
  } & Omit<RejudgeDeps, 'designs' | 'peripherals' | 'knowledge' | 'accepted'>,
) => {
  const store = createPeripheralsStore(deps.db)
  const accepted = createAccepted({ key: deps.keys.derive('accepted-findings'), log: deps.log })
  const designs = createFingerprints({ db: deps.db, store, knowledge: deps.knowledge.current, accepted })
  const rejudge = createRejudge({ ...deps, knowledge: deps.knowledge.current, accepted, designs, peripherals: store })
  const peripherals = createList(peripheralsList, deps)
  const read = createPeripheralsRead(deps.db)
  deps.agents.onRemove({ before: store.forgetAgents })
  deps.jobs.handle(judgingJob, {
    run: async (job) => {
      await deps.knowledge.refresh()
      await rejudge.run(job)
      return 'done'
    },
  })
  registerPeripheralRoutes(app, { peripherals, models: createList(modelsList, deps) }, read)
  return {
    /** Returns the JSON text of an agent's peripherals, attached and detached; at most 2,000. */
    ofAgent: (agentId: string): Promise<string[]> => peripherals.rowsWhere(ofAgent(agentId), 2_000),
    findings: read.findings,
    /** Returns the stored devices of locked hosts, which reports and assessments change. */
    storedOf: store.ofAgents,
    writeReported: store.write,
    writeDecisions: store.writeDecisions,
    moveCounters: store.moveCounters,
    designs,
    /** Findings that people accepted. */
    accepted,
    /** Tests other knowledge, and brings verdicts up to date with new knowledge. */
    rejudge,
  }
}
