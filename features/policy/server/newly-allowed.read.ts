import { approvableSources, serialKey, sourceNumber, sourcesSql } from '@portcullis/domain'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { join, raw, type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import { isEscapedSql, serialKeySql } from '#features/devices/server/index.ts'
import type { Affected } from './affected.store.ts'
import { namesSerial } from './policy.rules.ts'
import type { PolicyStore, RuleRow } from './policy.store.ts'
import { coveringIds } from './rule-cover.ts'
import { printOf } from './seal.ts'
import { covers, meets, reaches } from './warnings.ts'

/** Devices with the same model fingerprint whose stored decision a change may turn into an allow. */
export interface OpenedDevices {
  fingerprintId: number
  /** Null: any serial number. */
  serial: string | null
  /** Stored decision, as its index in `policySources`. */
  source: number
  /** Null: every host. */
  agentId: string | null
  /**
   * True: count armed hosts only. A deny was removed and no allow replaces it. However, the guards of an armed host
   * allow devices that were attached before arming.
   */
  isGuarded?: boolean
  /**
   * Set for a new allow: also counts devices that another rule decides about, if that decision ends before the allow
   * does.
   */
  allow?: { until: Date | null }
}

const approvable = raw(sourcesSql(...approvableSources))

const rowsOf = (opened: readonly OpenedDevices[]) =>
  unnestOf([
    [opened.map((one) => one.fingerprintId), 'int[]'],
    [opened.map((one) => (one.serial === null ? null : serialKey(one.serial))), 'text[]'],
    [opened.map((one) => one.source), 'smallint[]'],
    [opened.map((one) => one.agentId), 'uuid[]'],
    [opened.map((one) => one.allow !== undefined), 'boolean[]'],
    [opened.map((one) => one.allow?.until ?? null), 'timestamptz[]'],
    [opened.map((one) => one.isGuarded === true), 'boolean[]'],
  ])

/**
 * Whether the stored decision about a device ends before a new allow does. Its rule expires earlier, is gone, is a deny
 * for a tag (one person can remove the tag), or the decision is queued for recalculation.
 */
const isPassing = sql`u.is_allow and p.source in ${raw(sourcesSql('deny', 'grant', 'host', 'tag', 'global'))} and (
  exists (select from policy_queue w where w.agent_id = p.agent_id)
  or not exists (
    select from policy_rules r where r.rule_id = p.rule_id and (r.effect = 'allow' or r.tag_name is null)
      and (r.expires_at is null or r.expires_at >= u.until)))`

/**
 * The ways in which a rule can match a serial number. A cleaned one can match any escaped one. Each way is a separate
 * join: with `or`, the database would compare thousands of rules with each device of the model.
 */
const isSame = [
  raw('u.serial is null'),
  sql`${serialKeySql('p.serial')} = u.serial`,
  sql`u.serial is not null and ${isEscapedSql('p.serial')}`,
]

const openedDevices = (
  opened: readonly OpenedDevices[],
  where: SqlFragment,
  isDecided: SqlFragment,
): SqlFragment => sql`
  with u as materialized (select * from ${rowsOf(opened)} o(design_id, serial, source, agent_id, is_allow, until, is_guarded))
  ${join(
    isSame.map(
      (
        same,
      ) => sql`select p.agent_id from u join peripherals p on p.design_id = u.design_id and ${same} and ${isDecided}
        and (u.agent_id is null or p.agent_id = u.agent_id) where ${where}`,
    ),
    ' union ',
  )}`

const openedHosts = (opened: readonly OpenedDevices[], agentIds: readonly string[]) => sql`
  select x.agent_id from unnest(${agentIds}::uuid[]) x(agent_id) union (${openedDevices(
    opened,
    sql`not u.is_guarded or exists (select from agent_rows r where r.agent_id = p.agent_id and r.armed)`,
    sql`(p.source = u.source or (${isPassing}))`,
  )})`

const createNewlyAllowedRead = () => ({
  /** Returns the number of hosts with an agent, which can enforce rules. */
  hosts: async (q: Queryable): Promise<number> =>
    (await q.query<{ n: number }>(sql`select count(*)::int as n from agent_rows r where not r.agentless`))[0]?.n ?? 0,

  /**
   * Counts the hosts that have one of these devices or are named. The database does this as a set operation and returns
   * no device.
   */
  count: async (q: Queryable, opened: readonly OpenedDevices[], agentIds: readonly string[]): Promise<number> =>
    (await q.query<{ n: number }>(sql`select count(*)::int as n from (${openedHosts(opened, agentIds)}) hosts`))[0]
      ?.n ?? 0,

  /** Returns the given hosts that have one of these devices or are named. */
  among: async (
    q: Queryable,
    opened: readonly OpenedDevices[],
    agentIds: readonly string[],
    some: readonly string[],
  ): Promise<string[]> =>
    (
      await q.query<{ agent_id: string }>(sql`
        select h.agent_id from (${openedHosts(opened, agentIds)}) h where h.agent_id = any(${some}::uuid[])`)
    ).map((row) => row.agent_id),

  /** Returns the given hosts that have their own allow rule. */
  withOwnAllow: (q: Queryable, opened: readonly OpenedDevices[], now: Date): Promise<{ agent_id: string }[]> =>
    q.query(
      openedDevices(
        opened,
        sql`exists (select from policy_rules r where r.agent_id = p.agent_id and r.effect = 'allow'
          and (r.expires_at is null or r.expires_at > ${now}))`,
        raw('p.source = u.source'),
      ),
    ),

  /**
   * Returns the hosts with their own allow rule in force for devices that no host has seen and that one of these denies
   * also covers, without the rules that a change replaces or deletes. Rules of a draft have no UUID.
   */
  withOwnUnseen: async (
    q: Queryable,
    denies: readonly RuleRow[],
    goneIds: readonly string[],
    now: Date,
  ): Promise<string[]> => {
    const rows = unnestOf([
      [denies.map((r) => r.vid), 'text[]'],
      [denies.map((r) => r.pid), 'text[]'],
      [denies.map((r) => r.serial), 'text[]'],
      [denies.map((r) => r.kinds?.join('|') ?? null), 'text[]'],
      [denies.map((r) => r.fingerprint), 'text[]'],
      [denies.map((r) => r.rule_fingerprint ?? null), 'text[]'],
      [denies.map((r) => r.agent_id), 'uuid[]'],
    ])
    // Each join has an equality or stops at the first match, so that thousands of denies are no cross join.
    const joined = (condition: SqlFragment): SqlFragment => sql`
      select r.agent_id from policy_rules r
      where r.agent_id is not null and r.effect = 'allow' and (coalesce(r.serial, '') = '' or r.override_attack_tool)
        and (r.expires_at is null or r.expires_at > ${now}) and r.rule_id::text <> all(${goneIds}::text[])
        and exists (
          select from denies d where ${condition} and (d.vid is null or r.vid is null or d.vid = r.vid)
            and (d.pid is null or r.pid is null or d.pid = r.pid)
            and (d.serial is null or r.serial is null or d.serial = r.serial)
            and (d.kinds is null or r.kinds is null or string_to_array(d.kinds, '|') && r.kinds)
            and (d.fingerprint is null or r.fingerprint is null or d.fingerprint = r.fingerprint
              or d.rule_fingerprint = r.rule_fingerprint))`
    const found = await q.query<{ agent_id: string }>(sql`
      with denies as materialized (
        select * from ${rows} u(vid, pid, serial, kinds, fingerprint, rule_fingerprint, agent_id))
      ${joined(sql`d.agent_id = r.agent_id`)}
      union ${joined(sql`d.agent_id is null and d.vid = r.vid`)}
      union ${joined(sql`d.agent_id is null and (d.vid is null or r.vid is null)`)}`)
    return found.map(({ agent_id }) => agent_id)
  },
  /** Returns the given hosts with attached devices that "approve all attached devices" may allow, and their number. */
  undecided: (q: Queryable, agentIds: readonly string[]): Promise<{ agent_id: string; devices: number }[]> =>
    q.query<{ agent_id: string; devices: number }>(sql`
      select p.agent_id, count(*)::int as devices from peripherals p
      where p.agent_id = any(${agentIds}::uuid[]) and p.present and p.source in ${approvable} group by 1`),

  /** Counts the given hosts with an attached device that "approve all attached devices" would allow. */
  approvable: async (q: Queryable, agentIds: readonly string[]): Promise<number> =>
    (
      await q.query<{ n: number }>(sql`
        select count(distinct p.agent_id)::int as n from peripherals p
        where p.agent_id = any(${agentIds}::uuid[]) and p.present and p.source in ${approvable}`)
    )[0]?.n ?? 0,
})

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

/** Returns whether `a` ends no earlier than `b`. */
export const lastsAsLong = (a: RuleRow, b: RuleRow): boolean =>
  a.expires_at === null || (b.expires_at !== null && a.expires_at >= b.expires_at)

/** Returns whether `a` decides about everything that `b` decides about. */
export const includes = (a: RuleRow, b: RuleRow): boolean =>
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
  const of = new Map([...Map.groupBy(rules, (r) => r.agent_id)].map(([id, some]) => [id, coveringIds(some)]))
  return (b: RuleRow): boolean =>
    [null, ...(b.agent_id === null ? [] : [b.agent_id])].some((id) =>
      of
        .get(id)?.(b)
        .some((a) => includes(a, b)),
    )
}

/** Returns a function that finds the rules that can decide about the same device as a given one. */
const meetingOf = (rules: readonly RuleRow[]) => {
  const bySerial = (some: readonly RuleRow[]) =>
    Map.groupBy(some, ({ serial }) => (serial === null ? null : serialKey(serial)))
  const all = bySerial(rules)
  const of = new Map([...Map.groupBy(rules, (r) => r.agent_id)].map(([id, some]) => [id, bySerial(some)]))
  return (b: RuleRow): RuleRow[] =>
    (b.agent_id === null ? [all] : [of.get(null), of.get(b.agent_id)])
      .flatMap((some) =>
        (b.serial === null ? [...(some?.keys() ?? [])] : [null, serialKey(b.serial)]).flatMap(
          (key) => some?.get(key) ?? [],
        ),
      )
      .filter((a) => meets(a, b))
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
export const createNewlyAllowed = (store: PolicyStore, affected: Affected, read = createNewlyAllowedRead()) => {
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
