import { mustExist } from '@portcullis/domain'
import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
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

/** The head, if it was not deleted, and all members in one snapshot: 16 bytes of id and 32 bytes of seal each. */
export const setSql = `
  select h.set_version, h.set_sum, h.set_seal, m.members
  from (
    select coalesce(string_agg(uuid_send(r.rule_id) || r.seal, ''::bytea) filter (where octet_length(r.seal) = 32), '') as members
    from policy_rules r) m left join policy_head h on true`

export interface SetRow {
  set_version: number | null
  set_sum: Buffer | null
  set_seal: Buffer | null
  members: Buffer
}

/** Schema that introduced the seal of the set. */
export const ruleSetSchema = 198

/** What the database says about a set without a seal. An attacker can write all of it. */
export interface UnsealedFacts {
  /** Whether the audit trail has a record of a sealing. */
  wasRecorded: boolean
  /** Whether the policy never had a rule. */
  isEmpty: boolean
  /** Whether the upgrade was an hour ago, so that no server of the previous release changes rules any more. */
  isHourOld: boolean
}

export const unsealedSql = `
  select exists (select from audit_records r where r.action = 'policy.rulesSealed') as "wasRecorded",
    exists (select from policy_head h where h.version = 0) and not exists (select from policy_rules) as "isEmpty",
    not exists (
      select from schema_migrations m
      where m.version = ${ruleSetSchema} and m.applied_at > now() - interval '1 hour') as "isHourOld"`

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
  all: async (q: Queryable): Promise<SetRow> =>
    mustExist((await q.query<SetRow>(sql`${raw(setSql)}`))[0], 'the set of rules'),

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
    await tx.execute(sql`
      insert into policy_head (version, set_version, set_sum, set_seal)
      values ((select coalesce(max(v.version), 0) from policy_versions v), ${version}, ${sum}, ${seal})
      on conflict (single) do update
        set set_version = excluded.set_version, set_sum = excluded.set_sum, set_seal = excluded.set_seal`)
  },

  ofHosts: (tx: Tx, agentIds: readonly string[]): Promise<SealedRow[]> =>
    tx.query<SealedRow>(sql`${raw(sealedRows)} where r.agent_id = any(${agentIds}::uuid[])`),

  sealedAfter: (q: Queryable, id: string): Promise<SealedRow[]> =>
    q.query<SealedRow>(
      sql`${raw(sealedRows)} where r.rule_id > ${id}::uuid order by r.rule_id limit ${sealedPage.rows}::int`,
    ),

  unsealed: async (q: Queryable): Promise<UnsealedFacts> =>
    mustExist((await q.query<UnsealedFacts>(sql`${raw(unsealedSql)}`))[0], 'the facts of the set'),
})
