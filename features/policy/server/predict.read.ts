import { approvableSources, sourceNumber, sourcesSql } from '@portcullis/domain'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { join, raw, type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import { fold } from '@portcullis/platform/server/list/columns.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'
import { isEscapedSql, serialKeySql } from '#features/devices/server/index.ts'
import type { DecidedClass, DeviceClass } from './after-change.ts'
import {
  afterShift,
  beforeShift,
  type Effects,
  ranksOf,
  stateBits,
  statesOf,
  type Totals,
  totalsOf,
} from './device-states.ts'

/** The hosts and the period of a prediction. */
export interface Examined {
  /** Condition over `agent_rows r` and `agents a`; null: every host. */
  hosts: SqlFragment | null
  /** Includes hosts that cannot block devices, because the caller named them by id. */
  isEveryGrade: boolean
  /** Includes detached devices that were not seen in the period. */
  isEveryDevice: boolean
  /** Start of the period. */
  since: Date
}

/** The properties by which rules and verdicts may treat devices differently. */
export interface Distinctions {
  /** Groups of hosts with their own rules; all other hosts are in group 0. */
  groupOf: ReadonlyMap<string, number>
  /** Keys of the serial numbers that rules name. */
  serials: readonly string[]
  /** Fingerprints with a verdict that may depend on a serial number. */
  serialFingerprints: readonly number[]
}

/** New decisions of a change that may differ from the stored ones. */
export interface Redecided {
  by: Distinctions
  classes: readonly DecidedClass[]
}

/** A host that is armed, with counts of its devices. */
export interface PredictedHost {
  agentId: string
  willBlock: number
  /** Attached devices with a kernel driver that contradicts their kind. */
  mismatched: number
}

/** A device of a prediction, for display. */
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
  serial: string
  isTool: boolean
  present: boolean
  /** Number that `device-states.ts` explains. */
  state: number
  armed: boolean
  canBlock: boolean
  before: number
  source: number
  ruleId: string | null
  ruleReason: string | null
  lastSeen: string
  attachments: number
}

export interface PredictedPage {
  only: 'allow' | 'block' | null
  limit: number
  offset: number
}

/** The input of a prediction query. */
export interface Asked {
  examined: Examined
  effects: Effects
  /** Null: rules and tags change no decision. */
  redecided: Redecided | null
}

/** Further columns that `totals` counts. */
export interface Counted {
  /** The effect of arming on each host, without hosts where it has no effect. */
  isEachHost: boolean
  /** How often the devices were attached in the period. Otherwise, those numbers are 0. */
  isTimed: boolean
}

const isHostExamined = ({ hosts, isEveryGrade }: Examined): SqlFragment =>
  join(
    [
      raw('true'),
      // Hosts that cannot block devices cannot be armed.
      ...(isEveryGrade ? [] : [raw('r.can_block')]),
      ...(hosts === null ? [] : [hosts]),
    ],
    ' and ',
  )

const approvable = raw(sourcesSql(...approvableSources))

/** Whether a detached device is examined. */
const isSeen = (device: string, { isEveryDevice, since }: Examined): SqlFragment =>
  isEveryDevice ? raw('true') : sql`${raw(device)}.last_seen >= ${since}`

/** The examined hosts. A query joins them with many devices once. */
const hostsOf = (examined: Examined): SqlFragment => sql`(
  select r.agent_id, r.armed, r.can_block from agent_rows r join agents a on a.agent_id = r.agent_id where ${isHostExamined(examined)} offset 0)`

/**
 * Joins detached devices `p` that the approval of an attached device also allows: the rule names descriptors that both
 * share. Detached devices are few, so the query finds them first.
 */
const likeAttached = (examined: Examined): SqlFragment => sql`
  left join (
    select distinct g.agent_id, g.device_id
    from peripherals g join peripherals q on q.agent_id = g.agent_id and ${serialKeySql('q.serial')} = ${serialKeySql('g.serial')}
      and q.present and q.severity < 40 and q.source in ${approvable}
    join designs d on d.design_id = g.design_id
    join designs e on e.design_id = q.design_id and e.model_id = d.model_id
      and coalesce(e.policy_rule_fingerprint, nullif(e.policy_without_revision, ''), e.without_revision)
        = coalesce(d.policy_rule_fingerprint, nullif(d.policy_without_revision, ''), d.without_revision)
    where not g.present and ${isSeen('g', examined)} and g.severity < 40 and g.source in ${approvable}
      and g.agent_id in (select h.agent_id from ${hostsOf(examined)} h)) w
  on w.agent_id = p.agent_id and w.device_id = p.device_id`

/** Joins hosts with their groups, if groups matter. */
const grouped = ({ groupOf }: Distinctions): { from: SqlFragment; host_group: SqlFragment } =>
  groupOf.size === 0
    ? { from: raw(''), host_group: raw('0') }
    : {
        from: sql`left join ${unnestOf([
          [[...groupOf.keys()], 'uuid[]'],
          [[...groupOf.values()], 'int[]'],
        ])} g(agent_id, n) on g.agent_id = p.agent_id`,
        host_group: raw('coalesce(g.n, 0)'),
      }

/** The properties that distinguish classes of a fingerprint, apart from the group of their hosts. */
const distinctions = ({ serials, serialFingerprints }: Distinctions) => ({
  // With a constant, the planner knows the number of groups.
  named_serial:
    serials.length + serialFingerprints.length === 0
      ? raw('null::text')
      : sql`case when p.serial <> '' and (${serialKeySql('p.serial')} = any(${serials}::text[]) or ${isEscapedSql('p.serial')}
          or p.design_id = any(${serialFingerprints}::int[])) then p.serial end`,
  has_serial: raw(`p.serial <> ''`),
  speed: raw('p.speed'),
  has_port: raw(`position('-' in p.port_path) > 0`),
})
const variantOf = (one: DeviceClass): string =>
  [one.speed, Number(one.has_port), Number(one.has_serial), one.named_serial ?? ''].join('|')

/** Joins devices with the decision about their class. */
const withDecisions = ({ by, classes }: Redecided, isEach: boolean): SqlFragment => {
  const isSame = (a: DecidedClass, b: DecidedClass): boolean =>
    a.source === b.source && a.ruleId === b.ruleId && a.isMatched === b.isMatched
  const varying: number[] = []
  const rows: { one: DecidedClass; variant: string }[] = []
  for (const [id, some] of Map.groupBy(classes, ({ design_id }) => design_id)) {
    const groups = [...Map.groupBy(some, ({ host_group }) => host_group).values()]
    const isVarying = groups.some((ones) => ones.some((one, _, [first = one]) => !isSame(one, first)))
    if (isVarying) varying.push(id)
    for (const ones of groups)
      for (const one of isVarying ? ones : ones.slice(0, 1))
        rows.push({ one, variant: isVarying ? variantOf(one) : '' })
  }
  const flags = ({ isMatched, isTool }: DecidedClass): number =>
    isMatched ? stateBits.isMatched + (isTool ? stateBits.isMatchedTool : 0) : 0
  const decided = unnestOf([
    [rows.map(({ one }) => one.design_id), 'int[]'],
    [rows.map(({ one }) => one.host_group), 'int[]'],
    [rows.map(({ variant }) => variant), 'text[]'],
    [rows.map(({ one }) => sourceNumber(one.source)), 'smallint[]'],
    [rows.map(({ one }) => one.ruleId), 'text[]'],
    [rows.map(({ one }) => flags(one)), 'int[]'],
  ])
  const { from, host_group } = grouped(by)
  const { named_serial, has_serial, speed, has_port } = distinctions(by)
  const variant = sql`case when p.design_id = any(${varying}::int[])
    then ${speed} || '|' || (${has_port})::int || '|' || (${has_serial})::int || '|' || coalesce(${named_serial}, '') else '' end`
  // Conditions that are always true would make the planner expect one row.
  const on = join(
    [
      raw('o.design_id = p.design_id'),
      ...(by.groupOf.size === 0 ? [] : [sql`o.host_group = ${host_group}`]),
      ...(varying.length === 0 ? [] : [sql`o.variant = ${variant}`]),
    ],
    ' and ',
  )
  return sql`${from} ${raw(isEach ? 'left join' : 'join')} ${decided} o(design_id, host_group, variant, source, rule_id, flags) on ${on}`
}

const number = (condition: SqlFragment, value: number): SqlFragment =>
  sql`case when ${condition} then ${raw(String(value))} else 0 end`

/** Selects every examined device with its state. If `isEach` is false, selects only devices that get a new decision. */
const predicted = ({ examined, effects, redecided }: Asked, isEach = true): SqlFragment => {
  const stored = effects.isApproved
    ? sql`case when p.severity < 40 and p.source in ${approvable} and (p.present or w.agent_id is not null)
        then ${sourceNumber('host')}::smallint else p.source end`
    : raw('p.source')
  const source = redecided === null ? stored : sql`coalesce(o.source, ${stored})`
  const state = join(
    [
      number(raw('p.present'), stateBits.isPresent),
      number(raw('p.severity >= 40'), stateBits.isTool),
      number(raw(`p.authorized and p.enforced ->> 'guard' is not null`), stateBits.isSpared),
      number(raw(`p.driver_mismatch <> ''`), stateBits.isMismatched),
      number(raw('r.armed'), stateBits.isArmed),
      number(raw('r.can_block'), stateBits.canBlock),
      redecided === null ? raw('0') : raw('coalesce(o.flags, 0)'),
      sql`(p.source::int << ${raw(String(beforeShift))})`,
      sql`((${source})::int << ${raw(String(afterShift))})`,
    ],
    ' + ',
  )
  const ruleId =
    redecided === null
      ? raw('p.rule_id::text')
      : raw('case when o.source is null then p.rule_id::text else o.rule_id end')
  return sql`
    select p.agent_id, p.device_id, p.last_seen, ${ruleId} as rule_id, ${state} as state
    from peripherals p join ${hostsOf(examined)} r on r.agent_id = p.agent_id
    ${redecided === null ? raw('') : withDecisions(redecided, isEach)}
    ${effects.isApproved ? likeAttached(examined) : raw('')}
    where p.present or ${isSeen('p', examined)}`
}

/** Selects the attachments of a device in the period, in UTC days. */
const inPeriod = (since: Date): SqlFragment => sql`y.day >= (${since}::timestamptz at time zone 'UTC')::date`

/** Joins the number of attachments `t.n` of devices `d` in the period, if they are counted. */
const timed = (examined: Examined): SqlFragment => sql`
  left join (
    select y.agent_id, y.device_id, sum(y.n)::int as n from attachment_days y
    where ${inPeriod(examined.since)}
      ${examined.hosts === null ? raw('') : sql`and y.agent_id in (select h.agent_id from ${hostsOf(examined)} h)`}
    group by y.agent_id, y.device_id) t
  on t.agent_id = d.agent_id and t.device_id = d.device_id`

const rowColumns = raw(`s.agent_id as "agentId", a.host, s.device_id as "deviceId", m.vid, m.pid, m.vendor,
  coalesce(nullif(m.product, ''), d.product) as product,
  coalesce(nullif(d.product, ''), nullif(m.product, ''), m.vendor) as caption, d.icon, p.serial, s.state, s.state & ${stateBits.isTool} <> 0 as "isTool",
  s.state & ${stateBits.isPresent} <> 0 as present, s.state & ${stateBits.isArmed} <> 0 as armed,
  s.state & ${stateBits.canBlock} <> 0 as "canBlock",
  s.state >> ${beforeShift} & 7 as before, s.state >> ${afterShift} & 7 as source,
  s.rule_id as "ruleId", u.reason as "ruleReason", ${utcSql('s.last_seen')} as "lastSeen"`)
const rowTables = raw(`s join peripherals p on p.agent_id = s.agent_id and p.device_id = s.device_id
  join agents a on a.agent_id = s.agent_id join designs d on d.design_id = p.design_id join models m on m.model_id = d.model_id
  left join policy_rules u on u.rule_id::text = s.rule_id`)

export const createPredictRead = () => ({
  /** Returns a condition for `Examined`: one host, or hosts with any of these tags; null: every host. */
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

  /** Returns a condition for `Examined`: hosts by id. */
  hosts: (agentIds: readonly string[]): SqlFragment => sql`r.agent_id = any(${agentIds}::uuid[])`,

  /** Returns hosts with their tags, for grouping; null: all hosts. */
  tagged: (q: Queryable, agentIds: readonly string[] | null): Promise<{ agentId: string; hashtags: string }[]> =>
    q.query(sql`
      select r.agent_id as "agentId", r.tags as hashtags from agent_rows r
      where ${agentIds === null ? raw('true') : sql`r.agent_id = any(${agentIds}::uuid[])`}`),

  /** Returns the classes of the devices with these fingerprints; `agentIds`: only on these hosts. */
  classes: (
    q: Queryable,
    fingerprintIds: readonly number[],
    agentIds: readonly string[] | null,
    by: Distinctions,
  ): Promise<DeviceClass[]> => {
    const { from, host_group } = grouped(by)
    const { named_serial, has_serial, speed, has_port } = distinctions(by)
    return q.query<DeviceClass>(sql`
      select p.design_id, ${host_group} as host_group, ${named_serial} as named_serial, ${has_serial} as has_serial, ${speed} as speed,
        ${has_port} as has_port, min(p.serial collate "C") as serial, min(p.port_path collate "C") as port_path
      from peripherals p ${from}
      where p.design_id = any(${fingerprintIds}::int[]) and ${agentIds === null ? raw('true') : sql`p.agent_id = any(${agentIds}::uuid[])`}
      group by 1, 2, 3, 4, 5, 6`)
  },

  /** Counts the examined devices, their hosts and their attachments. */
  totals: async (
    q: Queryable,
    asked: Asked,
    { isEachHost, isTimed }: Counted,
  ): Promise<{ totals: Totals; hosts: PredictedHost[] }> => {
    const { effects, examined } = asked
    const willBlock = statesOf(effects, (outcome) => outcome.willBlock)
    const mismatched = statesOf(effects, (outcome) => outcome.mismatched)
    const eachHost = sql`
      union all
      select null, null, 0, coalesce(sum(m.n) filter (where m.state = any(${willBlock}::int[])), 0)::int, m.agent_id,
        coalesce(sum(m.n) filter (where m.state = any(${mismatched}::int[])), 0)::int
      from m where m.state = any(${[...new Set([...willBlock, ...mismatched])]}::int[]) group by m.agent_id`
    const found = await q.query<{
      state: number | null
      states: number[] | null
      times: number
      n: number
      agentId: string | null
      mismatched: number | null
    }>(sql`
      with m as materialized (
        select d.agent_id, d.state, count(*)::int as n, ${isTimed ? raw('coalesce(sum(t.n), 0)::int') : raw('0')} as times
        from (${predicted(asked)}) d ${isTimed ? timed(examined) : raw('')} group by d.agent_id, d.state)
      select m.state, null::int[] as states, sum(m.times)::int as times, sum(m.n)::int as n, null::uuid as "agentId",
        null::int as mismatched
      from m group by m.state
      union all
      select null, s.states, 0, count(*)::int, null, null
      from (select array_agg(m.state order by m.state) as states from m group by m.agent_id) s group by s.states
      ${isEachHost ? eachHost : raw('')}`)
    return {
      totals: totalsOf(
        effects,
        found.flatMap(({ state, n, times }) => (state === null ? [] : [{ state, n, times }])),
        found.flatMap(({ states, n }) => (states === null ? [] : [{ states, n }])),
      ),
      hosts: found.flatMap(({ agentId, n, mismatched }) =>
        agentId === null ? [] : [{ agentId, willBlock: n, mismatched: mismatched ?? 0 }],
      ),
    }
  },

  /** Returns devices by number of attachments, blocked ones first. */
  page: (q: Queryable, asked: Asked, { only, limit, offset }: PredictedPage): Promise<PredictedRow[]> => {
    const { examined, effects } = asked
    return q.query<PredictedRow>(sql`
      with d as materialized (
        select d.*, coalesce(t.n, 0) as n, (${ranksOf(effects, only)}::smallint[])[d.state + 1] as rank
        from (${predicted(asked)}) d ${timed(examined)}),
      s as (
        select d.* from d where d.rank > 0
        order by d.rank, d.n desc, d.last_seen desc, d.agent_id, d.device_id limit ${limit}::int offset ${offset}::bigint)
      select ${rowColumns}, s.n as attachments from ${rowTables}
      order by s.rank, s.n desc, s.last_seen desc, s.agent_id, s.device_id`)
  },

  /** Returns the devices whose decision changes, most severe first. */
  changed: (q: Queryable, asked: Asked, limit: number): Promise<PredictedRow[]> => {
    const { examined, effects } = asked
    return q.query<PredictedRow>(sql`
      with s as (
        select d.* from (
          select d.*, (${ranksOf(effects, 'changed')}::smallint[])[d.state + 1] as rank from (${predicted(asked, false)}) d) d
        where d.rank > 0 order by d.rank, d.last_seen desc, d.agent_id, d.device_id limit ${limit}::int)
      select ${rowColumns}, coalesce((
          select sum(y.n) from attachment_days y
          where y.agent_id = s.agent_id and y.device_id = s.device_id and ${inPeriod(examined.since)}), 0)::int as attachments
      from ${rowTables} order by s.rank, s.last_seen desc, s.agent_id, s.device_id`)
  },
})
