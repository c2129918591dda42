import type { Queryable, Tx } from '#platform/db/db.ts'
import { raw, sql } from '#platform/db/sql.ts'
import type { SealedPart } from './seal.ts'

/** The sealed sum in the head; null: no server has sealed the set of rules yet. */
export interface StoredSum {
  version: number
  sum: Buffer
  seal: Buffer
}

/** A rule as part of the set. */
export interface Member {
  rule_id: string
  seal: Buffer
}

/** A rule that differs from the history of the policy. */
export interface Difference {
  ruleId: string
  what: 'missing' | 'unexpected' | 'changed' | 'not authentic'
  sentence: string
}

/** A rule with everything that its seal covers. */
export interface SealedRow extends SealedPart {
  seal: Buffer
}

const sealedRows = `select r.rule_id, r.effect, r.is_grant, r.vid, r.pid, r.serial, r.kinds, r.fingerprint, r.agent_id, r.tag_name,
  r.expires_at, r.reason, r.override_attack_tool, r.origin, r.seal from policy_rules r`

/** Rules behind an id, to check their seals page by page. */
export const sealedPage = { rows: 5_000, sql: `${sealedRows} where r.rule_id > $1::uuid order by r.rule_id limit 5000` }

/** The head and all members in one snapshot: 16 bytes of id and 32 bytes of seal each. */
export const setSql = `
  select h.set_version, h.set_sum, h.set_seal, m.members
  from policy_head h, (
    select coalesce(string_agg(uuid_send(r.rule_id) || r.seal, ''::bytea) filter (where octet_length(r.seal) = 32), '') as members
    from policy_rules r) m`

export interface SetRow {
  set_version: number | null
  set_sum: Buffer | null
  set_seal: Buffer | null
  members: Buffer
}

/** Whether the audit trail says that a server has sealed the set. A checkpoint that covers the record reveals its removal. */
export const wasSealedSql = "select exists (select from audit_records r where r.action = 'policy.rulesSealed') as found"

/** Compares the rules with the last change of each in the history, to name them. The history itself is not sealed. */
export const differencesSql = `
  with latest as (
    select distinct on (c.rule_id) c.rule_id, c.after from policy_changes c order by c.rule_id, c.version desc, c.n desc)
  select coalesce(l.rule_id, r.rule_id) as "ruleId",
    case when r.rule_id is null then 'missing' when l.after is null then 'unexpected' else 'changed' end as what,
    coalesce(l.after ->> 'sentence', concat_ws(' ', r.effect, r.vid, r.pid, r.serial, array_to_string(r.kinds, ' or '))) as sentence
  from latest l full join policy_rules r on r.rule_id = l.rule_id
  where case
    when r.rule_id is null then l.after is not null
      and (l.after ->> 'host' is null or exists (select from agents a where a.agent_id = (l.after ->> 'host')::uuid))
    when l.after is null then true
    else (r.effect, r.vid, r.pid, r.serial, r.fingerprint, r.agent_id::text, r.tag_name, r.reason, r.override_attack_tool)
      is distinct from (l.after ->> 'effect', l.after ->> 'vid', l.after ->> 'pid', l.after ->> 'serial', l.after ->> 'fingerprint',
        l.after ->> 'host', l.after ->> 'tag', l.after ->> 'reason', (l.after ->> 'overrideAttackTool')::boolean) end
  order by 1 limit 20`

export const createRuleIntegrityStore = () => ({
  all: async (q: Queryable): Promise<SetRow | undefined> => (await q.query<SetRow>(sql`${raw(setSql)}`))[0],

  differences: (q: Queryable): Promise<Difference[]> => q.query<Difference>(sql`${raw(differencesSql)}`),

  /** Locks the head and returns its sum. */
  lock: async (tx: Tx): Promise<StoredSum | null> => {
    const [head] = await tx.query<{ version: number | null; sum: Buffer | null; seal: Buffer | null }>(
      sql`select h.set_version as version, h.set_sum as sum, h.set_seal as seal from policy_head h for update`,
    )
    if (head === undefined || head.version === null || head.sum === null || head.seal === null) return null
    return { version: head.version, sum: head.sum, seal: head.seal }
  },

  write: async (tx: Tx, { version, sum, seal }: StoredSum): Promise<void> => {
    await tx.execute(sql`update policy_head set set_version = ${version}, set_sum = ${sum}, set_seal = ${seal}`)
  },

  ofHosts: (tx: Tx, agentIds: readonly string[]): Promise<SealedRow[]> =>
    tx.query<SealedRow>(sql`${raw(sealedRows)} where r.agent_id = any(${agentIds}::uuid[])`),

  sealedAfter: (q: Queryable, id: string): Promise<SealedRow[]> =>
    q.query<SealedRow>(
      sql`${raw(sealedRows)} where r.rule_id > ${id}::uuid order by r.rule_id limit ${sealedPage.rows}::int`,
    ),

  /** Returns whether a server has ever sealed the set, according to the audit trail. */
  wasSealed: async (q: Queryable): Promise<boolean> =>
    (await q.query<{ found: boolean }>(sql`${raw(wasSealedSql)}`))[0]?.found === true,

  /**
   * Returns whether no server of the previous release changes rules any more: the policy is empty, or the upgrade was an
   * hour ago.
   */
  isUpgraded: async (q: Queryable): Promise<boolean> =>
    (
      await q.query(sql`
        select 1 from policy_head h, schema_migrations m
        where m.version = 198 and (h.version = 0 or m.applied_at < now() - interval '1 hour')`)
    ).length > 0,
})
