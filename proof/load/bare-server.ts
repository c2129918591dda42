/**
 * Serves as the peer of the list benchmark: Node's http and pg with hand-written SQL for these tables. It imports
 * nothing from the product and runs as a separate process.
 */
import { createServer } from 'node:http'
import pg from 'pg'

const maxAgeMs = 1_000
const pool = new pg.Pool({ ...JSON.parse(process.argv[2] ?? '{}'), max: 12 })
pool.on('error', () => {})
const counts = new Map<string, { at: number; n: Promise<number> }>()

const status = `case when not r.connected then 'Disconnected' when r.license <> 3
  then (array['Pending', 'Expired', 'Invalid', 'Activated'])[r.license + 1] when r.armed then 'Armed' else 'Free' end`
const findings = `case when r.vulnerable and r.violation then 'Vulnerable,WLV' when r.vulnerable then 'Vulnerable'
  when r.violation then 'WLV' else '' end`

const columns = `a.host as "hostIdentifier", a.address as "localIpAddress", a.agent_id as "uuid", r.armed, r.connected,
  r.approved_present, r.approved_gone, r.not_approved, a.latest_events, a.version as "serviceVersion", h.last_seen,
  r.license, r.expiration, r.last_configured, (select account_id from licence_state) as "licenseAccountId",
  (select account_name from licence_state) as "licenseAccountName", r.severity, r.unapproved, r.vulnerable, r.attack_tool,
  ${status} as status, h.has_commands as in_action, a.pc_model, a.nics_text, ${findings} as findings, a.os_name as "osVersion",
  r.ethernets, r.tags, r.agentless, r.risk, h.skew_seconds, r.first_seen`

const from = `agents a join agent_rows r on r.agent_id = a.agent_id join agent_heartbeats h on h.agent_id = a.agent_id`

const sorts: Readonly<Record<string, string>> = {
  hostIdentifier: 'r.host',
  localIpAddress: 'r.address::inet',
  uuid: 'r.agent_id',
  operationalStatus: 'r.armed',
  connectionStatus: 'r.connected',
  displayStatusCombined: status,
  approvedAndPresent: 'r.approved_present',
  approvedAndDisconnected: 'r.approved_gone',
  notApproved: 'r.not_approved',
  serviceVersion: 'lower(a.version)',
  lastUpdated: 'h.last_seen',
  licenseStatus: 'r.license',
  expirationDate: 'r.expiration',
  lastConfiguered: 'r.last_configured',
  severity: 'r.severity',
  hasUnapprovedPeripherals: 'r.unapproved',
  hasVulnerablePeripherals: 'r.vulnerable',
  hasKnownAttackTools: 'r.attack_tool',
  inAction: 'h.has_commands',
  containsVulnerablePeripheralOrWLV: findings,
  osVersion: 'lower(a.os_name)',
  ethernetsCount: 'r.ethernets',
  hashtags: 'r.tags',
  deploymentMode: 'r.agentless',
  riskScore: 'r.risk',
  firstSeen: 'r.first_seen',
}

const choices: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  Status: {
    Disconnected: 'not r.connected',
    Connected: 'r.connected',
    Armed: 'r.armed',
    Pending: 'r.connected and r.license = 0',
  },
  License: { Invalid: 'r.license = 2' },
  DeploymentMode: { Agentless: 'r.agentless' },
  ContainsVulnerablePeripheralOrWLV: { Vulnerable: 'r.vulnerable', WLV: 'r.violation' },
  HasKnownAttackTools: { true: 'r.attack_tool' },
  HasVulnerablePeripherals: { true: 'r.vulnerable' },
}

type Put = (value: unknown) => string

const contains = (text: string): string => `%${text.toLowerCase().replaceAll(/[%_\\]/g, '\\$&')}%`

const filters: Readonly<Record<string, (value: string, put: Put) => string>> = {
  GlobalSearch: (value, put) =>
    `exists (select from agent_search s where s.agent_id = a.agent_id and s.search like ${put(contains(value))})`,
  Hashtags: (value, put) =>
    `exists (select from agent_tags x join tags t using (tag_id) where x.agent_id = a.agent_id
      and t.folded = any(${put(value.toLowerCase().split(','))}::text[]))`,
  HostIdentifier: (value, put) => `r.host like ${put(contains(value))}`,
  IpAddress: (value, put) => `r.address like ${put(contains(value))}`,
  Version: (value, put) => `lower(a.version) like ${put(contains(value))}`,
  OsVersion: (value, put) => `lower(a.os_name) like ${put(contains(value))}`,
  Severity: (value, put) =>
    value.startsWith('>=') ? `r.severity >= ${put(Number(value.slice(2)))}` : `r.severity = ${put(Number(value))}`,
  LastUpdated: (value, put) => `h.last_seen < ${put(value.slice(2))}::timestamptz`,
  LastConfiguration: (value, put) => `r.last_configured >= ${put(value.slice(0, -2))}::timestamptz`,
}

const whereOf = (query: URLSearchParams, put: Put): string => {
  const conditions = [...query].flatMap(([name, value]) => {
    const choice = choices[name]
    if (choice !== undefined)
      return [
        `(${value
          .split(',')
          .map((one) => `(${choice[one]})`)
          .join(' or ')})`,
      ]
    return filters[name] === undefined ? [] : [filters[name](value, put)]
  })
  return conditions.length === 0 ? 'true' : conditions.join(' and ')
}

const orderOf = (sortBy: string | null): string => {
  const [key = '', direction = 'asc'] = sortBy?.split('_') ?? []
  return sortBy === null ? 'r.severity desc, r.host, r.agent_id' : `${sorts[key]} ${direction}, r.agent_id ${direction}`
}

/** Caches a count for up to one second, as the product does. */
const count = (where: string, values: readonly unknown[]): Promise<number> => {
  const key = JSON.stringify([where, values])
  const known = counts.get(key)
  if (known !== undefined && performance.now() - known.at < maxAgeMs) return known.n
  const tables = where === 'true' ? 'agents a' : from
  const n = pool
    .query(`select count(*)::int as n from ${tables} where ${where}`, [...values])
    .then(({ rows }) => Number(rows[0]?.n))
  counts.set(key, { at: performance.now(), n })
  return n
}

const page = async (url: URL): Promise<string> => {
  const query = url.searchParams
  const values: unknown[] = []
  const where = whereOf(query, (value) => `$${values.push(value)}`)
  const limit = Number(query.get('PageSize') ?? 50)
  const offset = (Number(query.get('PageNumber') ?? 1) - 1) * limit
  const total = await count('true', [])
  const filtered = where === 'true' ? total : await count(where, values)
  const { rows } = await pool.query(
    `select ${columns} from ${from} where ${where} order by ${orderOf(query.get('SortBy'))} limit ${limit} offset ${offset}`,
    values,
  )
  return JSON.stringify({ recordsTotal: total, recordsFiltered: filtered, data: rows })
}

const server = createServer((request, response) => {
  page(new URL(request.url ?? '/', 'http://bare')).then(
    (text) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      response.end(text)
    },
    (error: Error) => {
      response.writeHead(500)
      response.end(error.message)
    },
  )
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`)
})
process.once('disconnect', () => process.exit(0))
