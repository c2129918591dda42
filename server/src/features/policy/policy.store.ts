import type { PolicyRule } from '@portcullis/contract'
import type { Kind } from '@portcullis/domain'
import type { Queryable, Tx } from '#platform/db/db.ts'
import { unnestOf } from '#platform/db/ordered.ts'
import { sql } from '#platform/db/sql.ts'
import type { SealedPart } from './seal.ts'

/** A rule as it is stored. */
export interface RuleRow extends SealedPart {
  kinds: Kind[] | null
  effect: 'allow' | 'deny'
  /** null once the tag was deleted; the rule is inert then. */
  tag_id: number | null
  created_at: Date
  created_by: string
  changed_at: Date
  changed_by: string
  seal: Buffer
}

/** A rule with what else a screen shows of it. */
export interface ShownRule extends RuleRow {
  host: string | null
}

const ruleColumns = sql`r.rule_id, r.effect, r.is_grant, r.vid, r.pid, r.serial, r.kinds, r.fingerprint, r.agent_id, r.tag_id, r.tag_name,
  r.expires_at, r.reason, r.override_attack_tool, r.origin, r.created_at, r.created_by, r.changed_at, r.changed_by, r.seal`

/** What a host gets of a rule. */
export const wireRule = (r: RuleRow): PolicyRule => ({
  id: r.rule_id,
  effect: r.effect,
  level: r.is_grant ? 'grant' : r.agent_id !== null ? 'host' : r.tag_name !== null ? 'tag' : 'global',
  ...(r.vid === null ? {} : { vid: r.vid }),
  ...(r.pid === null ? {} : { pid: r.pid }),
  ...(r.serial === null ? {} : { serial: r.serial }),
  ...(r.kinds === null ? {} : { kinds: r.kinds }),
  ...(r.fingerprint === null ? {} : { fingerprint: r.fingerprint }),
  ...(r.expires_at === null ? {} : { expiresAt: r.expires_at.toISOString() }),
  ...(r.override_attack_tool ? { overrideAttackTool: true } : {}),
  ...(r.effect === 'deny' ? { reason: r.reason } : {}),
})

export const createPolicyStore = () => ({
  /** Version of the rules, and the rules of some hosts alone. Read after those hosts were locked: see `policy.open`. */
  versionAndOwn: async (tx: Queryable, agentIds: readonly string[]): Promise<{ version: number; own: RuleRow[] }> => {
    const [head] = await tx.prepared<{ version: number }>(sql`select h.version from policy_head h`)
    const own = await tx.prepared<RuleRow>(
      sql`select ${ruleColumns} from policy_rules r where r.agent_id = any(${agentIds}::uuid[]) and not r.is_over`,
    )
    return { version: head?.version ?? 0, own }
  },

  /** All rules that speak to more than one host; inert ones are left out. */
  wide: (tx: Queryable): Promise<RuleRow[]> =>
    tx.query<RuleRow>(sql`
      select ${ruleColumns} from policy_rules r where r.agent_id is null and not r.is_over and (r.tag_name is null or r.tag_id is not null)`),

  /** Locks the head: changes of rules come one after the other. Returns the version in force. */
  lockHead: async (tx: Tx): Promise<number> => {
    const [head] = await tx.query<{ version: number }>(sql`select h.version from policy_head h for update`)
    return head?.version ?? 0
  },

  addVersion: async (
    tx: Tx,
    version: number,
    at: Date,
    by: string,
    summary: string,
    changes: readonly { ruleId: string; before: unknown; after: unknown }[],
  ): Promise<void> => {
    await tx.execute(sql`update policy_head set version = ${version}`)
    await tx.execute(
      sql`insert into policy_versions (version, created_at, created_by, summary) values (${version}, ${at}, ${by}, ${summary})`,
    )
    await tx.execute(sql`
      insert into policy_changes (version, n, rule_id, before, after)
      select ${version}, u.n, u.rule_id, u.before, u.after from ${unnestOf([
        [changes.map((_, i) => i + 1), 'int[]'],
        [changes.map((c) => c.ruleId), 'uuid[]'],
        [changes.map((c) => (c.before === null ? null : JSON.stringify(c.before))), 'jsonb[]'],
        [changes.map((c) => (c.after === null ? null : JSON.stringify(c.after))), 'jsonb[]'],
      ])} u(n, rule_id, before, after)`)
  },

  byIds: (tx: Queryable, ids: readonly string[]): Promise<ShownRule[]> =>
    tx.query<ShownRule>(sql`
      select ${ruleColumns}, a.host from policy_rules r left join agents a on a.agent_id = r.agent_id where r.rule_id = any(${ids}::uuid[])`),

  all: (tx: Queryable): Promise<ShownRule[]> =>
    tx.query<ShownRule>(
      sql`select ${ruleColumns}, a.host from policy_rules r left join agents a on a.agent_id = r.agent_id order by r.rule_id`,
    ),

  /** Rules made by approving or denying devices of these hosts. */
  approvalsOf: (tx: Queryable, agentIds: readonly string[]): Promise<ShownRule[]> =>
    tx.query<ShownRule>(sql`
      select ${ruleColumns}, a.host from policy_rules r join agents a on a.agent_id = r.agent_id
      where r.agent_id = any(${agentIds}::uuid[]) and r.origin = 'approval' and not r.is_grant order by r.rule_id`),

  /** Writes rules whole, new ones or changed ones. */
  write: async (tx: Tx, rows: readonly RuleRow[]): Promise<void> => {
    if (rows.length === 0) return
    await tx.execute(sql`
      insert into policy_rules as r (rule_id, effect, is_grant, vid, pid, serial, kinds, fingerprint, agent_id, tag_id, tag_name, expires_at, reason,
        override_attack_tool, origin, created_at, created_by, changed_at, changed_by, seal)
      select u.rule_id, u.effect, u.is_grant, u.vid, u.pid, u.serial, string_to_array(u.kinds, '|'), u.fingerprint, u.agent_id, u.tag_id, u.tag_name,
        u.expires_at, u.reason, u.override_attack_tool, u.origin, u.created_at, u.created_by, u.changed_at, u.changed_by, decode(u.seal, 'hex')
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
      ])} u(rule_id, effect, is_grant, vid, pid, serial, kinds, fingerprint, agent_id, tag_id, tag_name, expires_at, reason, override_attack_tool,
        origin, created_at, created_by, changed_at, changed_by, seal)
      on conflict (rule_id) do update set effect = excluded.effect, is_grant = excluded.is_grant, vid = excluded.vid, pid = excluded.pid,
        serial = excluded.serial, kinds = excluded.kinds, fingerprint = excluded.fingerprint, agent_id = excluded.agent_id, tag_id = excluded.tag_id,
        tag_name = excluded.tag_name, expires_at = excluded.expires_at, is_over = false, reason = excluded.reason,
        override_attack_tool = excluded.override_attack_tool, origin = excluded.origin, changed_at = excluded.changed_at,
        changed_by = excluded.changed_by, seal = excluded.seal`)
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

  hostName: async (tx: Queryable, agentId: string): Promise<string | undefined> =>
    (await tx.query<{ host: string }>(sql`select a.host from agents a where a.agent_id = ${agentId}::uuid`))[0]?.host,

  /** Rules whose end came; marks them, so that each is carried out once. */
  endOver: async (tx: Tx, now: Date): Promise<RuleRow[]> =>
    tx.query<RuleRow>(sql`
      update policy_rules r set is_over = true where r.expires_at <= ${now} and not r.is_over returning ${ruleColumns}`),

  /** Queues hosts whose decisions are to be made anew: all, those of a tag, or those that ever had one of some designs. */
  queueAll: (tx: Tx, jobId: string | null): Promise<number> =>
    tx.execute(
      sql`insert into policy_queue (agent_id, job_id) select r.agent_id, ${jobId}::uuid from agent_rows r order by r.agent_id on conflict do nothing`,
    ),
  queueTagged: (tx: Tx, tagId: number, jobId: string | null): Promise<number> =>
    tx.execute(sql`
      insert into policy_queue (agent_id, job_id) select x.agent_id, ${jobId}::uuid from agent_tags x where x.tag_id = ${tagId}
      order by x.agent_id on conflict do nothing`),
  queueHolders: (tx: Tx, designIds: readonly number[], jobId: string | null): Promise<number> =>
    tx.execute(sql`
      insert into policy_queue (agent_id, job_id)
      select distinct p.agent_id, ${jobId}::uuid from peripherals p where p.design_id = any(${designIds}::int[])
      order by p.agent_id on conflict do nothing`),
  queueThese: (tx: Tx, agentIds: readonly string[], jobId: string | null): Promise<number> =>
    tx.execute(sql`
      insert into policy_queue (agent_id, job_id)
      select a.agent_id, ${jobId}::uuid from agents a where a.agent_id = any(${agentIds}::uuid[]) order by a.agent_id on conflict do nothing`),

  /** Takes some hosts of the queue; they are back there when the transaction fails. */
  takeQueued: (tx: Tx, limit: number): Promise<{ agent_id: string; job_id: string | null }[]> =>
    tx.prepared(sql`
      delete from policy_queue q where q.agent_id in (
        select w.agent_id from policy_queue w order by w.agent_id limit ${limit}::int for update skip locked)
      returning q.agent_id, q.job_id`),

  designsMatching: (
    tx: Queryable,
    match: { vid: string | null; pid: string | null },
  ): Promise<{ design_id: number }[]> =>
    tx.query(sql`
      select d.design_id from designs d join models m on m.model_id = d.model_id
      where (${match.vid}::text is null or m.vid = ${match.vid}) and (${match.pid}::text is null or m.pid = ${match.pid})`),

  /** The rules of these armed hosts changed: they are told at their next check-in. */
  markDue: async (tx: Tx, agentIds: readonly string[]): Promise<void> => {
    await tx.prepared(
      sql`update agent_heartbeats h set policy_due = true where h.agent_id = any(${agentIds}::uuid[]) and not h.policy_due`,
    )
  },
  /** Before the policy is read for a host: a change after that makes it due again. */
  clearDue: async (tx: Tx, agentId: string): Promise<{ armed: boolean; hashtags: string } | undefined> => {
    await tx.prepared(sql`update agent_heartbeats h set policy_due = false where h.agent_id = ${agentId}::uuid`)
    return (
      await tx.prepared<{ armed: boolean; hashtags: string }>(
        sql`select r.armed, r.tags as hashtags from agent_rows r where r.agent_id = ${agentId}::uuid`,
      )
    )[0]
  },

  /** What hosts say of their mode. */
  writeModes: async (
    tx: Tx,
    rows: readonly { agentId: string; armed: boolean; version: number; reason: string }[],
  ): Promise<void> => {
    if (rows.length === 0) return
    const ids = rows.map((r) => r.agentId)
    await tx.prepared(sql`
      update agent_rows r set armed = u.armed
      from ${unnestOf([
        [ids, 'uuid[]'],
        [rows.map((r) => r.armed), 'boolean[]'],
      ])} u(agent_id, armed) where r.agent_id = u.agent_id and r.armed <> u.armed`)
    await tx.prepared(sql`
      update agents a set policy_version = u.version, mode_reason = u.reason
      from ${unnestOf([
        [ids, 'uuid[]'],
        [rows.map((r) => r.version), 'int[]'],
        [rows.map((r) => r.reason), 'text[]'],
      ])} u(agent_id, version, reason)
      where a.agent_id = u.agent_id and (a.policy_version, a.mode_reason) is distinct from (u.version, u.reason)`)
  },

  /** Counts attachments of the day. */
  countAttachments: async (
    tx: Tx,
    now: Date,
    rows: readonly { agentId: string; deviceId: string; n: number; blocked: number }[],
  ): Promise<void> => {
    if (rows.length === 0) return
    await tx.prepared(sql`
      insert into attachment_days as d (day, agent_id, device_id, n, blocked)
      select (${now}::timestamptz at time zone 'UTC')::date, u.agent_id, u.device_id, u.n, u.blocked from ${unnestOf([
        [rows.map((r) => r.agentId), 'uuid[]'],
        [rows.map((r) => r.deviceId), 'text[]'],
        [rows.map((r) => r.n), 'int[]'],
        [rows.map((r) => r.blocked), 'int[]'],
      ])} u(agent_id, device_id, n, blocked)
      on conflict (agent_id, device_id, day) do update set n = d.n + excluded.n, blocked = d.blocked + excluded.blocked`)
  },
})

export type PolicyStore = ReturnType<typeof createPolicyStore>
