import { sourceNumber } from '@portcullis/domain'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import type { Affected } from './affected.ts'
import { createNewlyAllowedRead, type OpenedDevices } from './newly-allowed.read.ts'
import { namesSerial } from './policy.rules.ts'
import type { PolicyStore, RuleRow } from './policy.store.ts'
import { covers, meets, reaches } from './policy.warnings.ts'
import { printOf } from './seal.ts'

/** A rule change, with the stored versions of the rules that it replaces or deletes. */
export interface MeasuredChange {
  gone: readonly RuleRow[]
  write: readonly RuleRow[]
}

/**
 * Returns whether a rule covers devices or attack tools that no host has seen yet, so that its whole scope counts. A
 * device can claim any ids and descriptors.
 */
const coversUnseen = (r: RuleRow): boolean => !namesSerial(r) || r.override_attack_tool

/** Returns whether the tag of a rule was deleted. */
const isInert = (r: RuleRow): boolean => r.tag_name !== null && r.tag_id === null

const lastsAsLong = (a: RuleRow, b: RuleRow): boolean =>
  a.expires_at === null || (b.expires_at !== null && a.expires_at >= b.expires_at)

/** Returns whether `a` decides about everything that `b` decides about. */
const includes = (a: RuleRow, b: RuleRow): boolean =>
  a.effect === b.effect &&
  covers(a, b) &&
  reaches(a, b) &&
  lastsAsLong(a, b) &&
  (a.override_attack_tool || !b.override_attack_tool)

/**
 * Returns a test whether a rule includes a given one. Only rules for all hosts, for tags and for its own host can, so a
 * decision about thousands of devices does not compare all of them with each other.
 */
const includedBy = (rules: readonly RuleRow[]) => {
  const of = Map.groupBy(rules, (r) => r.agent_id)
  return (b: RuleRow): boolean => {
    const isOuter = (a: RuleRow): boolean => includes(a, b)
    return of.get(null)?.some(isOuter) === true || (b.agent_id !== null && of.get(b.agent_id)?.some(isOuter) === true)
  }
}

/** Returns a function that finds the rules that can decide about the same device as a given one. */
const meetingOf = (rules: readonly RuleRow[]) => {
  const of = Map.groupBy(rules, (r) => r.agent_id)
  return (b: RuleRow): RuleRow[] =>
    (b.agent_id === null ? rules : [...(of.get(null) ?? []), ...(of.get(b.agent_id) ?? [])]).filter((a) => meets(a, b))
}

/** Returns the criteria by which a rule matches fingerprints. */
const criteriaOf = (r: RuleRow): string => JSON.stringify([r.vid, r.pid, r.kinds, printOf(r), r.serial === null])

/**
 * Counts the hosts on which a rule change newly allows devices. These are hosts with a known device that the change
 * allows, and all hosts covered by a rule without a serial number, seen or not. If uncertain, it counts more hosts.
 *
 * A rule for a tag reaches every host, because one person can put the tag on every host. A rule that ends before a new
 * allow hides nothing: the allow is measured as if that rule were absent. A removed deny counts the armed hosts with a
 * matching device, even if no rule allows it, because the guards of the agent may still allow it. It also counts the
 * hosts whose own allow without a serial number may match a device that no host has seen.
 */
export const createNewlyAllowed = ({
  store,
  affected,
  read = createNewlyAllowedRead(),
}: {
  store: Pick<PolicyStore, 'wide'>
  affected: Pick<Affected, 'fingerprintsOf'>
  read?: ReturnType<typeof createNewlyAllowedRead>
}) => {
  /**
   * Returns the hosts and devices that a change opens; null: all hosts. `isForHosts`: the rules apply to more or fewer
   * hosts.
   */
  async function openedBy(
    q: Queryable,
    { gone, write }: MeasuredChange,
    now: Date,
    isForHosts: boolean,
  ): Promise<{ hosts: Set<string>; opened: OpenedDevices[] } | null> {
    const inForce = (r: RuleRow): boolean => r.expires_at === null || r.expires_at > now
    const goneIds = new Set([...gone, ...write].map((r) => r.rule_id))
    const wide = (await store.wide(q)).filter(inForce)
    const kept = wide.filter((r) => !goneIds.has(r.rule_id))
    const before = isForHosts ? kept : [...wide, ...gone.filter((r) => inForce(r) && !isInert(r))]

    const after = [...kept, ...write]
    const [wasIncluded, isIncluded] = [includedBy(before), includedBy(after)]
    const allows = write.filter((r) => r.effect === 'allow' && inForce(r) && !wasIncluded(r))
    const denies = gone.filter((r) => r.effect === 'deny' && inForce(r) && !isIncluded(r))
    const allowsMeeting = meetingOf(after.filter((r) => r.effect === 'allow' && inForce(r)))

    const known = new Map<string, Promise<Set<number>>>()
    /** Asks once for the fingerprints of rules with the same criteria, which decisions about many hosts share. */
    function fingerprintsOf(rules: readonly RuleRow[]): Promise<Set<number>> {
      const key = [...new Set(rules.map(criteriaOf))].sort().join('\n')
      const found = known.get(key) ?? affected.fingerprintsOf(q, rules)
      known.set(key, found)
      return found
    }

    const hosts = new Set<string>()
    const opened: OpenedDevices[] = []
    for (const rule of allows) {
      if (rule.agent_id !== null) hosts.add(rule.agent_id)
      else if (coversUnseen(rule)) return null
      else
        for (const fingerprintId of await fingerprintsOf([rule])) {
          const allow = { until: rule.expires_at }
          opened.push({ fingerprintId, serial: rule.serial, agentId: null, source: sourceNumber('default'), allow })
        }
    }
    const denied: OpenedDevices[] = []
    for (const rule of denies) {
      const behind = allowsMeeting(rule)
      const unseen = coversUnseen(rule) ? behind.filter(coversUnseen) : []
      if (rule.agent_id === null && unseen.some((allow) => allow.agent_id === null)) return null
      for (const allow of unseen) hosts.add((rule.agent_id ?? allow.agent_id) as string)
      const allowed = await fingerprintsOf(behind.filter((allow) => allow.agent_id === null))
      for (const fingerprintId of await fingerprintsOf([rule])) {
        const one = { fingerprintId, serial: rule.serial, source: sourceNumber('deny'), agentId: rule.agent_id }
        denied.push(one)
        opened.push({ ...one, isGuarded: !allowed.has(fingerprintId) })
      }
    }
    const unseenDenies = denies.filter(coversUnseen)
    if (unseenDenies.length > 0)
      for (const agentId of await read.withOwnUnseen(q, unseenDenies, [...goneIds], now)) hosts.add(agentId)
    if (denied.length > 0) for (const { agent_id } of await read.withOwnAllow(q, denied, now)) hosts.add(agent_id)
    return { hosts, opened }
  }

  return {
    /**
     * Returns the number of hosts on which a rule change newly allows devices, whether it also allows attack tools on
     * hosts that enrol later, and whether it allows devices on hosts that no rule names.
     */
    measure: async (
      q: Queryable,
      change: MeasuredChange,
      now: Date,
    ): Promise<{ hosts: number; isForLaterHosts: boolean; isForAnyHost: boolean }> => {
      const found = await openedBy(q, change, now, false)
      if (found === null)
        return {
          hosts: await read.hosts(q),
          isForLaterHosts: change.write.some((r) => r.effect === 'allow' && r.override_attack_tool),
          isForAnyHost: true,
        }
      const isNone = found.hosts.size + found.opened.length === 0
      return {
        hosts: isNone ? 0 : await read.count(q, found.opened, [...found.hosts]),
        isForLaterHosts: false,
        isForAnyHost: false,
      }
    },

    /**
     * Returns the given hosts on which devices are newly allowed when rules start (`write`) or stop (`gone`)
     * applying.
     */
    among: async (
      q: Queryable,
      change: MeasuredChange,
      agentIds: readonly string[],
      now: Date,
    ): Promise<readonly string[]> => {
      if (agentIds.length === 0) return []
      const found = await openedBy(q, change, now, true)
      if (found === null) return agentIds
      return found.hosts.size + found.opened.length === 0 ? [] : read.among(q, found.opened, [...found.hosts], agentIds)
    },

    /** Returns the number of hosts that block devices with these fingerprints as attack tools. */
    accepting: (q: Queryable, fingerprintIds: readonly number[]): Promise<number> =>
      read.count(
        q,
        fingerprintIds.map((fingerprintId) => ({
          ...{ fingerprintId, serial: null, agentId: null, source: sourceNumber('attack-tool') },
        })),
        [],
      ),

    approvable: read.approvable,
    undecided: read.undecided,
  }
}

export type NewlyAllowed = ReturnType<typeof createNewlyAllowed>
