import type { PolicyRule } from '@portcullis/contract'
import { ruleMatches } from '@portcullis/domain'
import { type Design, deviceOf } from '#features/devices/peripherals/index.ts'
import { fold } from '#platform/list/columns.ts'
import { createYielder } from '#platform/yielder.ts'
import { hostOf, judgeHost } from './host.ts'
import { type RuleRow, wireRule } from './policy.store.ts'
import type { Candidate, Redecided } from './predict.read.ts'
import { createRuleSet } from './rule-set.ts'

/** A decision by the rules as they will be. */
export interface DecidedAfter extends Redecided {
  isTool: boolean
  /** An added rule matches the device, whether or not that changes anything. */
  isMatched: boolean
}

/** Rules, hosts and devices as they will be after a change. */
export interface AfterChange {
  devices: readonly Candidate[]
  designs: ReadonlyMap<number, Design>
  /** Rules for tags and for all hosts. */
  wide: readonly RuleRow[]
  /** Rules for single hosts. */
  own: readonly RuleRow[]
  /** Ids of the rules that the change adds. */
  added: ReadonlySet<string>
  /** Tags of a host after the change, joined by commas. */
  tagsOf(host: Candidate): string
}

/** Decides about devices by the rules and tags of a change, as `assessHosts` will once the change is made. */
export const decideAfter = async (
  { devices, designs, wide, own, added, tagsOf }: AfterChange,
  now: number,
): Promise<DecidedAfter[]> => {
  const rules = createRuleSet(
    0,
    wide.map((row) => ({ rule: wireRule(row), tag: row.tag_name === null ? null : fold(row.tag_name) })),
  )
  const ownOf = Map.groupBy(own, (row) => row.agent_id as string)
  const known = devices.filter((device) => designs.has(device.design_id))
  const yieldNow = createYielder(10)
  const result: DecidedAfter[] = []
  for (const [agentId, some] of Map.groupBy(known, (device) => device.agent_id)) {
    await yieldNow()
    const first = some[0] as Candidate
    const policy = rules.hostPolicy({
      armed: first.armed,
      hashtags: tagsOf(first),
      own: (ownOf.get(agentId) ?? []).map((row): PolicyRule => wireRule(row)),
    })
    for (const { deviceId, design, source, ruleId, ...p } of judgeHost(agentId, hostOf(some, designs), policy, now)) {
      const device = deviceOf(design, p)
      const isMatched = policy.rulesFor(design).some((rule) => added.has(rule.id) && ruleMatches(rule, device))
      result.push({ agentId, deviceId, source, ruleId, isTool: design.attackTool !== null, isMatched })
    }
  }
  return result
}
