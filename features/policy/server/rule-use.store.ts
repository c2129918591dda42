import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

/** The largest number that a column holds. A host reports attachments itself. */
const mostHits = 2_147_483_647

interface RuleUse {
  rule_id: string
  hits: number
  is_unused: boolean
}

/** What is known about the use of rules, from the attachments that they decided. Days are `yyyy-MM-dd` in UTC. */
export const createRuleUseStore = () => ({
  lastDay: async (q: Queryable): Promise<string | null> =>
    (await q.query<{ day: string | null }>(sql`select to_char(max(d.day), 'YYYY-MM-DD') as day from rule_days d`))[0]
      ?.day ?? null,

  /** Counts the attachments of a day by the rule that decides about their device now. */
  countDay: (tx: Tx, day: string): Promise<number> =>
    tx.execute(sql`
      insert into rule_days as x (day, rule_id, hits)
      select d.day, p.rule_id, least(sum(d.n), ${mostHits}::bigint)::int
      from attachment_days d join peripherals p on p.agent_id = d.agent_id and p.device_id = d.device_id
      where d.day = ${day}::date and p.rule_id is not null group by d.day, p.rule_id order by p.rule_id
      on conflict (day, rule_id) do update set hits = excluded.hits where x.hits <> excluded.hits`),

  forget: (q: Queryable, before: string): Promise<number> =>
    q.execute(sql`delete from rule_days d where d.day < ${before}::date`),

  /**
   * Returns rules whose hits or use are not as stored: hits of all days, and unused ones, which are older than `since`, without
   * hits, and decide about no attached device.
   */
  changed: (q: Queryable, since: Date): Promise<RuleUse[]> =>
    q.query<RuleUse>(sql`
      select u.rule_id, u.hits, u.is_unused from (
        select r.rule_id, r.hits as had, r.is_unused as was, coalesce(h.n, 0) as hits, h.n is null and r.created_at < ${since}::timestamptz
          and not exists (select from peripherals p where p.rule_id = r.rule_id and p.present) as is_unused
        from policy_rules r left join (
          select d.rule_id, least(sum(d.hits), ${mostHits}::bigint)::int as n from rule_days d group by d.rule_id) h on h.rule_id = r.rule_id
        where not r.is_grant offset 0) u
      where (u.had, u.was) is distinct from (u.hits, u.is_unused)
      order by u.rule_id`),

  write: (tx: Tx, rules: readonly RuleUse[]): Promise<number> =>
    tx.execute(sql`
      update policy_rules r set hits = u.hits, is_unused = u.is_unused from ${unnestOf([
        [rules.map(({ rule_id }) => rule_id), 'uuid[]'],
        [rules.map(({ hits }) => hits), 'int[]'],
        [rules.map(({ is_unused }) => is_unused), 'boolean[]'],
      ])} u(rule_id, hits, is_unused) where r.rule_id = u.rule_id`),

  /** Writes by which rules these are shadowed. */
  writeShadows: (tx: Tx, ruleIds: readonly string[], shadows: ReadonlyMap<string, string>): Promise<number> =>
    tx.execute(sql`
      update policy_rules r set shadowed_by = u.by from ${unnestOf([
        [ruleIds, 'uuid[]'],
        [ruleIds.map((id) => shadows.get(id) ?? null), 'uuid[]'],
      ])} u(rule_id, by) where r.rule_id = u.rule_id and r.shadowed_by is distinct from u.by`),

  /** Forgets what shadows rules that apply to no host. */
  clearShadows: (tx: Tx): Promise<number> =>
    tx.execute(sql`
      update policy_rules r set shadowed_by = null
      where r.shadowed_by is not null and (r.is_over or (r.tag_name is not null and r.tag_id is null))`),
})
