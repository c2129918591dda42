/**
 * Serves the default page of the agents list as the peer of its benchmark: Node's http and pg with hand-written SQL. It
 * imports nothing from the product and runs as a separate process.
 */
import { createServer } from 'node:http'
import pg from 'pg'

const maxAgeMs = 1_000
const pool = new pg.Pool({ ...JSON.parse(process.argv[2] ?? '{}'), max: 12 })
pool.on('error', () => {})

const page = `select a.host as "hostIdentifier", a.address as "localIpAddress", a.agent_id as "uuid", r.armed, r.connected,
  r.approved_present, r.approved_gone, r.not_approved, a.latest_events, a.version as "serviceVersion", h.last_seen,
  r.license, r.expiration, r.last_configured, (select account_id from licence_state) as "licenseAccountId",
  (select account_name from licence_state) as "licenseAccountName", r.severity, r.unapproved, r.vulnerable, r.attack_tool,
  case when not r.connected then 'Disconnected' when r.license <> 3
    then (array['Pending', 'Expired', 'Invalid', 'Activated'])[r.license + 1] when r.armed then 'Armed' else 'Free' end as status,
  case when r.vulnerable and r.violation then 'Vulnerable,WLV' when r.vulnerable then 'Vulnerable'
    when r.violation then 'WLV' else '' end as findings, h.has_commands as in_action, a.pc_model, a.nics_text,
  a.os_name as "osVersion", r.ethernets, r.tags, r.agentless, r.risk, h.skew_seconds, r.first_seen
  from agents a join agent_rows r on r.agent_id = a.agent_id join agent_heartbeats h on h.agent_id = a.agent_id
  order by r.severity desc, r.host, r.agent_id limit 50`

/** Cached for one second, as in the product. */
let counted = { at: Number.NEGATIVE_INFINITY, n: Promise.resolve(0) }
const count = (): Promise<number> => {
  if (performance.now() - counted.at >= maxAgeMs) {
    const n = pool.query('select count(*)::int as n from agents').then(({ rows }) => Number(rows[0]?.n))
    counted = { at: performance.now(), n }
  }
  return counted.n
}

const server = createServer(async (_request, response) => {
  const answer = async (): Promise<[number, string]> => {
    const total = await count()
    const { rows } = await pool.query(page)
    return [200, JSON.stringify({ recordsTotal: total, recordsFiltered: total, data: rows })]
  }
  const [status, text] = await answer().catch((error: Error): [number, string] => [500, error.message])
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
  response.end(text)
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`)
})
process.once('disconnect', () => process.exit(0))
