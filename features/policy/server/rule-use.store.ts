import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'

/** What is known about the use of rules, from the attachments that they decided. Days are `yyyy-MM-dd` in UTC. */
export const createRuleUseStore = () => ({
  lastDay: async (q: Queryable): Promise<string | null> =>
    (await q.query<{ day: string | null }>(sql`select to_char(max(d.day), 'YYYY-MM-DD') as day from rule_days d`))[0]
      ?.day ?? null,

  /** Counts the attachments of a day by the rule that decides about their device now. */
  countDay: (tx: Tx, day: string): Promise<number> =>
    tx.execute(sql`
      insert into rule_days as x (day, rule_id, hits)
      select d.day, p.rule_id, sum(d.n)::int
      from attachment_days d join peripherals p on p.agent_id = d.agent_id and p.device_id = d.device_id
      where d.day = ${day}::date and p.rule_id is not null group by d.day, p.rule_id order by p.rule_id
      on conflict (day, rule_id) do update set hits = excluded.hits where x.hits <> excluded.hits`),

  forget: (tx: Tx, before: string): Promise<number> =>
    tx.execute(sql`delete from rule_days d where d.day < ${before}::date`),

  /** Writes the hits of all rules, and which are unused: older than `since`, without hits, and deciding about no attached device. */
  write: (tx: Tx, since: Date): Promise<number> =>
    tx.execute(sql`
      with u as (
        select r.rule_id, coalesce(h.n, 0) as hits, h.n is null and r.created_at < ${since}::timestamptz
          and not exists (select from peripherals p where p.rule_id = r.rule_id and p.present) as is_unused
        from policy_rules r left join (
          select d.rule_id, sum(d.hits)::int as n from rule_days d group by d.rule_id) h on h.rule_id = r.rule_id
        where not r.is_grant)
      update policy_rules r set hits = u.hits, is_unused = u.is_unused from u
      where r.rule_id = u.rule_id and (r.hits, r.is_unused) is distinct from (u.hits, u.is_unused)`),

  /** Writes which rules are shadowed by which. */
  writeShadows: (tx: Tx, shadows: ReadonlyMap<string, string>): Promise<number> =>
    tx.execute(sql`
      with u as (select s.rule_id, s.by from ${unnestOf([
        [[...shadows.keys()], 'uuid[]'],
        [[...shadows.values()], 'uuid[]'],
      ])} s(rule_id, by))
      update policy_rules r set shadowed_by = (select u.by from u where u.rule_id = r.rule_id)
      where r.shadowed_by is distinct from (select u.by from u where u.rule_id = r.rule_id)`),
})
