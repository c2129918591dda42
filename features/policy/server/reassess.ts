import { type Tx, transactionAgain } from '@portcullis/platform/server/db/db.ts'
import type { AgentState } from '#features/agents/server/index.ts'
import type { StoredPeripheral } from '#features/devices/server/index.ts'
import { assessHosts, rowOf } from './assess.ts'
import { hostOf } from './host.ts'
import type { PolicyDeps } from './policy.context.ts'
import type { PolicyHostsStore } from './policy-hosts.store.ts'
import type { HostPolicy } from './rule-set.ts'

/** Number of hosts per transaction: about 6,000 peripherals, about 200 ms. */
const hostsAtOnce = 500

/** Recalculates stored decisions when rules, tags or modes change. */
export const createReassess = (
  deps: PolicyDeps & {
    hosts: Pick<PolicyHostsStore, 'takeQueued'>
    open(tx: Tx, states: readonly AgentState[]): Promise<ReadonlyMap<string, HostPolicy>>
  },
) => {
  const { db, clock, agents, peripherals, jobs, open, announce } = deps
  /** Recalculates the decisions about all devices of these hosts. Armed hosts are notified to fetch their policy. */
  async function hosts(tx: Tx, agentIds: readonly string[]): Promise<void> {
    const now = clock.now()
    const states = await agents.lockStates(tx, [...agentIds].sort())
    const ids = states.map((state) => state.agent_id)
    const policies = await open(tx, states)
    const rowsOf = Map.groupBy(await peripherals.storedOf(tx, ids), (row: StoredPeripheral) => row.agent_id)
    const designs = await peripherals.designs.byIds([...rowsOf.values()].flat().map((row) => row.design_id))
    const assessed = await assessHosts(
      ids.map((agentId) => {
        const stored = hostOf(rowsOf.get(agentId) ?? [], designs)
        return { agentId, stored, current: stored }
      }),
      policies,
      now,
    )
    await peripherals.writeDecisions(
      tx,
      assessed.flatMap(({ agentId, moved }) => moved.map((p) => rowOf(agentId, p))),
    )
    await agents.writeVerdicts(
      tx,
      assessed.map(({ verdict }) => verdict),
    )
    const changed = assessed.filter(({ moved }) => moved.length > 0).map(({ agentId }) => agentId)
    const armed = states.filter((state) => state.armed).map((state) => state.agent_id)
    await agents.markPolicyDue(tx, armed)
    if (armed.length > 0) await agents.wake(tx, armed)
    await announce(tx, { agents: ids, peripherals: changed })
  }

  /** Processes one batch of the queue; returns false if the queue was empty. */
  const step = (): Promise<boolean> =>
    transactionAgain(db, async (tx) => {
      const taken = await deps.hosts.takeQueued(tx, hostsAtOnce)
      if (taken.length === 0) return false
      await hosts(
        tx,
        taken.map((t) => t.agent_id),
      )
      for (const [jobId, of] of Map.groupBy(taken, (t) => t.job_id))
        if (jobId !== null) await jobs.count(tx, [{ jobId, done: of.length, failed: 0 }])
      return true
    })

  let draining: Promise<void> | null = null
  return {
    hosts,
    /** Works until the queue is empty. At most one run at a time in this process. */
    drain: (): Promise<void> => {
      draining ??= (async () => {
        while (await step());
      })().finally(() => {
        draining = null
      })
      return draining
    },
  }
}
