import { sourcesSql, waitingSources } from '@portcullis/domain'
import type { Db, Queryable } from '@portcullis/platform/server/db/db.ts'
import { unnestOf } from '@portcullis/platform/server/db/ordered.ts'
import { join, raw, type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import { JsonText } from '@portcullis/platform/server/http/answer.ts'
import { queryReader, validationError } from '@portcullis/platform/server/http/read-query.ts'
import {
  contains,
  type Filter,
  isAnyOf,
  isNumber,
  isTime,
  isTrue,
  likePattern,
} from '@portcullis/platform/server/list/columns.ts'
import { requireTime, utcSql } from '@portcullis/platform/server/time.ts'
import {
  type AlertCounts,
  type AlertHost,
  type AlertState,
  type AlertVerdict,
  alertEntities,
  alertKinds,
  alertStates,
  alertVerdicts,
  type RiskFilter,
  type RiskNotification,
  type RiskOrder,
  riskQueryName,
  riskView,
  severityNames,
} from '#features/contract.ts'
import { caseColumns, isActive, ownerSql, stateSql } from './cases.read.ts'

const defaultPage = 1_000
/** Hosts that the list, mails and webhooks name for each alert. */
const hostsNamed = 3

const nameOfSeverity = `(array[${severityNames.map((name) => `'${name}'`).join(', ')}])[n.severity + 1]`
const isRead = '(n.turn <= coalesce(r.turn, 0))'
const isPinned = '(p.notice_id is not null)'
const isDismissed = '(n.dismissed_at is not null)'
/** A health alert counts by the current status of its subsystem. */
const shownSeverity = `case n.status when 'Error' then 3 when 'Warning' then 4 when 'OK' then 5 else n.severity end`

const filters: Readonly<Record<RiskFilter, Filter>> = {
  id: isNumber('n.notice_id'),
  kind: isAnyOf('n.kind', alertKinds),
  title: contains('lower(n.title)'),
  description: contains('lower(n.description)'),
  severity: isNumber('n.severity'),
  severityString: isAnyOf(nameOfSeverity, severityNames),
  isRead: isTrue(isRead),
  isPinned: isTrue(isPinned),
  isDismissed: isTrue(isDismissed),
  state: isAnyOf(`(${stateSql})`, alertStates),
  owner: contains(`lower(${ownerSql})`),
  isMine: isTrue('coalesce(n.owner_id = me.id, false)'),
  verdict: isAnyOf('n.verdict', alertVerdicts),
  entityType: isAnyOf('n.entity_type', alertEntities),
  entityId: contains('lower(n.entity_id)'),
  link: contains('lower(n.link)'),
  count: isNumber('n.count'),
  creationTime: isTime('n.created_at'),
  lastTime: isTime('n.last_at'),
  fromDate: (field, text) => sql`n.last_at >= ${requireTime(field, text).from.toISOString()}::timestamptz`,
  toDate: (field, text) => sql`n.last_at < ${requireTime(field, text).to.toISOString()}::timestamptz`,
  host: (_field, text) => sql`exists (select from notice_hosts h where h.notice_id = n.notice_id
    and (h.agent_id::text = ${text.toLowerCase()}::text or lower(h.host) like ${likePattern(text)}::text))`,
  search: (
    _field,
    text,
  ) => sql`(lower(n.title) like ${likePattern(text)}::text or lower(n.description) like ${likePattern(text)}::text
    or exists (select from notice_hosts h where h.notice_id = n.notice_id and lower(h.host) like ${likePattern(text)}::text))`,
}

type RiskQuery = Readonly<Record<string, string | number | undefined>>

const readView = queryReader(riskView)

/** Reads the filters given as one JSON object, by the same rules as query parameters. */
const viewOf = (text: string): RiskQuery => {
  const fault = () =>
    validationError([
      { field: `query.${riskQueryName}`, message: 'must be empty or a JSON object of strings, numbers and booleans' },
    ])
  let given: unknown
  try {
    given = JSON.parse(text)
  } catch {
    throw fault()
  }
  if (given === null) return {}
  if (typeof given !== 'object' || Array.isArray(given)) throw fault()
  const members = Object.entries(given).filter(([, value]) => value !== null)
  if (members.some(([, value]) => !['string', 'number', 'boolean'].includes(typeof value))) throw fault()
  return readView(
    new URLSearchParams(Object.fromEntries(members.map(([name, value]) => [name, String(value)]))).toString(),
  ) as RiskQuery
}

/** Returns the filters by their bare names. Returns 400 if a filter is given in two forms. */
const bareNames = (query: RiskQuery): Map<string, string | number> => {
  const members = new Map<string, string | number>()
  function add(name: string, value: string | number): void {
    if (members.has(name)) throw validationError([{ field: `query.${name}`, message: 'is given more than once' }])
    members.set(name, value)
  }
  for (const [given, value] of Object.entries(query)) {
    if (value === undefined) continue
    if (given === riskQueryName)
      for (const [name, one] of Object.entries(viewOf(String(value)))) add(name, one as string | number)
    else add(given.startsWith(riskQueryName) ? given.slice(riskQueryName.length + 1, -1) : given, value)
  }
  return members
}

/** Selects the alerts as an account sees them. Without an account (the product itself), none is read or pinned. */
const seen = (list: 'risk' | 'health', accountId: string | null): SqlFragment => sql`
  notices n cross join (select ${accountId}::uuid as id) me
  left join notice_reads r on r.account_id = ${accountId}::uuid and r.list = ${list}
  left join notice_pins p on p.account_id = ${accountId}::uuid and p.notice_id = n.notice_id
  where (n.kind = 'health') = ${list === 'health'}::boolean`

const newestFirst = 'n.last_at desc, n.notice_id desc'
const orders: Readonly<Record<RiskOrder, string>> = {
  severity_asc: `n.severity, ${newestFirst}`,
  severity_desc: `n.severity desc, ${newestFirst}`,
  lastTime_desc: newestFirst,
  lastTime_asc: 'n.last_at, n.notice_id',
  creationTime_desc: 'n.created_at desc, n.notice_id desc',
  creationTime_asc: 'n.created_at, n.notice_id',
  hostsCount_desc: `n.host_count desc, ${newestFirst}`,
  hostsCount_asc: `n.host_count, ${newestFirst}`,
  count_desc: `n.count desc, ${newestFirst}`,
  count_asc: `n.count, ${newestFirst}`,
}
const orderBy = (order: string): SqlFragment => raw(`order by ${isPinned} desc, ${order}`)

/** The hosts that an alert reached last. Hosts that were removed are still named. */
const namedHosts = raw(`
  (select coalesce(jsonb_agg(jsonb_build_object('uuid', f.agent_id, 'hostIdentifier', f.host) order by f.since desc, f.agent_id), '[]')
   from (select h.agent_id, h.host, h.since from notice_hosts h where h.notice_id = n.notice_id
     order by h.since desc, h.agent_id limit ${hostsNamed}) f)`)

export type AlertsRead = ReturnType<typeof createAlertsRead>

export const createAlertsRead = (db: Db) => ({
  risk: async (accountId: string | null, query: RiskQuery): Promise<JsonText> => {
    const given = bareNames(query)
    const conditions = (Object.keys(filters) as RiskFilter[]).flatMap((name) => {
      const value = given.get(name)
      if (value === undefined) return []
      const condition = filters[name](`query.${name}`, String(value))
      return ['set' in condition ? condition.set : condition]
    })
    if (!given.has('isDismissed') && !given.has('state')) conditions.push(raw(isActive))
    const limit = Number(given.get('pageSize') ?? defaultPage)
    const offset = (Number(given.get('pageNumber') ?? 1) - 1) * limit
    const rows = await db.query<{ row: string }>(sql`
      select row_to_json(t)::text as row from (
        select n.notice_id as "id", n.kind as "kind", n.title as "title", n.description as "description", n.severity as "severity",
          ${raw(nameOfSeverity)} as "severityString", ${raw(utcSql('n.created_at'))} as "creationTime",
          ${raw(utcSql('n.last_at'))} as "lastTime", n.count as "count", ${raw(isRead)} as "isRead", ${raw(isPinned)} as "isPinned",
          ${raw(isDismissed)} as "isDismissed", ${raw(caseColumns)}, n.entity_type as "entityType", n.entity_id as "entityId", n.link as "link",
          ${namedHosts} as "hosts", n.host_count as "hostsCount"
        from ${seen('risk', accountId)} and ${join(conditions, ' and ')} ${orderBy(orders[(given.get('sortBy') ?? 'severity_asc') as RiskOrder])}
        limit ${limit}::bigint offset ${offset}::bigint) t`)
    return new JsonText(`[${rows.map((row) => row.row).join(',')}]`)
  },

  health: (accountId: string | null) =>
    db.query<{
      id: number
      name: string
      status: 'OK' | 'Warning' | 'Error'
      description: string
      creationTime: string
      lastTime: string
      count: number
      isRead: boolean
      isPinned: boolean
      state: AlertState
      owner: string
      snoozedUntil: string
      verdict: AlertVerdict | ''
    }>(sql`
      select n.notice_id as "id", n.subject as "name", n.status as "status", n.description as "description",
        ${raw(utcSql('n.created_at'))} as "creationTime", ${raw(utcSql('n.last_at'))} as "lastTime", n.count as "count",
        ${raw(isRead)} as "isRead", ${raw(isPinned)} as "isPinned", ${raw(caseColumns)}
      from ${seen('health', accountId)} and ${raw(isActive)} ${orderBy(`${shownSeverity}, ${newestFirst}`)}`),

  counts: async (accountId: string | null): Promise<AlertCounts> => {
    const rows = await db.query<{ is_health: boolean; severity: number; total: number; unread: number }>(sql`
      select q.is_health, q.severity, count(*)::int as total, count(*) filter (where not q.is_read)::int as unread from (
        select false as is_health, n.severity, ${raw(isRead)} as is_read from ${seen('risk', accountId)} and ${raw(isActive)}
        union all
        select true, ${raw(shownSeverity)}, ${raw(isRead)} from ${seen('health', accountId)} and ${raw(isActive)}) q
      group by q.is_health, q.severity`)
    const sum = (of: 'total' | 'unread', isHealth?: boolean): number =>
      rows.filter((row) => isHealth === undefined || row.is_health === isHealth).reduce((n, row) => n + row[of], 0)
    const bySeverity = severityNames.flatMap((key, severity) => {
      const count = rows.filter((row) => row.severity === severity).reduce((n, row) => n + row.total, 0)
      return count === 0 ? [] : [{ key, count }]
    })
    return {
      total: sum('total'),
      unread: sum('unread'),
      riskNotifications: sum('total', false),
      riskUnread: sum('unread', false),
      systemHealth: sum('total', true),
      systemHealthUnread: sum('unread', true),
      bySeverity,
    }
  },

  details: async (id: number) =>
    (
      await db.query<{
        kind: string
        subject: string
        title: string
        count: number
        events: number[]
        severity: number
        comment: string
        handling: Pick<RiskNotification, 'state' | 'owner' | 'snoozedUntil' | 'verdict'>
        dismissed_by: string
        entity_type: string
        entity_id: string
        host_count: number
      }>(sql`
        select n.kind, n.subject, n.title, n.count, n.events, n.severity, n.comment,
          (select row_to_json(c) from (select ${raw(caseColumns)}) c) as handling,
          n.dismissed_by, n.entity_type, n.entity_id, n.host_count
        from notices n where n.notice_id = ${id}::int`)
    )[0],

  /** Returns the hosts that an alert reached last. */
  hostIds: async (id: number, limit: number): Promise<string[]> =>
    (
      await db.query<{ agent_id: string }>(sql`
        select h.agent_id from notice_hosts h where h.notice_id = ${id}::int order by h.since desc, h.agent_id limit ${limit}::int`)
    ).map((row) => row.agent_id),

  /**
   * Returns the hosts that still exist, in the given order. Each has the given devices that are on it, and its attached
   * devices of the model (empty: no model).
   */
  hosts: (
    agentIds: readonly string[],
    devices: readonly { agentId: string; deviceId: string }[],
    model: string,
    since: Date,
  ): Promise<AlertHost[]> =>
    db.query<AlertHost>(sql`
      select a.agent_id as "uuid", a.host as "hostIdentifier", r.tags as "hashtags", (
        select coalesce(jsonb_agg(jsonb_build_object('deviceID', p.device_id,
            'name', coalesce(nullif(case when position(lower(m.vendor) in lower(coalesce(nullif(m.product, ''), d.product))) > 0
              then coalesce(nullif(m.product, ''), d.product) else trim(m.vendor || ' ' || coalesce(nullif(m.product, ''), d.product)) end, ''), m.vid || ':' || m.pid),
            'vid', m.vid, 'pid', m.pid, 'serialNumber', p.serial, 'isKnownAttackTool', d.attack_tool > 0,
            'waits', r.armed and p.source in ${raw(sourcesSql(...waitingSources))}
              and (p.unapproved or (not p.present and p.case_number <> '' and p.last_seen >= ${since})))
          order by d.attack_tool desc, p.device_id), '[]')
        from peripherals p join designs d on d.design_id = p.design_id join models m on m.model_id = d.model_id
        where p.agent_id = a.agent_id and ((p.present and m.vid || ':' || m.pid = ${model}::text) or (p.agent_id, p.device_id) in (
          select e.agent_id, e.device_id from ${unnestOf([
            [devices.map((one) => one.agentId), 'uuid[]'],
            [devices.map((one) => one.deviceId), 'text[]'],
          ])} e(agent_id, device_id)))) as "devices"
      from ${unnestOf([[agentIds, 'uuid[]']])} with ordinality g(id, n)
        join agents a on a.agent_id = g.id join agent_rows r on r.agent_id = a.agent_id
      order by g.n`),

  /** Returns alerts by id, for notifications. */
  some: (q: Queryable, ids: readonly number[]): Promise<AlertDetails[]> =>
    q.query<AlertDetails>(sql`
      select n.notice_id as "id", n.kind as "kind", n.title as "title", n.description as "description", n.severity as "severity",
        ${raw(nameOfSeverity)} as "severityString", ${raw(utcSql('n.created_at'))} as "creationTime",
        ${raw(utcSql('n.last_at'))} as "lastTime", n.count as "count", n.status as "status", n.entity_type as "entityType",
        n.entity_id as "entityId", n.link as "link", ${namedHosts} as "hosts", n.host_count as "hostsCount"
      from notices n where n.notice_id = any(${ids}::int[]) order by n.severity, n.last_at desc, n.notice_id`),
})

/** An alert in mails and webhooks. */
export interface AlertDetails
  extends Pick<
    RiskNotification,
    | 'id'
    | 'title'
    | 'description'
    | 'severity'
    | 'severityString'
    | 'creationTime'
    | 'lastTime'
    | 'count'
    | 'entityId'
    | 'link'
    | 'hosts'
    | 'hostsCount'
  > {
  kind: string
  /** Status of a subsystem; empty for risk alerts. */
  status: string
  entityType: string
}
