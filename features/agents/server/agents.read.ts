import { mustExist } from '@portcullis/domain'
import { invalid } from '@portcullis/platform/server/app-error.ts'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import {
  allWordsInModelText,
  type Condition,
  contains,
  containsInDictionary,
  type Filter,
  fold,
  hasAnyTag,
  hasText,
  isTime,
  isTrue,
  likePattern,
  modelsOfVendor,
  oneOf,
} from '@portcullis/platform/server/list/columns.ts'
import type { CompiledList } from '@portcullis/platform/server/list/compile.ts'
import { listSpec } from '@portcullis/platform/server/list/spec.ts'
import { zonelessSql } from '@portcullis/platform/server/time.ts'
import { agentList } from '#features/contract.ts'

const connection = `case when r.connected then 'Connected' else 'Disconnected' end`
/** One row that all agents share; the planner reads it once. */
const licenceAccount = (column: string): string => `(select l.${column} from licence_state l)`
const licenseNames = `(array['Pending','Expired','Invalid','Activated'])[r.license + 1]`
const display = `case when not r.connected then 'Disconnected' when r.license <> 3 then ${licenseNames} when r.armed then 'Armed' else 'Free' end`
const findings = `case when r.vulnerable and r.violation then 'Vulnerable,WLV' when r.vulnerable then 'Vulnerable' when r.violation then 'WLV' else '' end`
/** Vendor and model: the first part of pcModel. */
const modelToolTip = `btrim(split_part(a.pc_model, '||', 1))`

/**
 * Searches host, address, uuid, version, OS, model and tags by one trigram index; needles under three characters scan
 * the texts.
 */
const search = (needle: string): Condition => {
  const matches = hasText('s.search', needle)
  return {
    set: sql`r.agent_id in (select s.agent_id from agent_search s where ${matches})`,
    row: sql`(select ${matches} from agent_search s where s.agent_id = r.agent_id)`,
    count: sql`select count(*)::bigint as n from agent_search s where ${matches}`,
  }
}

/** Filters by the time of the last check-in, in the table that stores it. */
const lastUpdated: Filter = (field, text) => {
  const matches = isTime('h.last_seen')(field, text) as SqlFragment
  return {
    set: sql`r.agent_id in (select h.agent_id from agent_heartbeats h where ${matches})`,
    row: sql`(select ${matches} from agent_heartbeats h where h.agent_id = r.agent_id)`,
    count: sql`select count(*)::bigint as n from agent_heartbeats h where ${matches}`,
  }
}

/** Matches hosts with an attached device whose fingerprint meets a condition over `designs d`. */
const hasDevice = (condition: SqlFragment): SqlFragment =>
  sql`r.agent_id in (select p.agent_id from peripherals p where p.present
    and p.design_id in (select d.design_id from designs d where ${condition}))`

/** Whether a host has not fetched the newest rules. Free hosts do not need them. */
const policyPending = '(r.armed and h.policy_due)'
const heartbeat = 'join agent_heartbeats h on h.agent_id = r.agent_id'
/** A column of the wide table: no index provides its order. */
const wide = (expression: string) => ({
  select: expression,
  sort: `lower(${expression})`,
  sortJoin: 'join agents a on a.agent_id = r.agent_id',
})
/**
 * Returns the dictionary texts that rows reference by this column, with one index lookup for each. The whole dictionary
 * may hold hundreds of thousands of unused texts, because hosts write it.
 */
const usedTexts = (column: string, alias: string): string =>
  `(with recursive used as (
      (select u.${column} as id from agent_rows u order by u.${column} limit 1)
      union all
      select (select u.${column} from agent_rows u where u.${column} > used.id order by u.${column} limit 1) from used where used.id is not null)
    select d.id, d.folded from used join dictionary d on d.id = used.id) ${alias}`
/** Most hosts per end of the order that a page by `inAction` looks up: a page this deep sorts all hosts instead. */
const pendingHosts = 2_000
const hostsWithCommands = (direction: 'asc' | 'desc'): string =>
  `(select distinct c.agent_id as host from commands c where c.state in ('queued', 'delivered') order by host ${direction} limit ${pendingHosts})`
/**
 * Sorts by pending commands. No index contains them, because each change would rewrite all index entries of the narrow
 * row: 10,000 commands took twice as long. Each host with a command is a group of its own, found by the commands' index.
 */
const pendingCommand = {
  select: 'h.has_commands',
  sort: 'b.pending',
  sortJoin: 'join (select h.agent_id, h.has_commands as pending from agent_heartbeats h) b on b.agent_id = r.agent_id',
  groups: {
    from: `(select u.host, true as pending from (${hostsWithCommands('asc')} union ${hostsWithCommands('desc')}) u
      union all select null, false) b`,
    link: `r.agent_id between coalesce(b.host, '00000000-0000-0000-0000-000000000000') and coalesce(b.host, 'ffffffff-ffff-ffff-ffff-ffffffffffff')
      and (b.pending or not (select h.has_commands from agent_heartbeats h where h.agent_id = r.agent_id))`,
  },
}
/** A column with the same value in every row. */
const constant = (select: string) => ({ select, sort: `''::text` })
const zoneless = (time: string) => ({ select: zonelessSql(time), sort: time })

/** The agents list: narrow rows for filters and sorts, wide rows only for the rows of the page. */
export const agentsList = listSpec(agentList, {
  name: 'agents',
  from: 'agent_rows r',
  id: 'r.agent_id',
  ties: ['r.agent_id'],
  defaultSort: [
    { key: 'severity', descending: true },
    { key: 'hostIdentifier', descending: false },
  ],
  search,
  total: sql`select t.agents::bigint as n from fleet_totals t`,
  columns: {
    hostIdentifier: { select: 'a.host', sort: 'r.host' },
    localIpAddress: { select: 'a.address', sort: 'address_order(r.address)' },
    uuid: { select: 'a.agent_id', sort: 'r.agent_id' },
    operationalStatus: { select: `case when r.armed then 'Armed' else 'Free' end`, sort: 'r.armed' },
    connectionStatus: { select: connection, sort: 'not r.connected' },
    approvedAndPresent: 'r.approved_present',
    approvedAndDisconnected: 'r.approved_gone',
    notApproved: 'r.not_approved',
    latestEventText: wide(`coalesce(a.latest_events[1], '')`),
    latestMinus1EventText: wide(`coalesce(a.latest_events[2], '')`),
    latestMinus2EventText: wide(`coalesce(a.latest_events[3], '')`),
    serviceVersion: {
      select: 'a.version',
      sort: 'dv.folded',
      sortJoin: 'join dictionary dv on dv.id = r.version_id',
      groups: { from: usedTexts('version_id', 'dv'), link: 'r.version_id = dv.id' },
    },
    lastUpdated: { ...zoneless('h.last_seen'), sortJoin: heartbeat },
    licenseStatus: { select: licenseNames, sort: 'r.license' },
    expirationDate: { select: `coalesce(to_char(r.expiration, 'MM/DD/YYYY'), '')`, sort: 'r.expiration' },
    lastConfiguered: zoneless('r.last_configured'),
    kbDriverVersion: constant(`''`),
    licenseAccountId: constant(licenceAccount('account_id')),
    licenseAccountName: constant(licenceAccount('account_name')),
    severity: 'r.severity',
    hasUnapprovedPeripherals: 'r.unapproved',
    hasVulnerablePeripherals: 'r.vulnerable',
    hasKnownAttackTools: 'r.attack_tool',
    displayStatusCombined: display,
    inAction: pendingCommand,
    pcModel: wide('a.pc_model'),
    nicsText: wide('a.nics_text'),
    modelToolTip: wide(modelToolTip),
    containsVulnerablePeripheralOrWLV: findings,
    osVersion: {
      select: 'a.os_name',
      sort: 'dos.folded',
      sortJoin: 'join dictionary dos on dos.id = r.os_id',
      groups: { from: usedTexts('os_id', 'dos'), link: 'r.os_id = dos.id' },
    },
    runningMode: constant(`'R'`),
    connectedSwitchIp: constant(`''`),
    connectedSwitchName: constant(`''`),
    connectedPortId: constant(`''`),
    connectedPortName: constant(`''`),
    ethernetsCount: 'r.ethernets',
    hashtags: 'r.tags',
    deploymentMode: {
      select: `case when r.feed then 'Feed' when r.agentless then 'Agentless' else 'Agent' end`,
      sort: '(r.agentless::int + r.feed::int)',
    },
    riskScore: 'r.risk',
    clockSkewSeconds: { select: 'h.skew_seconds', sort: 'h.skew_seconds', sortJoin: heartbeat },
    firstSeen: zoneless('r.first_seen'),
    canBlock: 'r.can_block',
    policyPending: { select: policyPending, sort: policyPending, sortJoin: heartbeat },
    owner: wide('a.owner'),
  },
  filters: {
    Uuid: contains('r.agent_id::text'),
    HostIdentifier: contains('r.host'),
    IpAddress: contains('r.address'),
    Status: oneOf({
      Free: 'not r.armed',
      Armed: 'r.armed',
      Connected: 'r.connected',
      Disconnected: 'not r.connected',
      Pending: 'r.connected and r.license = 0',
      Expired: 'r.connected and r.license = 1',
      Invalid: 'r.connected and r.license = 2',
    }),
    ContainsVulnerablePeripheralOrWLV: oneOf({ Vulnerable: 'r.vulnerable', WLV: 'r.violation' }),
    Version: containsInDictionary('r.version_id'),
    License: oneOf({
      Pending: 'r.license = 0',
      Expired: 'r.license = 1',
      Invalid: 'r.license = 2',
      Activated: 'r.license = 3',
    }),
    OsVersion: containsInDictionary('r.os_id'),
    LastUpdated: lastUpdated,
    Hashtags: hasAnyTag('r.agent_id', 'agent_tags', 'agent_id'),
    ExpirationDate: isTime(`(r.expiration::timestamp at time zone 'UTC')`),
    DeploymentMode: oneOf({ Agent: 'not r.agentless', Agentless: 'r.agentless and not r.feed', Feed: 'r.feed' }),
    PolicyPending: isTrue(`(r.armed and r.agent_id in (select h.agent_id from agent_heartbeats h where h.policy_due))`),
    Owner: (_f, text) =>
      sql`r.agent_id in (select o.agent_id from agents o where o.owner <> '' and lower(o.owner) like ${likePattern(text)}::text)`,
    ReleaseKey: contains('r.release_key'),
    PossibleDuplicate: isTrue(`(r.agent_id in (select d.agent_id from agents d where d.possible_duplicates <> '{}'))`),
    Vendor: (_f, text) => hasDevice(sql`d.model_id in (${modelsOfVendor(text)})`),
    Model: (_f, text) => {
      const [, vid, pid] = /^([0-9a-f]{4}):([0-9a-f]{4})$/i.exec(text.trim()) ?? []
      return hasDevice(
        vid === undefined || pid === undefined
          ? allWordsInModelText('d.folded', text)
          : sql`d.model_id = (select m.model_id from models m where m.vid = ${vid.toUpperCase()}::text and m.pid = ${pid.toUpperCase()}::text)`,
      )
    },
    Alert: (field, text) => {
      if (!/^\d{1,10}$/.test(text.trim())) throw invalid(field, 'must be the ID of an alert')
      return sql`r.agent_id in (select h.agent_id from notice_hosts h where h.notice_id = ${text.trim()}::text::bigint)`
    },
  },
  rowJoins: `join agent_rows r on r.agent_id = ids.id join agents a on a.agent_id = ids.id join agent_heartbeats h on h.agent_id = ids.id`,
})

export interface SummaryRow {
  total: number
  connected: number
  armed: number
  protected: number
  can_block: number
  unapproved: number
  vulnerable: number
  attack_tool: number
  agentless: number
  feed: number
  pending: number
  expired: number
  invalid: number
  activated: number
}

export interface DetailRow {
  facts: Record<string, string>
  notes: string
  nics: { name: string; mac: string; addresses: string[]; isUp: boolean }[]
  enforcement: string
  risk_factors: { factor: string; points: number; evidence: string }[]
  armed: boolean
  mode_reason: string
  policy_version: number
  whitelist: boolean
  possible_duplicates: { uuid: string; hostIdentifier: string }[]
}

/** Queries about agents beyond the list. */
export const createAgentsRead = (db: Queryable) => ({
  isAgent: (agentId: string): SqlFragment => sql`r.agent_id = ${agentId}::uuid`,

  /** Counts the rows that match a list's filter, in one pass. */
  summary: async (list: CompiledList): Promise<SummaryRow> => {
    const rows = await db.prepared<SummaryRow>(sql`
      select count(*) as total, count(*) filter (where r.connected) as connected, count(*) filter (where r.armed) as armed,
        count(*) filter (where r.armed and r.can_block) as protected, count(*) filter (where r.can_block) as can_block,
        count(*) filter (where r.unapproved) as unapproved, count(*) filter (where r.vulnerable) as vulnerable,
        count(*) filter (where r.attack_tool) as attack_tool, count(*) filter (where r.agentless and not r.feed) as agentless, count(*) filter (where r.feed) as feed,
        count(*) filter (where r.license = 0) as pending, count(*) filter (where r.license = 1) as expired,
        count(*) filter (where r.license = 2) as invalid, count(*) filter (where r.license = 3) as activated
      from agent_rows r where ${list.where}`)
    return mustExist(rows[0], 'the row of counts')
  },

  /** Counts rows by severity, operating system and version. */
  groups: async (list: CompiledList): Promise<{ what: string; key: string; count: number }[]> =>
    db.prepared(sql`
      with g as (select r.severity, r.os_id, r.version_id, count(*) as n from agent_rows r where ${list.where} group by 1, 2, 3)
      select 'severity' as what, g.severity::text as key, sum(g.n)::bigint as count from g group by g.severity
      union all
      select 'os', d.value, sum(g.n)::bigint from g join dictionary d on d.id = g.os_id group by d.value
      union all
      select 'version', d.value, sum(g.n)::bigint from g join dictionary d on d.id = g.version_id group by d.value
      order by 1, 3 desc, 2`),

  detail: async (agentId: string): Promise<DetailRow | undefined> =>
    (
      await db.prepared<DetailRow>(sql`
        select a.facts, a.notes, a.nics, a.enforcement, a.risk_factors, r.armed, a.mode_reason, a.policy_version, a.whitelist,
          coalesce((select jsonb_agg(jsonb_build_object('uuid', o.agent_id, 'hostIdentifier', o.host) order by o.host)
            from agents o where o.agent_id = any(a.possible_duplicates)), '[]') as possible_duplicates
        from agents a join agent_rows r on r.agent_id = a.agent_id where a.agent_id = ${agentId}::uuid`)
    )[0],

  /**
   * Returns connected hosts whose clocks differed by more at their last check-in, and the one with the largest
   * difference.
   */
  wrongClocks: async (seconds: number): Promise<{ hosts: number; worst: WrongClock | null }> => {
    const [found] = await db.query<{ hosts: number } & WrongClock>(sql`
      select r.host as "hostIdentifier", h.skew_seconds as seconds, count(*) over () as hosts
      from agent_heartbeats h join agent_rows r using (agent_id)
      where h.connected and abs(h.skew_seconds::bigint) > ${seconds}
      order by abs(h.skew_seconds::bigint) desc, h.agent_id limit 1`)
    return found === undefined ? { hosts: 0, worst: null } : { hosts: found.hosts, worst: found }
  },

  /** Counts hosts with an agent by the release key that they report, most common first. */
  hostsByReleaseKey: (): Promise<{ releaseKey: string; hosts: number }[]> =>
    db.prepared(sql`
      select r.release_key as "releaseKey", count(*) as hosts from agent_rows r where not r.agentless
      group by r.release_key order by count(*) desc, r.release_key limit 100`),

  totals: async (): Promise<{ total: number; connected: number }> =>
    (
      await db.prepared<{ total: number; connected: number }>(
        sql`select count(*) as total, count(*) filter (where r.connected) as connected from agent_rows r`,
      )
    )[0] ?? { total: 0, connected: 0 },
})

/** How far the clock of a host is ahead of the server's. */
export interface WrongClock {
  hostIdentifier: string
  seconds: number
}

export type AgentsRead = ReturnType<typeof createAgentsRead>

export const searchText = (parts: readonly string[]): string => fold(parts.join(' ')).slice(0, 2000)
