import { approvableSources, serialKey, sourcesSql } from '@portcullis/domain'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { raw, type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import { isEscapedSql, serialKeySql } from '#features/devices/server/index.ts'
import type { RuleRow } from './policy.store.ts'

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

/** Whether a rule may match the serial number of a device. A cleaned one may match any escaped one. */
const isSame = sql`(${serialKeySql('p.serial')} = u.serial or ${isEscapedSql('p.serial')})`

const openedHosts = (opened: readonly OpenedDevices[], agentIds: readonly string[]) => sql`
  select x.agent_id from unnest(${agentIds}::uuid[]) x(agent_id)
  union
  select p.agent_id from ${rowsOf(opened)} u(design_id, serial, source, agent_id, is_allow, until, is_guarded)
  join peripherals p on p.design_id = u.design_id and (p.source = u.source or (${isPassing}))
    and (u.serial is null or ${isSame}) and (u.agent_id is null or p.agent_id = u.agent_id)
  where not u.is_guarded or exists (select from agent_rows r where r.agent_id = p.agent_id and r.armed)`

export const createNewlyAllowedRead = () => ({
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
    q.query(sql`
      select distinct p.agent_id from ${rowsOf(opened)} u(design_id, serial, source, agent_id, is_allow, until, is_guarded)
      join peripherals p on p.design_id = u.design_id and p.source = u.source
        and (u.serial is null or ${isSame}) and (u.agent_id is null or p.agent_id = u.agent_id)
      where exists (select 1 from policy_rules r where r.agent_id = p.agent_id and r.effect = 'allow'
        and (r.expires_at is null or r.expires_at > ${now}))`),

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
