import type { Queryable, Tx } from '@portcullis/platform/server/db/db.ts'
import { raw, type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'
import type { RuleGroup } from '#features/contract.ts'

export interface GroupRow {
  group_id: string
  name: string
  name_key: string
  owner: string
  /** Day as `yyyy-MM-dd`. */
  review_on: string | null
  at: Date
  by: string
}

const shownBy = (condition: SqlFragment, today: string): SqlFragment => sql`
  select g.group_id as id, g.name, g.owner, to_char(g.review_on, 'YYYY-MM-DD') as "reviewOn",
    coalesce(g.review_on <= ${today}::date, false) as "isReviewDue", coalesce(c.rules, 0) as rules,
    coalesce(c.hits, 0) as hits, coalesce(c.unused, 0) as unused, coalesce(c.shadowed, 0) as shadowed,
    ${raw(utcSql('g.changed_at'))} as "changedAt", g.changed_by as "changedBy"
  from rule_groups g left join (
    select r.group_id, count(*)::int as rules, sum(r.hits) as hits, count(*) filter (where r.is_unused)::int as unused,
      count(r.shadowed_by)::int as shadowed from policy_rules r where r.group_id is not null group by r.group_id) c on c.group_id = g.group_id
  where ${condition} order by g.name_key`

/** Stores rule groups. The lock of the policy's head serialises changes. */
export const createRuleGroupStore = () => ({
  list: (q: Queryable, today: string): Promise<RuleGroup[]> => q.query<RuleGroup>(shownBy(raw('true'), today)),

  one: async (q: Queryable, id: string, today: string): Promise<RuleGroup | undefined> =>
    (await q.query<RuleGroup>(shownBy(sql`g.group_id = ${id}::uuid`, today)))[0],

  idOf: async (q: Queryable, nameKey: string): Promise<string | null> =>
    (await q.query<{ id: string }>(sql`select g.group_id as id from rule_groups g where g.name_key = ${nameKey}`))[0]
      ?.id ?? null,

  count: async (q: Queryable): Promise<number> =>
    (await q.query<{ n: number }>(sql`select count(*)::int as n from rule_groups g`))[0]?.n ?? 0,

  /** Adds or replaces a group. */
  put: async (tx: Tx, g: GroupRow): Promise<void> => {
    await tx.execute(sql`
      insert into rule_groups (group_id, name, name_key, owner, review_on, created_at, created_by, changed_at, changed_by)
      values (${g.group_id}::uuid, ${g.name}, ${g.name_key}, ${g.owner}, ${g.review_on}::date, ${g.at}, ${g.by}, ${g.at}, ${g.by})
      on conflict (group_id) do update set name = excluded.name, name_key = excluded.name_key, owner = excluded.owner,
        review_on = excluded.review_on, changed_at = excluded.changed_at, changed_by = excluded.changed_by`)
  },

  remove: async (tx: Tx, id: string): Promise<void> => {
    await tx.execute(sql`delete from rule_groups g where g.group_id = ${id}::uuid`)
  },

  /** Moves rules to a group; null: to none. Returns the rules that were not there before. */
  move: async (tx: Tx, ruleIds: readonly string[], groupId: string | null): Promise<string[]> =>
    (
      await tx.query<{ id: string }>(sql`
        update policy_rules r set group_id = ${groupId}::uuid
        where r.rule_id = any(${ruleIds}::uuid[]) and r.group_id is distinct from ${groupId}::uuid returning r.rule_id as id`)
    ).map(({ id }) => id),
})

export type RuleGroupStore = ReturnType<typeof createRuleGroupStore>
