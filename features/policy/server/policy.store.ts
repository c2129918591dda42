import type { CapabilityKind } from '@portcullis/domain'
import type { Clock } from '@portcullis/platform/server/clock.ts'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import type { PolicyRule, PolicyRuleResource } from '#features/contract.ts'
import { rulesList } from './policy.read.ts'
import type { IdentityPart, SealedPart } from './seal.ts'

export interface RuleRow extends SealedPart, IdentityPart {
  kinds: CapabilityKind[] | null
  effect: 'allow' | 'deny'
  /** Null: the tag was deleted, and the rule no longer applies. */
  tag_id: number | null
  created_at: Date
  created_by: string
  changed_at: Date
  changed_by: string
  seal: Buffer
  identity_seal?: Buffer | null
  /** Null or absent: the rule is in no group. No seal covers it, because it changes no decision. */
  group_id?: string | null
}

const ruleColumns = sql`r.rule_id, r.effect, r.is_grant, r.vid, r.pid, r.serial, r.kinds, r.fingerprint, r.agent_id, r.tag_id, r.tag_name,
  r.expires_at, r.reason, r.override_attack_tool, r.origin, r.created_at, r.created_by, r.changed_at, r.changed_by, r.seal,
  r.rule_fingerprint, r.exact_serial, r.identity_seal, r.group_id`

/** Returns the part of a rule that hosts receive. */
export const wireRule = (r: RuleRow): PolicyRule => ({
  id: r.rule_id,
  effect: r.effect,
  level: r.is_grant ? 'grant' : r.agent_id !== null ? 'host' : r.tag_name !== null ? 'tag' : 'global',
  ...(r.vid === null ? {} : { vid: r.vid }),
  ...(r.pid === null ? {} : { pid: r.pid }),
  ...(r.serial === null ? {} : { serial: r.serial }),
  ...(r.kinds === null ? {} : { kinds: r.kinds }),
  ...(r.serial === null || r.exact_serial === true ? {} : { hasCleanedSerial: true }),
  ...(r.fingerprint === null ? {} : { fingerprint: r.fingerprint }),
  ...(r.fingerprint === null || typeof r.rule_fingerprint !== 'string' ? {} : { ruleFingerprint: r.rule_fingerprint }),
  ...(r.expires_at === null ? {} : { expiresAt: r.expires_at.toISOString() }),
  ...(r.override_attack_tool ? { overrideAttackTool: true } : {}),
  ...(r.effect === 'deny' && r.reason !== '' ? { reason: r.reason } : {}),
})

/** Returns a rule as its author knows it, for audit records. */
export const writtenForm = (r: RuleRow): PolicyRule => wireRule({ ...r, rule_fingerprint: null, exact_serial: true })

export const createPolicyStore = (clock: Clock) => {
  /** Whether a rule has not ended. No seal covers `is_over`, so a rule ends only if it has expired too. */
  const lasts = () => sql`(not r.is_over or r.expires_at is null or r.expires_at > ${new Date(clock.now())})`
  return {
    /**
     * Returns the version of the rules, and the rules for each of some hosts. Call it after locking these hosts: see
     * `policy.open`.
     */
    versionAndOwn: async (tx: Queryable, agentIds: readonly string[]): Promise<{ version: number; own: RuleRow[] }> => {
      const [head] = await tx.prepared<{ version: number }>(sql`select h.version from policy_head h`)
      const own = await tx.prepared<RuleRow>(
        sql`select ${ruleColumns} from policy_rules r where r.agent_id = any(${agentIds}::uuid[]) and ${lasts()}`,
      )
      return { version: head?.version ?? 0, own }
    },

    /** Returns all rules for more than one host, without rules that no longer apply. */
    wide: (tx: Queryable): Promise<RuleRow[]> =>
      tx.query<RuleRow>(sql`
      select ${ruleColumns} from policy_rules r where r.agent_id is null and ${lasts()} and (r.tag_name is null or r.tag_id is not null)`),

    /** Returns rules for single hosts with an ID after the given one, by host. */
    ownAfter: (tx: Queryable, agentId: string, limit: number): Promise<RuleRow[]> =>
      tx.query<RuleRow>(sql`
      select ${ruleColumns} from policy_rules r where r.agent_id > ${agentId}::uuid and ${lasts()} order by r.agent_id, r.rule_id limit ${limit}::int`),

    /** Locks the head, so that rule changes run one after the other. Returns the version in force. */
    lockHead: async (tx: Tx): Promise<number> => {
      const [head] = await tx.query<{ version: number }>(sql`select h.version from policy_head h for update`)
      return head?.version ?? 0
    },

    addVersion: async (
      tx: Tx,
      {
        version,
        at,
        by,
        summary,
        jobId,
      }: { version: number; at: Date; by: string; summary: string; jobId?: string | null },
      changes: readonly { ruleId: string; before: unknown; after: unknown; seal: Buffer | null }[],
    ): Promise<void> => {
      await tx.execute(sql`update policy_head set version = ${version}`)
      await tx.execute(
        sql`insert into policy_versions (version, created_at, created_by, summary, job_id) values (${version}, ${at}, ${by}, ${summary}, ${jobId ?? null}::uuid)`,
      )
      await tx.execute(sql`
      insert into policy_changes (version, n, rule_id, before, after, seal)
      select ${version}, u.n, u.rule_id, u.before, u.after, decode(u.seal, 'base64') from ${unnestOf([
        [changes.map((_, i) => i + 1), 'int[]'],
        [changes.map((c) => c.ruleId), 'uuid[]'],
        [changes.map((c) => (c.before === null ? null : JSON.stringify(c.before))), 'jsonb[]'],
        [changes.map((c) => (c.after === null ? null : JSON.stringify(c.after))), 'jsonb[]'],
        [changes.map((c) => c.seal?.toString('base64') ?? null), 'text[]'],
      ])} u(n, rule_id, before, after, seal)`)
    },

    /** Returns the rules that people wrote, without approvals, grants and expired rules. */
    writtenRules: (tx: Queryable): Promise<RuleRow[]> =>
      tx.query<RuleRow>(
        sql`select ${ruleColumns} from policy_rules r where r.origin = 'rule' and not r.is_grant and ${lasts()} order by r.created_at, r.rule_id`,
      ),

    byIds: (tx: Queryable, ids: readonly string[]): Promise<RuleRow[]> =>
      tx.query<RuleRow>(
        sql`select ${ruleColumns} from policy_rules r where r.rule_id = any(${ids}::uuid[]) order by r.rule_id`,
      ),

    /**
     * Returns the rules that a new rule may contradict or shadow: those for more than one host, and those of its own
     * host.
     */
    beside: (tx: Queryable, agentId: string | null): Promise<RuleRow[]> =>
      tx.query<RuleRow>(sql`
      select ${ruleColumns} from policy_rules r
      where ${lasts()} and (r.agent_id is null or r.agent_id = ${agentId}::uuid) order by r.rule_id limit 20000`),

    /** Returns the rules for each of these hosts. */
    own: (tx: Queryable, agentIds: readonly string[]): Promise<RuleRow[]> =>
      tx.query<RuleRow>(sql`
      select ${ruleColumns} from policy_rules r
      where ${lasts()} and r.agent_id = any(${agentIds}::uuid[]) order by r.rule_id limit 20000`),

    /** Returns the rules for single hosts that may match devices of these vendors; null: for any host. */
    ownAbout: (tx: Queryable, vids: readonly string[], agentIds: readonly string[] | null): Promise<RuleRow[]> =>
      tx.query<RuleRow>(sql`
      select ${ruleColumns} from policy_rules r
      where ${lasts()} and (r.vid is null or r.vid = any(${vids}::text[]))
        and ${agentIds === null ? raw('r.agent_id is not null') : sql`r.agent_id = any(${agentIds}::uuid[])`}`),

    shown: async (tx: Queryable, ids: readonly string[]): Promise<Map<string, PolicyRuleResource>> =>
      new Map(
        (
          await tx.query<{ rule_id: string; rule: PolicyRuleResource }>(sql`
          select r.rule_id, (select row_to_json(x) from (select ${raw(rulesList.rowSelect)}) x) as rule
          from policy_rules r where r.rule_id = any(${ids}::uuid[])`)
        ).map((row) => [row.rule_id, row.rule]),
      ),

    /** Returns the rules that approvals or denials of devices on these hosts created. */
    approvalsOf: (tx: Queryable, agentIds: readonly string[]): Promise<RuleRow[]> =>
      tx.query<RuleRow>(sql`
      select ${ruleColumns} from policy_rules r
      where r.agent_id = any(${agentIds}::uuid[]) and r.origin = 'approval' and not r.is_grant order by r.rule_id`),

    /** Inserts or replaces whole rules. */
    write: async (tx: Tx, rows: readonly RuleRow[]): Promise<void> => {
      if (rows.length === 0) return
      await tx.execute(sql`
      insert into policy_rules as r (rule_id, effect, is_grant, vid, pid, serial, kinds, fingerprint, agent_id, tag_id, tag_name, expires_at, reason,
        override_attack_tool, origin, created_at, created_by, changed_at, changed_by, seal, rule_fingerprint, exact_serial, identity_seal, group_id)
      select u.rule_id, u.effect, u.is_grant, u.vid, u.pid, u.serial, string_to_array(u.kinds, '|'), u.fingerprint, u.agent_id, u.tag_id, u.tag_name,
        u.expires_at, u.reason, u.override_attack_tool, u.origin, u.created_at, u.created_by, u.changed_at, u.changed_by, decode(u.seal, 'hex'),
        u.rule_fingerprint, u.exact_serial, decode(u.identity_seal, 'hex'), g.group_id
      from ${unnestOf([
        [rows.map((r) => r.rule_id), 'uuid[]'],
        [rows.map((r) => r.effect), 'text[]'],
        [rows.map((r) => r.is_grant), 'boolean[]'],
        [rows.map((r) => r.vid), 'text[]'],
        [rows.map((r) => r.pid), 'text[]'],
        [rows.map((r) => r.serial), 'text[]'],
        [rows.map((r) => r.kinds?.join('|') ?? null), 'text[]'],
        [rows.map((r) => r.fingerprint), 'text[]'],
        [rows.map((r) => r.agent_id), 'uuid[]'],
        [rows.map((r) => r.tag_id), 'int[]'],
        [rows.map((r) => r.tag_name), 'text[]'],
        [rows.map((r) => r.expires_at), 'timestamptz[]'],
        [rows.map((r) => r.reason), 'text[]'],
        [rows.map((r) => r.override_attack_tool), 'boolean[]'],
        [rows.map((r) => r.origin), 'text[]'],
        [rows.map((r) => r.created_at), 'timestamptz[]'],
        [rows.map((r) => r.created_by), 'text[]'],
        [rows.map((r) => r.changed_at), 'timestamptz[]'],
        [rows.map((r) => r.changed_by), 'text[]'],
        [rows.map((r) => r.seal.toString('hex')), 'text[]'],
        [rows.map((r) => r.rule_fingerprint ?? null), 'text[]'],
        [rows.map((r) => r.exact_serial === true), 'boolean[]'],
        [rows.map((r) => r.identity_seal?.toString('hex') ?? null), 'text[]'],
        [rows.map((r) => r.group_id ?? null), 'uuid[]'],
      ])} u(rule_id, effect, is_grant, vid, pid, serial, kinds, fingerprint, agent_id, tag_id, tag_name, expires_at, reason, override_attack_tool,
        origin, created_at, created_by, changed_at, changed_by, seal, rule_fingerprint, exact_serial, identity_seal, group_id)
      left join rule_groups g on g.group_id = u.group_id
      on conflict (rule_id) do update set effect = excluded.effect, is_grant = excluded.is_grant, vid = excluded.vid, pid = excluded.pid,
        serial = excluded.serial, kinds = excluded.kinds, fingerprint = excluded.fingerprint, agent_id = excluded.agent_id, tag_id = excluded.tag_id,
        tag_name = excluded.tag_name, expires_at = excluded.expires_at, is_over = false, reason = excluded.reason,
        override_attack_tool = excluded.override_attack_tool, origin = excluded.origin, changed_at = excluded.changed_at,
        changed_by = excluded.changed_by, seal = excluded.seal, rule_fingerprint = excluded.rule_fingerprint,
        exact_serial = excluded.exact_serial, identity_seal = excluded.identity_seal, group_id = excluded.group_id,
        is_unused = false, shadowed_by = null`)
    },

    /** Returns rules without a rule fingerprint whose fingerprint a device has reported to this release. */
    adoptable: (tx: Queryable, after: string, limit: number): Promise<RuleRow[]> =>
      tx.query<RuleRow>(sql`
      select ${ruleColumns} from policy_rules r
      where r.rule_id > ${after}::uuid and r.fingerprint is not null and r.rule_fingerprint is null and ${lasts()} and exists (
        select from designs d where d.policy_without_revision = r.fingerprint and d.policy_rule_fingerprint <> '')
      order by r.rule_id limit ${limit}::int`),

    writeIdentities: async (tx: Tx, rows: readonly RuleRow[]): Promise<void> => {
      await tx.execute(sql`
      update policy_rules r set rule_fingerprint = u.rule_fingerprint, identity_seal = decode(u.seal, 'hex')
      from ${unnestOf([
        [rows.map((r) => r.rule_id), 'uuid[]'],
        [rows.map((r) => r.rule_fingerprint ?? null), 'text[]'],
        [rows.map((r) => r.identity_seal?.toString('hex') ?? null), 'text[]'],
      ])} u(rule_id, rule_fingerprint, seal) where r.rule_id = u.rule_id`)
    },

    remove: async (tx: Tx, ids: readonly string[]): Promise<void> => {
      await tx.execute(sql`delete from policy_rules r where r.rule_id = any(${ids}::uuid[])`)
    },

    tagByName: async (tx: Queryable, folded: string): Promise<{ tag_id: number; name: string } | undefined> =>
      (
        await tx.query<{ tag_id: number; name: string }>(
          sql`select t.tag_id, t.name from tags t where t.folded = ${folded}`,
        )
      )[0],

    /**
     * Returns the hosts, among some or all, that adding or removing a tag changes. Hosts without an agent enforce
     * nothing. `until`: only hosts that enrolled before that time.
     */
    hostsChangingTag: async (
      tx: Queryable,
      folded: string,
      agentIds: readonly string[] | null,
      effect: 'add' | 'remove',
      until: Date | null = null,
    ): Promise<string[]> =>
      (
        await tx.query<{ agent_id: string }>(sql`
        select r.agent_id from agent_rows r
        where not r.agentless and (${agentIds}::uuid[] is null or r.agent_id = any(${agentIds}::uuid[]))
          and (${until}::timestamptz is null or exists (
            select from agents a where a.agent_id = r.agent_id and a.enrolled_at < ${until}))
          and ${effect === 'remove'}::boolean = exists (
            select from agent_tags x join tags t on t.tag_id = x.tag_id where x.agent_id = r.agent_id and t.folded = ${folded})`)
      ).map((row) => row.agent_id),

    hostNames: async (tx: Queryable, agentIds: readonly string[]): Promise<Map<string, string>> =>
      new Map(
        (
          await tx.query<{ agent_id: string; host: string }>(
            sql`select a.agent_id, a.host from agents a where a.agent_id = any(${agentIds}::uuid[])`,
          )
        ).map((row) => [row.agent_id, row.host]),
      ),

    hostExists: async (tx: Queryable, agentId: string): Promise<boolean> =>
      (await tx.query(sql`select 1 from agents a where a.agent_id = ${agentId}::uuid`)).length > 0,

    /** Marks rules with an incorrect seal, for display. */
    markForged: async (db: Queryable, ids: readonly string[]): Promise<number> =>
      db.execute(
        sql`update policy_rules r set is_forged = not r.is_forged where r.is_forged <> (r.rule_id = any(${ids}::uuid[]))`,
      ),

    /** Returns the rules that changed after a version, each in its state at that version; null: it did not exist. */
    changesSince: (
      tx: Tx,
      version: number,
    ): Promise<{ rule_id: string; before: PolicyRuleResource | null; seal: Buffer | null }[]> =>
      tx.query(sql`
      select distinct on (c.rule_id) c.rule_id, c.before, c.seal from policy_changes c where c.version > ${version} order by c.rule_id, c.version`),

    /** Returns the rules that these versions changed, each in its state before, with the last version that changed it. */
    changesOf: (
      tx: Tx,
      versions: readonly number[],
    ): Promise<{ rule_id: string; before: PolicyRuleResource | null; seal: Buffer | null; latest: number }[]> =>
      tx.query(sql`
      select distinct on (c.rule_id) c.rule_id, c.before, c.seal, l.latest
      from policy_changes c join (
        select x.rule_id, max(x.version)::int as latest from policy_changes x
        where x.rule_id in (select y.rule_id from policy_changes y where y.version = any(${versions}::int[]))
        group by x.rule_id) l on l.rule_id = c.rule_id
      where c.version = any(${versions}::int[]) order by c.rule_id, c.version`),

    versionsOfJob: async (tx: Tx, jobId: string): Promise<number[]> =>
      (
        await tx.query<{ version: number }>(
          sql`select v.version from policy_versions v where v.job_id = ${jobId}::uuid order by v.version`,
        )
      ).map(({ version }) => version),

    versionExists: async (tx: Tx, version: number): Promise<boolean> =>
      version === 0 || (await tx.query(sql`select 1 from policy_versions v where v.version = ${version}`)).length > 0,

    /** Creates a version without changes by a person, for expired rules. */
    bumpVersion: async (tx: Tx, at: Date, summary: string): Promise<void> => {
      await tx.execute(sql`
      with h as (update policy_head set version = version + 1 returning version)
      insert into policy_versions (version, created_at, created_by, summary) select h.version, ${at}, 'system', ${summary} from h`)
    },

    /** Marks expired rules, so that each expiry is carried out once, and returns them. */
    endOver: async (tx: Tx, now: Date): Promise<RuleRow[]> =>
      tx.query<RuleRow>(sql`
      update policy_rules r set is_over = true where r.expires_at <= ${now} and not r.is_over returning ${ruleColumns}`),
  }
}

export type PolicyStore = ReturnType<typeof createPolicyStore>
