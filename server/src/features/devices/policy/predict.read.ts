import type { Prediction } from '@portcullis/contract'
import { type PolicySource, policySources } from '@portcullis/domain'
import type { StoredPeripheral } from '#features/devices/peripherals/index.ts'
import type { Queryable } from '#platform/db/db.ts'
import { unnestOf } from '#platform/db/ordered.ts'
import { join, raw, type SqlFragment, sql } from '#platform/db/sql.ts'
import { fold } from '#platform/list/columns.ts'
import { zonelessSql } from '#platform/time.ts'
import { allowing, sourceNumber } from './host.ts'

/** The hosts and the period that a prediction examines. */
export interface Examined {
  /** Condition over `agent_rows r` and `agents a`; null: every host. */
  hosts: SqlFragment | null
  /** Examines hosts that cannot block devices, too: somebody asked for them by id. */
  isEveryGrade: boolean
  /** Start of the period. A device that is gone counts if it was seen since. */
  since: Date
}

/** A decision that the change makes and that may differ from the stored one. */
export interface Redecided {
  agentId: string
  deviceId: string
  source: PolicySource
  ruleId: string | null
}

/** What happens to hosts and devices, as far as it is not decided by rules. */
export interface Effects {
  /** Mode of the hosts afterwards; null: each keeps its own. */
  mode: 'Armed' | 'Free' | null
  /** Arming also judges what is attached now. */
  applyToPresent: boolean
  /** Every attached device is allowed on its host, except attack tools. */
  isApproved: boolean
}

/** A device as rules see it, on its host. */
export interface Candidate extends StoredPeripheral {
  armed: boolean
  hashtags: string
}

const blocking = policySources.flatMap((source, n) => (allowing.has(source) ? [] : [n]))
const isBlocking = (column: SqlFragment): SqlFragment => sql`${column} = any(${blocking}::smallint[])`

/** Decisions that an approval of attached devices replaces: the block without a rule, and grants, which end. */
const approved = [sourceNumber('grant'), sourceNumber('default')]
/** What blocks a device at the moment its host is armed, although it was attached before. */
const blocksPresent = [sourceNumber('attack-tool'), sourceNumber('deny')]

/** Groups of examined devices `d` that a prediction counts. */
const groups = {
  blocked: 'd.blocks',
  changed: 'd.blocks <> d.blocked_before',
  newlyAllowed: 'd.blocked_before and not d.blocks',
  newlyBlocked: 'not d.blocked_before and d.blocks',
  worksAgain: 'd.works_again',
  stopsWorking: 'd.stops',
  /** Attached devices that an armed host would block, at once or when they are attached again. */
  attachedBlocked: 'd.present and d.blocks',
  mismatched: 'd.present and d.mismatched',
  /** Devices that an armed host would block unless it spares them because they were attached before. */
  willBlock: 'd.blocks and (not d.present or d.is_blocked or d.stops)',
} as const
type Group = keyof typeof groups
const groupNames = Object.keys(groups) as Group[]

export type Counts = Prediction['newlyAllowed']

/** Examined devices in numbers. */
export interface Totals extends Record<Group, Counts> {
  agents: number
  peripherals: number
}

/** How often devices were attached in the period. */
export interface Attachments {
  all: number
  blocked: number
}

/** A host that is armed, in numbers of its devices. */
export interface PredictedHost {
  agentId: string
  /** Devices that it will block. */
  willBlock: number
  /** Attached devices with a kernel driver that contradicts their kind. */
  mismatched: number
}

/** A device of a prediction, for screens. */
export interface PredictedRow {
  agentId: string
  host: string
  deviceId: string
  vid: string
  pid: string
  vendor: string
  product: string
  caption: string
  icon: number
  isTool: boolean
  present: boolean
  armed: boolean
  before: number
  source: number
  ruleId: string | null
  ruleReason: string | null
  lastSeen: string
  attachments: number
}

/** Which devices a page of a prediction lists. */
export interface PredictedPage {
  only: 'allow' | 'block' | 'changed' | null
  limit: number
  offset: number
}

const onlyOf = {
  allow: raw('not d.blocks'),
  block: raw('d.blocks'),
  changed: raw(groups.changed),
} as const

/** Where the examined devices are: `peripherals p` with its host. */
const examinedFrom = raw(
  'peripherals p join agent_rows r on r.agent_id = p.agent_id join agents a on a.agent_id = p.agent_id',
)
const isExamined = ({ hosts, isEveryGrade, since }: Examined): SqlFragment =>
  join(
    [
      sql`(p.present or p.last_seen >= ${since})`,
      // Arming is refused where nothing can be blocked.
      ...(isEveryGrade ? [] : [raw(`not r.agentless and a.enforcement <> 'observe'`)]),
      ...(hosts === null ? [] : [hosts]),
    ],
    ' and ',
  )

/** Joins gone devices `p` with attached ones whose approval allows them, too: a rule names what both say of themselves. */
const likeAttached = (examined: Examined): SqlFragment => sql`
  left join (
    select distinct p.agent_id, p.serial, d.design_id from ${examinedFrom}
    join designs e on e.design_id = p.design_id
    join designs d on d.model_id = e.model_id and coalesce(nullif(d.policy_without_revision, ''), d.without_revision)
      = coalesce(nullif(e.policy_without_revision, ''), e.without_revision)
    where p.present and p.severity < 40 and p.source = any(${approved}::smallint[]) and ${isExamined(examined)}) w
  on w.agent_id = p.agent_id and w.serial = p.serial and w.design_id = p.design_id`

/**
 * Every examined device with its decision before and after the change, and what follows from both. The only place that
 * says what an armed host blocks, what stops and what works again.
 */
const predicted = (examined: Examined, { mode, applyToPresent, isApproved }: Effects, others: readonly Redecided[]) => {
  const kept = sql`p.source`
  const stored = isApproved
    ? sql`case when p.severity < 40 and p.source = any(${approved}::smallint[]) and (p.present or w.agent_id is not null) then ${sourceNumber('host')}::smallint else ${kept} end`
    : kept
  const other = unnestOf([
    [others.map((o) => o.agentId), 'uuid[]'],
    [others.map((o) => o.deviceId), 'text[]'],
    [others.map((o) => sourceNumber(o.source)), 'smallint[]'],
    [others.map((o) => o.ruleId), 'text[]'],
  ])
  const isArmed = mode === null ? raw('r.armed') : sql`${mode === 'Armed'}::boolean`
  const isAtOnce =
    mode === null
      ? raw('not x.blocked_before')
      : sql`(${applyToPresent} or x.source = any(${blocksPresent}::smallint[]))`
  return sql`
    select x.*, x.is_armed and x.present and not x.is_blocked and x.blocks and ${isAtOnce} as stops,
      x.is_blocked and not (x.is_armed and x.blocks) as works_again
    from (
      select c.*, ${isBlocking(sql`c.source`)} as blocks, ${isBlocking(sql`c.before`)} as blocked_before,
        c.armed and c.present and not c.spared and ${isBlocking(sql`c.before`)} as is_blocked
      from (
        select p.agent_id, p.device_id, p.present, p.last_seen, p.severity >= 40 as tool,
          -- The host lets it work against the decision, because it was attached before, say.
          p.authorized and p.enforced ->> 'guard' is not null as spared,
          p.driver_mismatch <> '' as mismatched, r.armed, ${isArmed} as is_armed, p.source as before,
          coalesce(o.source, ${stored}) as source,
          case when o.source is null then p.rule_id::text else o.rule_id end as rule_id
        from ${examinedFrom}
        left join ${other} o(agent_id, device_id, source, rule_id) on o.agent_id = p.agent_id and o.device_id = p.device_id
        ${isApproved ? likeAttached(examined) : raw('')}
        where ${isExamined(examined)} offset 0) c offset 0) x`
}

const perHost = raw(
  groupNames
    .map(
      (name) =>
        `count(*) filter (where ${groups[name]})::int as "${name}", count(*) filter (where d.tool and ${groups[name]})::int as "${name}Tools"`,
    )
    .join(', '),
)
const summed = raw(
  groupNames
    .map(
      (
        name,
      ) => `json_build_object('agents', count(*) filter (where h."${name}" > 0), 'peripherals', coalesce(sum(h."${name}"), 0),
        'attackTools', coalesce(sum(h."${name}Tools"), 0)) as "${name}"`,
    )
    .join(', '),
)

/** Attachments per examined device in the period; UTC days. */
const attachmentsSince = (since: Date): SqlFragment => sql`
  select y.agent_id, y.device_id, sum(y.n)::int as n from attachment_days y
  where y.day >= (${since}::timestamptz at time zone 'UTC')::date group by y.agent_id, y.device_id`

export const createPredictRead = () => ({
  /** One host, or those with any of these tags, as a condition for `Examined`; null: every host. */
  chosen: (agentId: string | null, tags: readonly string[]): SqlFragment | null => {
    const conditions = [
      ...(agentId === null ? [] : [sql`r.agent_id = ${agentId}::uuid`]),
      ...(tags.length === 0
        ? []
        : [
            sql`r.agent_id in (select x.agent_id from agent_tags x join tags t on t.tag_id = x.tag_id where t.folded = any(${tags.map(fold)}::text[]))`,
          ]),
    ]
    return conditions.length === 0 ? null : join(conditions, ' and ')
  },

  /** Hosts by id, as a condition for `Examined`. */
  hosts: (agentIds: readonly string[]): SqlFragment => sql`r.agent_id = any(${agentIds}::uuid[])`,

  /** Examined devices that rules about these fingerprints may decide about. */
  candidates: (
    q: Queryable,
    examined: Examined,
    designIds: readonly number[],
    agentIds: readonly string[] | null,
  ): Promise<Candidate[]> =>
    designIds.length === 0
      ? Promise.resolve([])
      : q.query<Candidate>(sql`
        select p.agent_id, p.device_id, p.design_id, p.port_path, p.serial, p.present, p.authorized, p.severity, p.speed, p.source,
          p.rule_id, p.unapproved, p.enforced, p.case_number, p.driver_mismatch, r.armed, r.tags as hashtags
        from ${examinedFrom} where p.design_id = any(${designIds}::int[]) and ${isExamined(examined)}
          and (${agentIds}::uuid[] is null or p.agent_id = any(${agentIds}::uuid[])) order by p.agent_id, p.device_id`),

  totals: async (q: Queryable, examined: Examined, effects: Effects, others: readonly Redecided[]): Promise<Totals> =>
    (
      await q.query<Totals>(sql`
        with h as (
          select d.agent_id, count(*)::int as examined, ${perHost}
          from (${predicted(examined, effects, others)}) d group by d.agent_id)
        select count(*)::int as agents, coalesce(sum(h.examined), 0)::int as peripherals, ${summed} from h`)
    )[0] as Totals,

  attachments: async (
    q: Queryable,
    examined: Examined,
    effects: Effects,
    others: readonly Redecided[],
  ): Promise<Attachments> =>
    (
      await q.query<Attachments>(sql`
        select coalesce(sum(n.n), 0)::int as "all", coalesce(sum(n.n) filter (where d.blocks), 0)::int as blocked
        from (${predicted(examined, effects, others)}) d
        join (${attachmentsSince(examined.since)}) n on n.agent_id = d.agent_id and n.device_id = d.device_id`)
    )[0] as Attachments,

  /** What arming does to each host; hosts without such a device are left out. */
  byHost: (
    q: Queryable,
    examined: Examined,
    effects: Effects,
    others: readonly Redecided[],
  ): Promise<PredictedHost[]> =>
    q.query<PredictedHost>(sql`
      select d.agent_id as "agentId", count(*) filter (where ${raw(groups.willBlock)})::int as "willBlock",
        count(*) filter (where ${raw(groups.mismatched)})::int as mismatched
      from (${predicted(examined, effects, others)}) d
      where (${raw(groups.willBlock)}) or (${raw(groups.mismatched)}) group by d.agent_id order by d.agent_id`),

  /** Devices: those that change are listed by gravity, others blocked first and then by how often they were attached. */
  rows: (
    q: Queryable,
    examined: Examined,
    effects: Effects,
    others: readonly Redecided[],
    { only, limit, offset }: PredictedPage,
  ): Promise<PredictedRow[]> => {
    const order = only === 'changed' ? raw('s.tool desc, s.stops desc') : raw('s.blocks desc, s.tool desc, s.n desc')
    return q.query<PredictedRow>(sql`
      with n as materialized (${attachmentsSince(examined.since)}),
      s as (
        select s.* from (
          select d.*, coalesce(n.n, 0) as n from (${predicted(examined, effects, others)}) d
          left join n on n.agent_id = d.agent_id and n.device_id = d.device_id
          where ${only === null ? raw('true') : onlyOf[only]}) s
        order by ${order}, s.last_seen desc, s.agent_id, s.device_id limit ${limit}::int offset ${offset}::bigint)
      select s.agent_id as "agentId", a.host, s.device_id as "deviceId", m.vid, m.pid, m.vendor,
        coalesce(nullif(m.product, ''), d.product) as product,
        coalesce(nullif(d.product, ''), nullif(m.product, ''), m.vendor) as caption, d.icon, s.tool as "isTool", s.present, s.armed,
        s.before, s.source, s.rule_id as "ruleId", u.reason as "ruleReason", ${raw(zonelessSql('s.last_seen'))} as "lastSeen",
        s.n as attachments
      from s join peripherals p on p.agent_id = s.agent_id and p.device_id = s.device_id
        join agents a on a.agent_id = s.agent_id join designs d on d.design_id = p.design_id join models m on m.model_id = d.model_id
        left join policy_rules u on u.rule_id::text = s.rule_id
      order by ${order}, s.last_seen desc, s.agent_id, s.device_id`)
  },
})
