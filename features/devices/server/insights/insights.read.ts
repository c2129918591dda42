import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { raw, type SqlFragment, sql } from '@portcullis/platform/server/db/sql.ts'
import { modelsOfVendor } from '@portcullis/platform/server/list/columns.ts'
import { listSpec } from '@portcullis/platform/server/list/spec.ts'
import { utcSql } from '@portcullis/platform/server/time.ts'
import { icons, type UncommonPeripheral, type VulnerablePeripheral, violationList } from '#features/contract.ts'
import type { IdentityRow } from './identity.ts'

/** Maximum number of rows in an insight, so that made-up devices cannot make the response grow without limit. */
const maxRows = 5_000
/** Peripherals read to name 20 hosts: some hosts have a device twice. */
const sampledPeripherals = 100

export const iconName = (icon: number): string => (icons as Readonly<Record<number, string>>)[icon] ?? 'Unknown'

const iconNameSql = (column: string): string =>
  `case ${column} ${Object.entries(icons)
    .map(([number, name]) => `when ${number} then '${name}'`)
    .join(' ')} else 'Unknown' end`

/** Formats a time as RFC 3339 with Z in the database. */
const utc = (expression: string): SqlFragment =>
  raw(`to_char(${expression} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`)

/** Selects the first 20 hosts with an attached device of these fingerprints. */
const hostsOf = (fingerprints: SqlFragment): SqlFragment => sql`
  (select coalesce(jsonb_agg(jsonb_build_object('uuid', h.agent_id, 'hostIdentifier', h.host, 'localIpAddress', h.address) order by lower(h.host), h.agent_id), '[]')
   from (select a.agent_id, a.host, a.address from agents a join (
       select distinct q.agent_id from (
         select p.agent_id from peripherals p where p.design_id in (${fingerprints}) and p.present limit ${sampledPeripherals}::int) q limit 20) f
     on f.agent_id = a.agent_id) h)`

/**
 * Distinct violating devices as a list, for files of any length. The groups have no row with an id, so the whole group
 * serves as its id.
 */
export const violationsList = listSpec(violationList, {
  name: 'whitelist-violations',
  from: `(select d.model_id, p.serial, max(d.product) as product, max(d.icon) as icon, count(distinct p.agent_id) as agents, count(*) as devices,
      min(p.first_seen) as first_seen, max(p.last_seen) as last_seen, bool_or(r.armed) as enforced, bool_or(d.attack_tool > 0) as tool
    from peripherals p join designs d on d.design_id = p.design_id join agent_rows r on r.agent_id = p.agent_id
    where p.unapproved and p.present group by d.model_id, p.serial) v join models m on m.model_id = v.model_id`,
  id: `jsonb_build_object('vid', m.vid, 'pid', m.pid, 'serial', v.serial, 'vendor', m.vendor, 'product', coalesce(nullif(m.product, ''), v.product),
    'icon', ${iconNameSql('v.icon')}, 'agents', v.agents, 'devices', v.devices, 'first', ${utcSql('v.first_seen')}, 'last', ${utcSql('v.last_seen')},
    'enforced', v.enforced, 'attackTool', v.tool)`,
  ties: ['m.vid', 'm.pid', 'v.serial'],
  columns: {
    vid: `ids.id->>'vid'`,
    pid: `ids.id->>'pid'`,
    serialNumber: `ids.id->>'serial'`,
    guiVid: `ids.id->>'vendor'`,
    guiPid: `ids.id->>'product'`,
    devIconDescription: `ids.id->>'icon'`,
    agentsCount: { select: `(ids.id->>'agents')::bigint`, sort: 'v.agents' },
    peripheralsCount: `(ids.id->>'devices')::bigint`,
    firstSeen: `ids.id->>'first'`,
    lastSeen: `ids.id->>'last'`,
    enforced: { select: `(ids.id->>'enforced')::boolean`, sort: 'v.enforced' },
    isKnownAttackTool: { select: `(ids.id->>'attackTool')::boolean`, sort: 'v.tool' },
  },
  filters: {},
  defaultSort: [
    { key: 'isKnownAttackTool', descending: true },
    { key: 'enforced', descending: true },
    { key: 'agentsCount', descending: true },
  ],
  rowJoins: '',
})

type Found<T> = { total: number } & Omit<T, 'share' | 'devIconDescription'>

/**
 * A fingerprint that may not be what its ids claim, with one of its devices. `usual` is set if the fleet disagrees with
 * it.
 */
export interface SuspectRow extends IdentityRow {
  vid: string
  pid: string
  vendor: string
  model_product: string
  icon: number
  fingerprint: string
  interfaces: string
  hosts: number
  devices: number
  first_seen: string
  last_seen: string
  agents: InsightHost[]
  usual: (IdentityRow & { interfaces: string; model_devices: number; shape_devices: number }) | null
}

/** A device that an armed host lets work although no rule allows it. */
export interface UsableViolation {
  agentId: string
  deviceId: string
  vid: string
  pid: string
  serial: string
  vendor: string
  product: string
  icon: number
  /** The host is disconnected or has not fetched its current policy yet, so it may block the device in a moment. */
  isDue: boolean
}

type InsightHost = UncommonPeripheral['agents'][number]

/** Builds an identity as one JSON value with the bytes in base64. */
const identity = (fingerprint: string, device: string): SqlFragment =>
  raw(`'descriptors', translate(encode(${fingerprint}.descriptors, 'base64'), E'\\n', ''), 'manufacturer', ${fingerprint}.manufacturer,
    'product', ${fingerprint}.product, 'configuration', ${fingerprint}.configuration, 'interfaces', ${fingerprint}.interfaces,
    'serial', ${device}.serial, 'speed', ${device}.speed, 'port_path', ${device}.port_path,
    'configuration_value', (${device}.kernel->>'configurationValue')::int`)

type Identity = Omit<IdentityRow, 'descriptors'> & { descriptors: string }
const identityOf = <T extends Identity>(row: T) => ({ ...row, descriptors: Buffer.from(row.descriptors, 'base64') })

export type InsightsRead = ReturnType<typeof createInsightsRead>

export const createInsightsRead = (db: Queryable) => {
  const shaped = <T extends { agentsCount: number; devIcon: number }>(rows: (T & { total: number })[], of: number) =>
    rows.map(({ total: _total, ...row }) => ({
      ...row,
      devIconDescription: iconName(row.devIcon),
      share: of === 0 ? 0 : Math.min(1, Math.round((row.agentsCount / of) * 1e6) / 1e6),
    }))

  return {
    settings: async (names: readonly string[]): Promise<ReadonlyMap<string, string>> => {
      const rows = await db.prepared<{ name: string; value: string }>(
        sql`select c.name, c.value from config_items c where c.name = any(${names}::text[])`,
      )
      return new Map(rows.map((row) => [row.name, row.value]))
    },

    /** Counts the hosts seen since. Hosts not seen are few, so the index counts those. */
    population: async (since: Date): Promise<number> => {
      const [row] = await db.prepared<{ n: number }>(sql`
        select (select t.agents from fleet_totals t)
          - (select count(*) from agent_heartbeats h where h.last_seen < ${since}) as n`)
      return row?.n ?? 0
    },

    /**
     * Returns shapes on at most `mostHosts` hosts, one of them active. Counters find the shapes; only the hosts of those
     * few shapes are looked up.
     */
    uncommon: async (since: Date, mostHosts: number, population: number) => {
      const rows = await db.prepared<Found<UncommonPeripheral>>(sql`
        with rare as materialized (
          select s.shape_id, s.model_id, s.interfaces, s.devices, s.first_seen, s.last_seen
          from shapes s where s.hosts between 1 and ${mostHosts}::int),
        active as materialized (
          select r.shape_id, p.agent_id from rare r
            -- LIMIT makes this one look-up per shape: with a plain join, the planner would read all peripherals. OFFSET 0
            -- hides LIMIT from the planner. Otherwise it would scan all peripherals in host order and expect early
            -- matches, which a rare shape does not have (100,000 hosts: over a minute instead of 25 ms).
            cross join lateral (
              select distinct f.agent_id from (
                select p.agent_id from designs d join peripherals p on p.design_id = d.design_id and p.present
                where d.shape_id = r.shape_id offset 0) f
              limit ${mostHosts}::int) p
            join agent_heartbeats h on h.agent_id = p.agent_id and h.last_seen >= ${since}),
        chosen as materialized (
          select r.*, n.hosts, n.ids, count(*) over () as total,
            exists (select 1 from designs d where d.shape_id = r.shape_id and d.attack_tool > 0) as attack_tool
          from rare r
            join (select a.shape_id, count(*) as hosts, array_agg(a.agent_id) as ids from active a group by a.shape_id) n
              on n.shape_id = r.shape_id
          order by attack_tool desc, n.hosts, r.first_seen desc, r.shape_id limit ${maxRows}::int)
        select c.total, m.vid, m.pid, m.vendor as "guiVid", coalesce(nullif(m.product, ''), d.product, '') as "guiPid",
          d.icon as "devIcon", c.hosts as "agentsCount", ${utc('c.first_seen')} as "firstSeen", ${utc('c.last_seen')} as "lastSeen",
          (select jsonb_agg(jsonb_build_object('uuid', a.agent_id, 'hostIdentifier', a.host, 'localIpAddress', a.address) order by lower(a.host), a.agent_id)
            from agents a where a.agent_id = any(c.ids[:20])) as agents,
          ltrim(c.interfaces, '~') as interfaces, c.devices as "peripheralsCount", c.attack_tool as "isKnownAttackTool"
        from chosen c join models m on m.model_id = c.model_id
          join lateral (
            select d.product, d.icon from designs d join design_counts n on n.design_id = d.design_id
            where d.shape_id = c.shape_id and n.devices > 0 order by n.devices desc, d.design_id limit 1) d on true
        order by c.attack_tool desc, c.hosts, c.first_seen desc, c.shape_id`)
      return { total: rows[0]?.total ?? 0, rows: shaped(rows, population) }
    },

    /** Returns the models that are on more hosts than a limit, with the number of hosts. */
    modelsOnMoreThan: async (models: readonly string[], limit: number): Promise<ReadonlyMap<string, number>> => {
      const rows = await db.prepared<{ model: string; hosts: number }>(sql`
        select m.vid || ':' || m.pid as model, m.hosts from unnest(${models}::text[]) u(model)
          join models m on m.vid = split_part(u.model, ':', 1) and m.pid = split_part(u.model, ':', 2)
        where m.hosts > ${limit}::int`)
      return new Map(rows.map((row) => [row.model, row.hosts]))
    },

    /**
     * Returns models with an attached vulnerable device. Counters give the number of hosts unless two fingerprints
     * share it.
     */
    vulnerable: async (population: number) => {
      const rows = await db.prepared<Found<VulnerablePeripheral>>(sql`
        with v as materialized (
          select d.model_id, array_agg(d.design_id) as designs, sum(c.devices)::int as devices, max(c.hosts) as hosts,
            max(d.severity) as severity, bool_or(d.attack_tool > 0) as attack_tool, max(d.icon) as icon, max(d.product) as product,
            min(d.first_seen) as first_seen, max(c.last_seen) as last_seen
          from designs d join design_counts c on c.design_id = d.design_id
          where d.vulnerable and c.devices > 0 group by d.model_id),
        counted as materialized (
          select v.*, case when cardinality(v.designs) = 1 then v.hosts when v.devices = m.devices then m.hosts
            else (select count(distinct p.agent_id) from peripherals p where p.design_id = any(v.designs) and p.present)::int end as agents_count
          from v join models m on m.model_id = v.model_id),
        chosen as (
          select c.*, count(*) over () as total from counted c
          order by c.severity desc, c.agents_count desc, c.model_id limit ${maxRows}::int)
        select c.total, m.vid, m.pid, m.vendor as "guiVid", coalesce(nullif(m.product, ''), c.product) as "guiPid", c.icon as "devIcon",
          c.agents_count as "agentsCount", ${utc('c.first_seen')} as "firstSeen", ${utc('c.last_seen')} as "lastSeen",
          ${hostsOf(sql`select unnest(c.designs)`)} as agents,
          (select jsonb_agg(distinct w.value) from designs d, jsonb_array_elements(d.vulnerabilities) w
            where d.design_id = any(c.designs) and w.value->>'confidence' <> 'family') as vulnerabilities,
          c.attack_tool as "isKnownAttackTool", c.severity, c.devices as "peripheralsCount"
        from chosen c join models m on m.model_id = c.model_id
        order by c.severity desc, c.agents_count desc, c.model_id`)
      return { total: rows[0]?.total ?? 0, rows: shaped(rows, population) }
    },

    /**
     * Returns fingerprints of attached devices that are evaluated as attack tools, or whose shape differs from the others
     * with the same ids.
     */
    suspects: async (rule: { devices: number; share: number }): Promise<SuspectRow[]> => {
      type Row = Omit<SuspectRow, keyof IdentityRow | 'usual'> & {
        own: Identity
        usual: (Identity & { interfaces: string; model_devices: number; shape_devices: number }) | null
      }
      const rows = await db.prepared<Row>(sql`
        with outliers as materialized (
          select t.* from (
            select s.shape_id, s.devices, sum(s.devices) over w as model_devices, max(s.devices) over w as usual_devices,
              first_value(s.shape_id) over (partition by s.model_id order by s.devices desc, s.shape_id) as usual_shape
            from shapes s where s.devices > 0 and s.interfaces not like '~%' window w as (partition by s.model_id)) t
          where t.shape_id <> t.usual_shape and t.model_devices >= ${rule.devices}::int and t.usual_devices >= ${rule.share}::float8 * t.model_devices),
        -- The same interfaces and another property that no other host has, apart from revisions and versions.
        prints as (
          select d.model_id, d.shape_id, d.without_revision, sum(c.devices)::int as devices, sum(c.hosts)::int as hosts
          from designs d join design_counts c on c.design_id = d.design_id
          where c.devices > 0 and d.interfaces not like '~%' group by d.model_id, d.shape_id, d.without_revision),
        loners as materialized (
          select t.* from (
            select p.*, sum(p.devices) over w as model_devices, max(p.devices) over w as usual_devices,
              first_value(p.without_revision) over (partition by p.model_id order by p.devices desc, p.without_revision) as usual_print,
              first_value(p.shape_id) over (partition by p.model_id order by p.devices desc, p.without_revision) as usual_shape
            from prints p window w as (partition by p.model_id)) t
          where t.hosts = 1 and t.without_revision <> t.usual_print and t.shape_id = t.usual_shape
            and t.model_devices >= ${rule.devices}::int and t.usual_devices >= ${rule.share}::float8 * t.model_devices),
        chosen as materialized (
          select d.design_id, c.hosts, c.devices, c.last_seen, coalesce(o.usual_shape, l.usual_shape) as usual_shape, l.usual_print,
            coalesce(o.usual_devices, l.usual_devices) as usual_devices, coalesce(o.model_devices, l.model_devices) as model_devices
          from designs d join design_counts c on c.design_id = d.design_id left join outliers o on o.shape_id = d.shape_id
            left join loners l on l.shape_id = d.shape_id and l.without_revision = d.without_revision
          where c.devices > 0 and (d.attack_tool > 0 or o.shape_id is not null or l.shape_id is not null)
          order by d.first_seen desc, d.design_id limit ${maxRows}::int)
        select m.vid, m.pid, m.vendor, m.product as model_product, d.icon,
          coalesce(nullif(d.exact_fingerprint, ''), d.fingerprint) as fingerprint, d.interfaces, c.hosts, c.devices,
          ${utc('d.first_seen')} as first_seen, ${utc('c.last_seen')} as last_seen, ${hostsOf(sql`select c.design_id`)} as agents,
          jsonb_build_object(${identity('d', 'p')}) as own,
          (select jsonb_build_object(${identity('u', 'q')}, 'model_devices', c.model_devices, 'shape_devices', c.usual_devices)
            from designs u join design_counts n on n.design_id = u.design_id
              join lateral (select x.serial, x.speed, x.port_path, x.kernel from peripherals x where x.design_id = u.design_id and x.present limit 1) q on true
            where u.shape_id = c.usual_shape and n.devices > 0 and (c.usual_print is null or u.without_revision = c.usual_print) order by n.devices desc, u.design_id limit 1) as usual
        from chosen c join designs d on d.design_id = c.design_id join models m on m.model_id = d.model_id
          join lateral (select x.serial, x.speed, x.port_path, x.kernel from peripherals x where x.design_id = d.design_id and x.present limit 1) p on true`)
      return rows.map(({ own, usual, ...row }) => ({
        ...row,
        ...identityOf(own),
        usual: usual === null ? null : identityOf(usual),
      }))
    },

    modelsOfVendor: async (vendor: string): Promise<ReadonlySet<string>> => {
      const rows = await db.query<{ key: string }>(sql`
        select m.vid || ':' || m.pid as key from models m where m.model_id in (${modelsOfVendor(vendor)})`)
      return new Set(rows.map(({ key }) => key))
    },

    /** Selects distinct violating devices, one JSON text each: attack tools first, then devices on armed hosts. */
    violations: (limit: number | null, vendor = ''): SqlFragment => sql`
      select json_build_object('vid', m.vid, 'pid', m.pid, 'serialNumber', v.serial, 'guiVid', m.vendor,
        'guiPid', coalesce(nullif(m.product, ''), v.product), 'devIcon', v.icon, 'devIconDescription', ${raw(iconNameSql('v.icon'))},
        'agentsCount', v.agents, 'peripheralsCount', v.devices, 'firstSeen', ${utc('v.first_seen')}, 'lastSeen', ${utc('v.last_seen')},
        'enforced', v.enforced, 'isKnownAttackTool', v.tool)::text as row
      from (select d.model_id, p.serial, max(d.product) as product, max(d.icon) as icon, count(distinct p.agent_id) as agents, count(*) as devices,
          min(p.first_seen) as first_seen, max(p.last_seen) as last_seen, bool_or(r.armed) as enforced, bool_or(d.attack_tool > 0) as tool
        from peripherals p join designs d on d.design_id = p.design_id join agent_rows r on r.agent_id = p.agent_id
        where p.unapproved and p.present group by d.model_id, p.serial) v join models m on m.model_id = v.model_id
      ${vendor === '' ? raw('') : sql`where m.model_id in (${modelsOfVendor(vendor)})`}
      order by v.tool desc, v.enforced desc, v.agents desc, m.vid, m.pid, v.serial ${limit === null ? raw('') : sql`limit ${limit}::int`}`,

    /**
     * Selects attached devices that no rule allows and that work on an armed host. Attack tools are left out: they have
     * their own alert.
     */
    usableViolations: (limit: number): SqlFragment => sql`
      select p.agent_id as "agentId", p.device_id as "deviceId", m.vid, m.pid, p.serial, m.vendor,
        coalesce(nullif(m.product, ''), d.product) as product, d.icon, h.policy_due or not r.connected as "isDue"
      from peripherals p join agent_rows r on r.agent_id = p.agent_id and r.armed
        join agent_heartbeats h on h.agent_id = p.agent_id
        join designs d on d.design_id = p.design_id and d.attack_tool = 0 join models m on m.model_id = d.model_id
      where p.unapproved and p.present and p.authorized order by p.agent_id, p.device_id limit ${limit}::int`,

    errors: async (from: Date, to: Date, limit: number, offset: number) => {
      // A computer that is not a host yet is counted under its connection.
      const failures = sql`
        select e.agent_id as id, e.received_at as at, e.message from agent_errors e where e.received_at >= ${from} and e.received_at < ${to}
        union all
        select c.agent_id, c.ended_at, c.title || ': ' || coalesce(nullif(c.message, ''), 'failed') from commands c
          join agents a on a.agent_id = c.agent_id
          where c.state = 'failed' and c.ended_at >= ${from} and c.ended_at < ${to}
        union all
        select coalesce(c.agent_id, c.connection_id), e.received_at, e.message from connection_errors e
          join connections c on c.connection_id = e.connection_id
          where e.received_at >= ${from} and e.received_at < ${to}`
      const [row] = await db.query<{ total: number; agents: number; rows: unknown[] }>(sql`
        with failures as materialized (${failures}),
        counted as materialized (
          select f.id, count(*)::int as n, max(f.at) as last from failures f group by f.id),
        chosen as (
          select c.*, coalesce(a.agent_id::text, '') as uuid, coalesce(a.host, k.computer_name) as host,
            coalesce(a.address, case when left(address_order(k.computer_name), 1) = 'n' then '' else k.computer_name end) as address
          from counted c left join agents a on a.agent_id = c.id left join connections k on k.connection_id = c.id and a.agent_id is null
          order by c.n desc, lower(coalesce(a.host, k.computer_name)), c.id limit ${limit}::int offset ${offset}::bigint)
        select (select count(*) from failures)::int as total, (select count(*) from counted)::int as agents,
          (select coalesce(jsonb_agg(jsonb_build_object('uuid', c.uuid, 'hostIdentifier', c.host, 'localIpAddress', c.address,
              'errorsCount', c.n, 'lastErrorTime', ${utc('c.last')}, 'lastError',
              (select f.message from failures f where f.id = c.id and f.at = c.last limit 1)) order by c.n desc, lower(c.host), c.id), '[]')
            from chosen c) as rows`)
      return { total: row?.total ?? 0, agents: row?.agents ?? 0, rows: row?.rows ?? [] }
    },
  }
}
