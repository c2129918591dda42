import type { PolicyRule } from '@portcullis/contract'
import { ruleMatches } from '@portcullis/domain'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { createYielder } from '@portcullis/platform/server/yielder.ts'
import type { PeripheralsApi } from '#features/devices/server/index.ts'
import type { DevicesRead } from './devices.read.ts'
import { type PolicyStore, type RuleRow, wireRule } from './policy.store.ts'
import type { PolicyHostsStore } from './policy-hosts.store.ts'

export interface AffectedDeps {
  store: Pick<PolicyStore, 'wide'>
  hosts: PolicyHostsStore
  devices: Pick<DevicesRead, 'fingerprintsMatching'>
  designs: Pick<PeripheralsApi['designs'], 'byIds'>
}

const isWideAllow = (r: RuleRow): boolean =>
  r.effect === 'allow' && !r.is_grant && r.agent_id === null && r.tag_name === null

/** Finds the fingerprints that a rule may decide about, and the hosts whose decisions a rule change may affect. */
export const createAffected = ({ store, hosts, devices, designs }: AffectedDeps) => {
  async function fingerprintsOf(tx: Queryable, rules: readonly RuleRow[]): Promise<Set<number>> {
    const found = new Set<number>()
    if (rules.length === 0) return found
    const wires = rules.map((rule) => wireRule(rule))
    const byVendor = Map.groupBy(wires, ({ vid }) => vid)
    const yieldNow = createYielder(10)
    const ids = (await devices.fingerprintsMatching(tx, rules)).map((row) => row.design_id)
    for (const design of (await designs.byIds(ids)).values()) {
      await yieldNow()
      const device = { ...design.device, serial: '', attackTool: null }
      const mayDecide = (rule: PolicyRule): boolean =>
        ruleMatches(rule, rule.serial === undefined ? device : { ...device, serial: rule.serial })
      if ([byVendor.get(design.vid), byVendor.get(undefined)].some((some) => some?.some(mayDecide)))
        found.add(design.id)
    }
    return found
  }

  const hasWideAllow = async (tx: Queryable): Promise<boolean> => (await store.wide(tx)).some(isWideAllow)

  return {
    fingerprintsOf,
    /** Returns whether an allow rule applies to every host. Call it before and after a change. */
    hasWideAllow,

    /** Queues every host whose decisions may change. Returns how many hosts were not already queued. */
    queue: async (tx: Tx, changed: readonly RuleRow[], hadWideAllow: boolean): Promise<number> => {
      // The first allow for all hosts starts an allowlist on every host; removing the last one ends it.
      if (hadWideAllow !== (await hasWideAllow(tx))) return hosts.queueAll(tx)
      let queued = 0
      const own = [...new Set(changed.flatMap((r) => (r.agent_id === null ? [] : [r.agent_id])))]
      if (own.length > 0) queued += await hosts.queueThese(tx, own)
      for (const tagId of new Set(changed.flatMap((r) => (r.tag_id === null ? [] : [r.tag_id]))))
        queued += await hosts.queueTagged(tx, tagId)
      const wide = await fingerprintsOf(
        tx,
        changed.filter((r) => r.agent_id === null && r.tag_name === null),
      )
      if (wide.size > 0) queued += await hosts.queueHolders(tx, [...wide])
      return queued
    },
  }
}

export type Affected = ReturnType<typeof createAffected>
