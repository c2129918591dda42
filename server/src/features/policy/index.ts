import type { AgentsApi } from '#features/agents/index.ts'
import type { AuditApi } from '#features/audit/index.ts'
import type { PeripheralsApi } from '#features/peripherals/index.ts'
import type { Clock } from '#platform/clock.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { Keys } from '#platform/keys.ts'
import type { Log } from '#platform/log.ts'
import { createOpenPolicy } from './open-policy.ts'
import { createPolicyStore } from './policy.store.ts'
import { createReassess } from './reassess.ts'
import { createSeals } from './seal.ts'

export { type HostPeripheral, hostOf, judgeHost, sourceNumber, verdictOf } from './host.ts'
export type { HostPolicy } from './rule-set.ts'

export interface PolicyDeps {
  db: Db
  exportDb: Db
  clock: Clock
  keys: Keys
  log: Log
  audit: Pick<AuditApi, 'write'>
  agents: Pick<AgentsApi, 'reports'>
  peripherals: Pick<PeripheralsApi, 'reports' | 'designs'>
  announce(tx: Tx, change: { agents: string[]; peripherals: string[] }): Promise<void>
  wake(tx: Tx, agentIds: readonly string[]): Promise<void>
}

/** The policy: rules, the decisions they make, and what hosts are told of them. */
export const policyFeature = (_app: HttpApp, deps: PolicyDeps) => {
  const store = createPolicyStore()
  const seals = createSeals(deps.keys.derive('policy-rules'))
  const { open } = createOpenPolicy({ store, seals, log: deps.log })
  const reassess = createReassess({
    ...deps,
    store,
    open: async (tx, states) => (await open(tx, states)).policies,
    progress: async () => {},
  })
  return {
    /** Policies of locked hosts, for the ingest. */
    open: async (tx: Tx, states: Parameters<typeof open>[1]) => (await open(tx, states)).policies,
    writeModes: store.writeModes,
    countAttachments: store.countAttachments,
    reassess: reassess.hosts,
    /** Makes all queued decisions anew. */
    drain: reassess.drain,
  }
}

export type PolicyApi = ReturnType<typeof policyFeature>
