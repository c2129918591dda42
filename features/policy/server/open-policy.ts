import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import type { Log } from '@portcullis/platform/server/log.ts'
import { type PolicyStore, type RuleRow, wireRule } from './policy.store.ts'
import { createRuleSet, type HostPolicy, type RuleSet } from './rule-set.ts'
import type { Seals } from './seal.ts'

/** A host whose policy is opened. */
export interface OpenedHost {
  agent_id: string
  armed: boolean
  hashtags: string
}

/**
 * Opens the current policies of hosts. Call it after locking the hosts. A rule change that commits later recalculates
 * their decisions and waits for that lock. So a stored decision is never older than the rules.
 */
export const createOpenPolicy = ({ store, seals, log }: { store: PolicyStore; seals: Seals; log: Log }) => {
  let wide: RuleSet = createRuleSet(-1, [])
  let wideLeftOut: readonly string[] = []
  const reported = new Set<string>()

  const authentic = (rows: readonly RuleRow[], leftOut: string[]): RuleRow[] =>
    rows.flatMap((row) => {
      if (seals.isAuthentic(row)) return [seals.withIdentity(row)]
      leftOut.push(row.rule_id)
      if (!reported.has(row.rule_id))
        log.error({ ruleId: row.rule_id }, 'ignoring a rule that this server did not write')
      reported.add(row.rule_id)
      return []
    })

  /** Returns policies by agent id, the version of the rules they come from, and the rules that do not match their seal. */
  async function open(
    tx: Queryable,
    hosts: readonly OpenedHost[],
  ): Promise<{ version: number; policies: Map<string, HostPolicy>; leftOut: readonly string[] }> {
    const { version, own } = await store.versionAndOwn(
      tx,
      hosts.map((h) => h.agent_id),
    )
    if (wide.version !== version) {
      const left: string[] = []
      wide = createRuleSet(
        version,
        authentic(await store.wide(tx), left).map((row) => ({
          rule: wireRule(row),
          tag: row.tag_name === null ? null : fold(row.tag_name),
        })),
      )
      wideLeftOut = left
    }
    const rules = wide
    const leftOut = [...wideLeftOut]
    const ownOf = Map.groupBy(authentic(own, leftOut), (row) => row.agent_id as string)
    return {
      version,
      leftOut,
      policies: new Map(
        hosts.map(({ agent_id, armed, hashtags }) => [
          agent_id,
          rules.hostPolicy({
            armed,
            hashtags,
            own: (ownOf.get(agent_id) ?? []).map(wireRule),
          }),
        ]),
      ),
    }
  }

  return {
    open,
    /** Discards cached rules, because rules that lost their tag no longer apply although no version changed. */
    forget: (): void => {
      wide = createRuleSet(-1, [])
    },
  }
}

export type OpenPolicy = ReturnType<typeof createOpenPolicy>
