import { sourcesSql, waitingSources } from '@portcullis/domain'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { join, raw, type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import {
  contains,
  type Filter,
  fold,
  hasAnyTag,
  isTrue,
  likePattern,
  modelsOfVendor,
  oneOf,
} from '@portcullis/platform/server/list/columns.ts'
import { conditionsOf, type ListSpec } from '@portcullis/platform/server/list/compile.ts'
import type { Queried } from '@portcullis/platform/server/list/query.ts'
import { listSpec } from '@portcullis/platform/server/list/spec.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'
import {
  type AgentDetail,
  allowedMost,
  type approvalList,
  type policyApprovals,
  type QueryOf,
  ruleList,
} from '#features/contract.ts'

const level = `case when r.is_grant then 'grant' when r.agent_id is not null then 'host' when r.tag_name is not null then 'tag' else 'global' end`
/** The order in which rules are evaluated: denies, grants, then allows from the narrowest. */
const rank = `case when r.effect = 'deny' then 0 when r.is_grant then 1 when r.agent_id is not null then 2 when r.tag_name is not null then 3 else 4 end`
const state = `case when r.is_forged then 'Not authentic' when r.tag_name is not null and r.tag_id is null then 'Tag deleted'
  when r.is_over and r.expires_at is not null then 'Expired' else 'In force' end`
const group = '(select g.name from rule_groups g where g.group_id = r.group_id)'
const host = '(select a.host from agents a where a.agent_id = r.agent_id)'
// A product name that contains the name of the vendor stands alone.
const model = `(select nullif(case when position(lower(m.vendor) in lower(m.product)) > 0 then m.product else trim(m.vendor || ' ' || m.product) end, '') from models m where m.vid = r.vid and m.pid = r.pid)`
const vendor = `(select m.vendor from models m where m.vid = r.vid and m.vendor <> '' limit 1)`
const fingerprint = `'fingerprint ' || left(r.fingerprint, 8) || '…'`
const isFingerprintOnly = 'r.vid is null and r.kinds is null'
// The scope comes before the serial number and the fingerprint, so that a narrow column still shows it.
const sentence = `case r.effect when 'deny' then 'Deny ' else 'Allow ' end || concat_ws(', ',
    case when r.pid is not null then concat_ws(' ', ${model}, r.vid || ':' || r.pid)
      when r.vid is not null then concat_ws(' ', 'all of', ${vendor}, r.vid) end,
    case when r.kinds is not null then case when r.effect = 'deny' then 'devices of kind ' else 'devices that are only ' end || array_to_string(r.kinds, ' or ') end,
    case when ${isFingerprintOnly} then ${fingerprint} end)
  || case when r.agent_id is not null then ' on ' || coalesce(${host}, 'a removed host') when r.tag_name is not null then ' on tag ' || r.tag_name else ' on all hosts' end
  || case when r.serial = '' then ', without a serial number' when r.serial is not null then ', serial number ' || r.serial else '' end
  || case when r.fingerprint is not null and not (${isFingerprintOnly}) then ', ' || ${fingerprint} else '' end
  || case when r.expires_at is not null then ' until ' || to_char(r.expires_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI') || ' UTC' else '' end
  || case when r.override_attack_tool then ', even a known attack tool' else '' end
  || case when r.reason = '' then '' else ': ' || r.reason end`

/** Rules and grants in evaluation order. */
export const rulesList = listSpec(ruleList, {
  name: 'policy-rules',
  from: 'policy_rules r',
  id: 'r.rule_id',
  ties: ['r.rule_id'],
  search: (needle) =>
    sql`(lower(concat_ws(' ', r.vid || ':' || r.pid, r.vid, r.pid, r.serial, r.fingerprint, r.tag_name, r.reason, r.created_by)) like ${likePattern(needle)}::text
      or r.agent_id in (select n.agent_id from agent_rows n where n.host like ${likePattern(needle)}::text)
      or exists (select 1 from models m where m.vid = r.vid and m.pid = r.pid and m.folded like ${likePattern(needle)}::text))`,
  columns: {
    id: 'r.rule_id',
    effect: 'r.effect',
    level: { select: level, sort: rank },
    sentence: sentence,
    vid: 'r.vid',
    pid: 'r.pid',
    serial: 'r.serial',
    kinds: 'r.kinds',
    fingerprint: 'r.fingerprint',
    host: 'r.agent_id',
    hostIdentifier: host,
    tag: 'r.tag_name',
    expiresAt: { select: utcSql('r.expires_at'), sort: 'r.expires_at' },
    reason: 'r.reason',
    overrideAttackTool: 'r.override_attack_tool',
    origin: 'r.origin',
    state: state,
    createdAt: { select: utcSql('r.created_at'), sort: 'r.created_at' },
    createdBy: 'r.created_by',
    changedAt: { select: utcSql('r.changed_at'), sort: 'r.changed_at' },
    changedBy: 'r.changed_by',
    groupId: 'r.group_id',
    group: group,
    hits: 'r.hits',
    isUnused: 'r.is_unused',
    shadowedBy: 'r.shadowed_by',
  },
  filters: {
    level: oneOf({
      grant: 'r.is_grant',
      host: 'not r.is_grant and r.agent_id is not null',
      tag: 'not r.is_grant and r.tag_name is not null',
      global: 'not r.is_grant and r.agent_id is null and r.tag_name is null',
    }),
    isShadowed: isTrue('(r.shadowed_by is not null)'),
    vid: contains('lower(r.vid)'),
    pid: contains('lower(r.pid)'),
    serial: contains('lower(r.serial)'),
    host: (_f, text) =>
      sql`(r.agent_id::text = ${text}::text or r.agent_id in (select n.agent_id from agent_rows n where n.host like ${likePattern(text)}::text))`,
    group: (_f, text) =>
      sql`r.group_id in (select g.group_id from rule_groups g where g.name_key = ${fold(text.trim())}::text
        or (g.name_key like ${likePattern(text)}::text and not exists (select from rule_groups e where e.name_key = ${fold(text.trim())}::text)))`,
    reason: contains('lower(r.reason)'),
    tag: (_f, text) => sql`lower(r.tag_name) = any(${text.split(',').map((t) => fold(t.trim()))}::text[])`,
  },
  rowJoins: 'join policy_rules r on r.rule_id = ids.id',
})

/** Rules without grants, as the exported file lists them. */
export const rulesFileList: ListSpec = {
  ...rulesList,
  from: '(select * from policy_rules x where not x.is_grant) r',
  rowSelect: rulesList.rowSelect.replace('r.kinds as "kinds"', `array_to_string(r.kinds, ', ') as "kinds"`),
}

export const isGrant: SqlFragment = raw('r.is_grant')
export const isNoGrant: SqlFragment = raw('not r.is_grant')
export const isUngrouped: SqlFragment = raw('not r.is_grant and r.group_id is null')

/** One page of the history, newest first. */
const versionsPage = (limit: number, offset: number) => sql`
  select jsonb_build_object('version', v.version, 'createdAt', ${raw(utcSql('v.created_at'))}, 'createdBy', v.created_by, 'summary', v.summary,
    'changesTotal', (select count(*) from policy_changes c where c.version = v.version),
    'changes', coalesce((select jsonb_agg(jsonb_build_object('before', c.before, 'after', c.after) order by c.n)
      from policy_changes c where c.version = v.version and c.n <= 100), '[]')) as row
  from policy_versions v order by v.version desc limit ${limit}::int offset ${offset}::bigint`

export type ApprovalsQuery = Omit<NonNullable<QueryOf<typeof policyApprovals>>, 'PageNumber' | 'PageSize'>

/** What the server adds texts and a suggestion to. */
interface WaitingModel {
  devIcon: number
  isKnownAttackTool: boolean
  agentsCount: number
  allowedHosts: number
  tag: string | null
}

const like = (column: string, text: string): SqlFragment => sql`${raw(column)} like ${likePattern(text)}::text`

/** The filters of waiting devices. `p`: device, `n`: host, `d`: fingerprint, `m`: model. */
const waitingFilters: Readonly<Record<keyof typeof approvalList.filters, Filter>> = {
  vendor: (_field, text) => sql`m.model_id in (${modelsOfVendor(text)})`,
  vid: contains('lower(m.vid)'),
  pid: contains('lower(m.pid)'),
  hostIdentifier: contains('n.host'),
  hashtags: hasAnyTag('n.agent_id', 'agent_tags', 'agent_id'),
  isKnownAttackTool: isTrue('(d.attack_tool > 0)'),
}
const waitingSpec: Queried = {
  filters: new Map(Object.entries(waitingFilters).map(([name, filter]) => [name.toLowerCase(), filter])),
  names: Object.keys(waitingFilters),
  search: (text) => sql`(${like('d.folded', text.replace(/^([0-9a-f]{4})[:/]([0-9a-f]{1,4})$/i, '$1 $2'))}
    or ${like('n.host', text)} or ${like('n.address', text)} or ${like('p.serial_folded', text)}
    or p.case_number = ${text.trim().toUpperCase()}::text)`,
}

/** Returns the conditions of a query on waiting devices, each after `and`. */
const meantBy = ({ DevicesPerModel: _devices, ...query }: ApprovalsQuery): SqlFragment | null => {
  const given = Object.entries(query).filter(([, text]) => String(text ?? '').trim() !== '')
  const conditions = conditionsOf(waitingSpec, Object.fromEntries(given)).map(({ set }) => sql` and ${set}`)
  return conditions.length === 0 ? null : join(conditions, '')
}

export const createPolicyRead = (db: Queryable) => ({
  versions: async (limit: number, offset: number): Promise<{ total: number; rows: unknown[] }> => {
    const [count] = await db.query<{ n: number }>(sql`select h.version as n from policy_head h`)
    const rows = await db.query<{ row: unknown }>(versionsPage(limit, offset))
    return { total: count?.n ?? 0, rows: rows.map((r) => r.row) }
  },

  /** Returns the version in force and the rules that apply to a host, in evaluation order. */
  ofAgent: async (agentId: string): Promise<Pick<AgentDetail['policy'], 'version' | 'rules'>> => {
    const [head] = await db.prepared<{ version: number }>(sql`select h.version from policy_head h`)
    const rules = await db.prepared<AgentDetail['policy']['rules'][number]>(sql`
      select r.rule_id as id, r.effect, ${raw(level)} as level, ${raw(sentence)} as sentence from policy_rules r
      where (r.agent_id = ${agentId}::uuid or (r.agent_id is null and r.tag_name is null)
          or r.tag_id in (select x.tag_id from agent_tags x where x.agent_id = ${agentId}::uuid))
        and not (r.is_over and r.expires_at is not null) and not r.is_forged
      order by ${raw(rank)}, r.rule_id limit 200`)
    return { version: head?.version ?? 0, rules }
  },

  overview: async () => {
    const [row] = await db.query<{
      version: number
      allow: number
      deny: number
      grants: number
      inert: number
      armed: number
      free: number
      waiting: number
    }>(sql`
      select (select h.version from policy_head h) as version,
        count(*) filter (where not r.is_grant and r.effect = 'allow')::int as allow, count(*) filter (where r.effect = 'deny')::int as deny,
        count(*) filter (where r.is_grant)::int as grants, count(*) filter (where ${raw(state)} <> 'In force')::int as inert,
        (select count(*)::int from agent_rows n where n.armed) as armed, (select count(*)::int from agent_rows n where not n.armed) as free,
        (select count(*)::int from peripherals p where p.unapproved and p.source in ${raw(sourcesSql(...waitingSources))}
          and p.agent_id in (select n.agent_id from agent_rows n where n.armed)) as waiting
      from policy_rules r`)
    return row as NonNullable<typeof row>
  },

  /** Counts attachments and blocks of each day up to today. */
  activity: (today: Date, days: number): Promise<{ day: string; attachments: number; blocked: number }[]> =>
    db.query(sql`
      with span as (select g.day::date as day from generate_series(
        (${today}::timestamptz at time zone 'UTC')::date - (${days}::int - 1), (${today}::timestamptz at time zone 'UTC')::date, interval '1 day') g(day))
      select to_char(span.day, 'YYYY-MM-DD') as day, coalesce(sum(d.n), 0)::int as attachments, coalesce(sum(d.blocked), 0)::int as blocked
      from span left join attachment_days d on d.day = span.day group by span.day order by span.day`),

  /** Returns devices of armed hosts that are not on the allowlist, by model. */
  approvals: async (
    query: ApprovalsQuery,
    since: Date,
    limit: number,
    offset: number,
  ): Promise<{ total: number; filtered: number; rows: (WaitingModel & Record<string, unknown>)[] }> => {
    const all = sql`peripherals p join agent_rows n on n.agent_id = p.agent_id and n.armed
      join designs d on d.design_id = p.design_id join models m on m.model_id = d.model_id
      where p.source in ${raw(sourcesSql(...waitingSources))} and (p.unapproved or (not p.present and p.case_number <> '' and p.last_seen >= ${since}))`
    const meant = meantBy(query)
    const waiting = meant === null ? all : sql`${all}${meant}`
    const countOf = async (devices: SqlFragment): Promise<number> =>
      (await db.query<{ n: number }>(sql`select count(distinct m.model_id)::int as n from ${devices}`))[0]?.n ?? 0
    const total = await countOf(all)
    const filtered = meant === null ? total : await countOf(waiting)
    const rows = await db.query<{ row: WaitingModel & Record<string, unknown> }>(sql`
      with w as materialized (
        select m.model_id, p.agent_id, p.device_id, p.serial, p.present, p.case_number, p.first_seen, p.last_seen, d.icon, d.attack_tool,
          d.vulnerable, n.tags, n.risk, p.present and not p.authorized as blocked from ${waiting}),
      g as (
        select w.model_id, count(distinct w.agent_id)::int as agents, count(*)::int as devices, min(w.first_seen) as first_seen,
          max(w.last_seen) as last_seen, count(*) filter (where w.blocked)::int as blocked, max(w.icon) as icon, bool_or(w.attack_tool > 0) as attack_tool, bool_or(w.vulnerable) as vulnerable
        from w group by w.model_id),
      t as (select w.model_id, x.tag_id, count(distinct w.agent_id) as agents from w join agent_tags x on x.agent_id = w.agent_id group by w.model_id, x.tag_id)
      select jsonb_build_object('vid', m.vid, 'pid', m.pid, 'guiVid', m.vendor, 'guiPid', m.product, 'devIcon', g.icon,
        'isKnownAttackTool', g.attack_tool, 'isVulnerablePeripheral', g.vulnerable, 'agentsCount', g.agents, 'peripheralsCount', g.devices, 'blockedCount', g.blocked,
        'allowedHosts', (select count(distinct x.agent_id)::int from (
          select y.agent_id from designs e join peripherals y on y.design_id = e.design_id
          where e.model_id = g.model_id and y.source in ${raw(sourcesSql('grant', 'host', 'tag', 'global'))} limit greatest(${allowedMost}::int, 2 * g.devices)) x),
        'tag', (select min(s.name) from t join tags s on s.tag_id = t.tag_id where t.model_id = g.model_id and t.agents = g.agents
          and (select count(*) from (select from agent_tags y where y.tag_id = t.tag_id limit 2 * g.agents + 1) z) <= 2 * g.agents),
        'firstSeen', ${raw(utcSql('g.first_seen'))}, 'lastSeen', ${raw(utcSql('g.last_seen'))},
        'devices', (select jsonb_agg(jsonb_build_object('uuid', x.agent_id, 'hostIdentifier', a.host, 'owner', a.owner, 'risk', x.risk, 'deviceID', x.device_id,
            'serialNumber', x.serial, 'present', x.present, 'isBlocked', x.blocked, 'caseNumber', x.case_number, 'hashtags', x.tags,
            'lastSeen', ${raw(utcSql('x.last_seen'))}) order by x.blocked desc, x.last_seen desc, x.agent_id, x.device_id)
          from (select * from w where w.model_id = g.model_id order by w.blocked desc, w.last_seen desc, w.agent_id, w.device_id limit ${query.DevicesPerModel ?? 20}::int) x
            join agents a on a.agent_id = x.agent_id)) as row
      from g join models m on m.model_id = g.model_id
      order by g.attack_tool desc, g.blocked > 0 desc, g.agents desc, g.devices desc, m.vid, m.pid limit ${limit}::int offset ${offset}::bigint`)
    return { total, filtered, rows: rows.map((r) => r.row) }
  },
})

export type PolicyRead = ReturnType<typeof createPolicyRead>
