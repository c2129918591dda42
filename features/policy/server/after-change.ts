import { decide, mustExist, type PolicySource, ruleMatches } from '@portcullis/domain'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import { createYielder } from '@portcullis/platform/server/yielder.ts'
import { deviceOf, type Fingerprint } from '#features/devices/server/index.ts'
import { createRuleSet, type HostPolicy, wideRule } from './open-policy.ts'
import { type RuleRow, wireRule } from './policy.store.ts'

/** Devices that all rules and all knowledge treat alike. */
export interface DeviceClass {
  design_id: number
  host_group: number
  /** Serial number if a rule or a verdict may name it; null: another serial number, or none. */
  named_serial: string | null
  has_serial: boolean
  speed: number
  has_port: boolean
  /** Serial number of one device of the class. */
  serial: string
  port_path: string
}

/** The decision about a class after a change. */
export interface DecidedClass extends DeviceClass {
  source: PolicySource
  ruleId: string | null
  isTool: boolean
  /** An added rule matches these devices, even if that changes nothing. */
  isMatched: boolean
}

/** Hosts with the same rules after a change. */
export interface HostGroup {
  /** Case-folded names of the tags of these hosts that rules name. */
  tags: readonly string[]
  /** Rules for a single host. Such a host is the only one in its group. */
  own: readonly RuleRow[]
}

/** Rules, hosts and devices as they will be after a change. */
export interface AfterChange {
  classes: readonly DeviceClass[]
  fingerprints: ReadonlyMap<number, Fingerprint>
  wide: readonly RuleRow[]
  groups: readonly HostGroup[]
  /** Ids of the rules that the change adds. */
  added: ReadonlySet<string>
}

/**
 * Groups hosts by the rules that apply to them. Group 0 holds all other hosts: those without rules of their own and without
 * these tags. If the change is about `isSome` hosts, group 0 also holds the hosts that it is not about.
 */
export const groupHosts = (
  hosts: readonly { agentId: string; hashtags: string }[],
  named: ReadonlySet<string>,
  own: readonly RuleRow[],
  isSome: boolean,
): { groups: HostGroup[]; groupOf: Map<string, number> } => {
  const ownOf = Map.groupBy(own, (row) => row.agent_id as string)
  const groups: HostGroup[] = [{ tags: [], own: [] }]
  const byTags = new Map<string, number>(isSome ? [] : [['', 0]])
  const byText = new Map<string, string[]>()
  const groupOf = new Map<string, number>()
  for (const { agentId, hashtags } of hosts) {
    let tags = byText.get(hashtags)
    if (tags === undefined) {
      tags = hashtags === '' ? [] : [...new Set(hashtags.split(',').map(fold))].filter((tag) => named.has(tag)).sort()
      byText.set(hashtags, tags)
    }
    const rules = ownOf.get(agentId)
    const key = tags.join(',')
    const known = rules === undefined ? byTags.get(key) : undefined
    const group = known ?? groups.push({ tags, own: rules ?? [] }) - 1
    if (rules === undefined) byTags.set(key, group)
    if (group > 0) groupOf.set(agentId, group)
  }
  return { groups, groupOf }
}

/** Decides about classes of devices by the rules and tags of a change, as `assessHosts` will after the change. */
export const decideAfter = async (
  { classes, fingerprints, wide, groups, added }: AfterChange,
  now: number,
): Promise<DecidedClass[]> => {
  const rules = createRuleSet(0, wide.map(wideRule))
  const policies = new Map<number, HostPolicy>()
  const policyOf = (n: number): HostPolicy => {
    const known = policies.get(n)
    if (known !== undefined) return known
    const { tags, own } = mustExist(groups[n], 'a group of hosts')
    const wires = own.map(wireRule)
    // Decisions do not depend on whether a host is armed.
    const policy = rules.hostPolicy({ armed: true, hashtags: tags.join(','), own: wires })
    policies.set(n, policy)
    return policy
  }
  const yieldNow = createYielder(10)
  const result: DecidedClass[] = []
  for (const one of classes) {
    await yieldNow()
    const fingerprint = fingerprints.get(one.design_id)
    if (fingerprint === undefined) continue
    const device = deviceOf(fingerprint, { serial: one.serial, speed: one.speed, portPath: one.port_path })
    const speaking = policyOf(one.host_group).rulesFor(fingerprint, one.serial)
    const { source, ruleId } = decide(speaking, device, now)
    const isMatched = speaking.some((rule) => added.has(rule.id) && ruleMatches(rule, device))
    result.push({ ...one, source, ruleId, isTool: fingerprint.attackTool !== null, isMatched })
  }
  return result
}
