import type { PolicyTestRow } from '@portcullis/contract'
import type { PolicySource } from '@portcullis/domain'
import { decider, decisionReason } from '#features/peripherals/index.ts'
import type { Queryable } from '#platform/db/db.ts'
import { unnestOf } from '#platform/db/ordered.ts'
import { raw, type SqlFragment, sql } from '#platform/db/sql.ts'
import { fold } from '#platform/list/columns.ts'
import { zonelessSql } from '#platform/time.ts'
import { sourceNumber } from './host.ts'

/** What is asked of the stored inventory and history. */
export interface TestSelection {
  since: Date
  days: number
  tags: readonly string[]
  host: string | null
  decision: 'allow' | 'block' | null
  limit: number
  offset: number
}

/** A decision that differs from the stored one, for drafts. */
export interface OtherDecision {
  agentId: string
  deviceId: string
  source: PolicySource
  ruleId: string | null
}

/** Sources that block: attack tool, deny, default. */
const blocks = 's.source in (1, 2, 7)'

export const createPolicyTestRead = (db: Queryable) => ({
  run: async (selection: TestSelection, others: readonly OtherDecision[]) => {
    const { since, tags, host, decision, limit, offset } = selection
    const conditions: SqlFragment[] = [sql`(p.present or p.last_seen >= ${since})`]
    if (host !== null) conditions.push(sql`p.agent_id = ${host}::uuid`)
    // Arming is refused where nothing can be blocked, so it would do nothing there.
    else conditions.push(sql`p.agent_id in (select x.agent_id from agents x where x.enforcement <> 'observe')`)
    if (tags.length > 0)
      conditions.push(sql`p.agent_id in (select x.agent_id from agent_tags x join tags t on t.tag_id = x.tag_id
        where t.folded = any(${tags.map(fold)}::text[]))`)
    const where = conditions.reduce((all, one) => sql`${all} and ${one}`)
    const source =
      others.length === 0
        ? sql`select p.agent_id, p.device_id, p.source, p.rule_id::text as rule_id, p.last_seen, p.severity >= 40 as tool from peripherals p where ${where}`
        : sql`select p.agent_id, p.device_id, coalesce(o.source, p.source) as source,
            case when o.source is null then p.rule_id::text else o.rule_id end as rule_id, p.last_seen, p.severity >= 40 as tool
          from peripherals p left join ${unnestOf([
            [others.map((o) => o.agentId), 'uuid[]'],
            [others.map((o) => o.deviceId), 'text[]'],
            [others.map((o) => sourceNumber(o.source)), 'smallint[]'],
            [others.map((o) => o.ruleId), 'text[]'],
          ])} o(agent_id, device_id, source, rule_id) on o.agent_id = p.agent_id and o.device_id = p.device_id where ${where}`
    const wanted = decision === null ? raw('true') : decision === 'block' ? raw(blocks) : raw(`not (${blocks})`)
    const judged = sql`
      with s as materialized (${source}),
      n as materialized (
        select d.agent_id, d.device_id, sum(d.n)::int as n from attachment_days d
        where d.day >= (${since}::timestamptz at time zone 'UTC')::date group by d.agent_id, d.device_id)`
    const [totals] = await db.query<Record<string, number>>(sql`${judged}
      select count(*)::int as peripherals, count(distinct s.agent_id)::int as agents, coalesce(sum(n.n), 0)::int as attachments,
        (count(*) filter (where ${raw(blocks)}))::int as blocked_peripherals,
        (count(distinct s.agent_id) filter (where ${raw(blocks)}))::int as blocked_agents,
        coalesce(sum(n.n) filter (where ${raw(blocks)}), 0)::int as blocked_attachments,
        (count(*) filter (where ${wanted}))::int as filtered
      from s left join n on n.agent_id = s.agent_id and n.device_id = s.device_id`)
    const rows = await db.query<
      PolicyTestRow & { source: number; ruleId: string | null; ruleReason: string | null }
    >(sql`${judged}
      select s.agent_id as uuid, a.host as "hostIdentifier", s.device_id as "deviceID", m.vid, m.pid, m.vendor as "guiVid",
        coalesce(nullif(m.product, ''), d.product) as "guiPid", d.icon as "devIcon", s.tool as "isKnownAttackTool",
        case when ${raw(blocks)} then 'block' else 'allow' end as decision, s.source, s.rule_id as "ruleId", r.reason as "ruleReason",
        ${raw(zonelessSql('s.last_seen'))} as "lastSeen", coalesce(n.n, 0) as attachments
      from (select s.* from s left join n on n.agent_id = s.agent_id and n.device_id = s.device_id where ${wanted}
          order by (${raw(blocks)}) desc, s.tool desc, coalesce(n.n, 0) desc, s.last_seen desc, s.agent_id, s.device_id
          limit ${limit}::int offset ${offset}::bigint) s
        join peripherals p on p.agent_id = s.agent_id and p.device_id = s.device_id
        join agents a on a.agent_id = s.agent_id join designs d on d.design_id = p.design_id join models m on m.model_id = d.model_id
        left join n on n.agent_id = s.agent_id and n.device_id = s.device_id
        left join policy_rules r on r.rule_id::text = s.rule_id
      order by (${raw(blocks)}) desc, s.tool desc, coalesce(n.n, 0) desc, s.last_seen desc, s.agent_id, s.device_id`)
    const t = totals as Record<string, number>
    return {
      agents: t.agents as number,
      peripherals: t.peripherals as number,
      attachments: t.attachments as number,
      blocked: {
        agents: t.blocked_agents as number,
        peripherals: t.blocked_peripherals as number,
        attachments: t.blocked_attachments as number,
      },
      recordsTotal: t.peripherals as number,
      recordsFiltered: t.filtered as number,
      data: rows.map(({ source, ruleId, ruleReason, ...row }): PolicyTestRow => {
        return { ...row, reason: decisionReason(source, ruleReason), rule: decider(source, ruleId) }
      }),
    }
  },
})
