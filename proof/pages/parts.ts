/** All parts of the proof: what each shows, its checks, and the paths whose changes make its result stale. */

export type Page = 'bench' | 'drill' | 'gate'

const folderOf = { bench: 'load', drill: 'failure', gate: 'attack' } as const

export interface Part {
  /** The page and the topic, such as `drill/backup`. */
  name: string
  page: Page
  /** What it shows, in one sentence. */
  shows: string
  /** Names of checks on the command line. Each of them gives a result. */
  checks: readonly string[]
  /** Files and folders that decide the result. If their content changes, the result is stale. */
  inputs: readonly string[]
  /** True for benchmarks that measure a fleet of each size. */
  isOfFleet: boolean
}

export const fleetSizes = [10_000, 100_000, 1_000_000] as const

const page = (name: Page) => (topic: string, shows: string, checks: string, inputs: readonly string[]) => ({
  name: `${name}/${topic}`,
  page: name,
  shows,
  checks: checks.split(' '),
  inputs,
  isOfFleet: false,
})
const [bench, drill, gate] = [page('bench'), page('drill'), page('gate')]
const ofFleet = (...given: Parameters<typeof bench>): Part => ({ ...bench(...given), isOfFleet: true })

const [db, http, postgres] = ['platform/server/db', 'platform/server/http', 'platform/server/postgres']
const lists = ['platform/server/list', 'features/agents/server', db, 'server/migrations']
const checkIns = ['features/ingest/server', 'features/agents/server', db, 'server/migrations']
const agentless = ['poller', 'features/agentless/server']
const contract = 'features'

/** All parts, in run order. */
export const parts: readonly Part[] = [
  gate('availability', 'A flood does not make the server refuse other clients.', 'availability', [
    'proof/attack/availability.ts',
    'proof/kit/working-fleet.ts',
    'proof/kit/attackers.ts',
    'features/ingest/server',
    'features/identity/server/accounts',
    http,
  ]),
  gate('secrets', 'No output returns a secret that was entered.', 'canaries', [
    'proof/attack/canaries.ts',
    'features/settings/server',
    'features/identity/server/accounts',
    'server/src/entry/doctor',
    http,
    contract,
  ]),
  gate('input', 'No request, file or pattern crashes or blocks the server.', 'fuzz uploads redos', [
    'proof/attack/fuzz.ts',
    'proof/attack/uploads.ts',
    'proof/attack/redos.ts',
    http,
    contract,
  ]),
  gate('injection', 'No output and no statement executes text of a host or client.', 'hostile-strings sql-injection', [
    'proof/attack/hostile-strings.ts',
    'proof/attack/sql-injection.ts',
    'domain/src/text.ts',
    'features/deliveries/server/siem',
    'platform/server/csv.ts',
    'platform/server/list',
    'features/reports/server/exports',
    contract,
  ]),
  gate('credentials', 'No refusal of a sign-in reveals which accounts exist.', 'sign-in', [
    'proof/attack/sign-in.ts',
    'features/identity/server/accounts',
    'platform/server/http/authorise.ts',
  ]),
  drill('server-ends', 'A killed or stopped server loses and repeats nothing that it acknowledged.', 'D1 D2', [
    'proof/failure/kill-server.ts',
    'proof/failure/stop-server.ts',
    'platform/server/http/lifecycle.ts',
    'server/src/entry/serve.ts',
    ...checkIns,
  ]),
  drill('database-fails', 'A killed or frozen database loses nothing, and no request hangs.', 'D3 D4', [
    'proof/failure/kill-database.ts',
    'proof/failure/pause-database.ts',
    postgres,
    ...checkIns,
  ]),
  drill('full-disk', 'A full disk loses nothing, and the server recovers without a restart.', 'D5', [
    'proof/failure/full-disk.ts',
    'features/health/server',
    postgres,
    ...checkIns,
  ]),
  drill('power-loss', 'A power loss of server and database loses nothing that was acknowledged.', 'D19', [
    'proof/failure/power-loss.ts',
    postgres,
    ...checkIns,
  ]),
  drill('polls', 'Crashed and slow workers poll each host once and store nothing twice.', 'D6', [
    'proof/failure/kill-worker.ts',
    ...agentless,
  ]),
  drill('connections', 'Slow and idle clients cost little memory and hardly delay others.', 'D9 D10', [
    'proof/failure/slow-clients.ts',
    'proof/failure/idle-connections.ts',
    'features/ingest/server/wake.ts',
    http,
  ]),
  drill('receivers', 'Receivers of events that fail lose nothing and do not slow check-ins.', 'D11', [
    'proof/failure/broken-peers.ts',
    'proof/failure/broken-broker.ts',
    'features/deliveries/server',
    'features/assets/server',
    'features/alerts/server',
    'platform/server/syslog',
  ]),
  drill('replicas', 'Restarts of replicas fail no request, and a promoted standby has every report.', 'D12 failover', [
    'proof/failure/rolling-restart.ts',
    'proof/failure/failover.ts',
    'platform/server/failover',
    'platform/server/http/lifecycle.ts',
    'server/src/entry/serve.ts',
    db,
  ]),
  drill('upgrade', 'A release and its packages replace the earlier one without a failed request.', 'D13 install', [
    'proof/failure/upgrade.ts',
    'proof/failure/upgraded-operators.ts',
    'proof/failure/install.ts',
    'server/migrations',
    'platform/server/db/migrate.ts',
    'scripts/release',
  ]),
  drill('backup', 'A restored server has every record of the backup, and its hosts resume.', 'D14', [
    'proof/failure/restore-backup.ts',
    'platform/server/backup',
    'server/migrations',
  ]),
  drill('soak', 'A working server leaks neither memory nor handles.', 'D15', [
    'proof/failure/soak.ts',
    'server/src',
    'platform/server',
    'features',
  ]),
  drill('overload', 'Large jobs and the return of a whole fleet leave the server responsive.', 'D16 D17', [
    'proof/failure/busy-event-loop.ts',
    'proof/failure/thundering-herd.ts',
    'features/reports/server/exports',
    'features/commands/server',
    http,
    ...checkIns,
  ]),
  drill('thrown-errors', 'An unexpected error fails one request and nothing else.', 'D18', [
    'proof/failure/thrown-errors.ts',
    'platform/server',
  ]),

  ofFleet('lists', 'Lists, large pages and insights stay fast as the fleet grows.', 'list page insights mixed', [
    'proof/load/list.ts',
    'proof/load/page.ts',
    'proof/load/insights.ts',
    'proof/load/mixed.ts',
    'features/devices/server/insights',
    ...lists,
  ]),
  ofFleet('console', 'Pages of the console open within a second.', 'console', [
    'proof/load/console.ts',
    'console',
    ...lists,
  ]),
  ofFleet('export', 'Exports are as fast as the database and need little memory.', 'export', [
    'proof/load/export.ts',
    'features/reports/server/exports',
    ...lists,
  ]),
  ofFleet('check-in', 'One core takes the check-ins of a large fleet.', 'check-in', [
    'proof/load/check-in.ts',
    'platform/server/tls',
    http,
    ...checkIns,
  ]),
  ofFleet('replicas', 'A second replica costs little.', 'replicas', ['proof/load/replicas.ts', http, ...checkIns]),
  ofFleet('commands', 'Commands and new knowledge reach all hosts in time.', 'command rejudge', [
    'proof/load/command.ts',
    'proof/load/reevaluation.ts',
    'features/commands/server',
    'features/hosts/server/bulk',
    'features/knowledge/server',
    'features/devices/server',
  ]),
  bench('agentless', 'One worker polls 1,000 hosts a minute for less than a plain SSH command costs.', 'agentless', [
    'proof/load/agentless.ts',
    ...agentless,
  ]),
  bench('feeds', 'The lines of event feeds are read and stored fast.', 'feeds', [
    'proof/load/feeds.ts',
    'features/feeds/server',
  ]),
  bench('platforms', 'Windows hosts cost the server about as much as Linux hosts.', 'platforms', [
    'proof/load/platforms.ts',
    'domain/src/platforms',
    'features/ingest/server',
  ]),
  bench('windows', 'The agent for Windows is fast and small.', 'windows', ['proof/load/windows.ts', 'agent/src']),
  bench('idle', 'An idle server is small and starts within seconds.', 'memory start', [
    'proof/load/memory.ts',
    'proof/load/start.ts',
    'server/src/entry',
    'platform/server/idle-memory.ts',
    postgres,
  ]),
  bench('strangers', 'Clients that hold connections hardly delay others.', 'strangers', [
    'proof/load/strangers.ts',
    'proof/kit/working-fleet.ts',
    'proof/kit/attackers.ts',
    http,
  ]),
  bench('notices', 'Events become alerts and reach a SIEM faster than they occur.', 'notices', [
    'proof/load/alerts.ts',
    'features/alerts/server',
    'features/deliveries/server',
    'platform/server/syslog',
  ]),
  bench('devices', 'Attack tools are found, and ordinary devices are not mistaken for them.', 'devices', [
    'proof/devices',
    'domain/src/attack-tools.ts',
    'domain/src/classify.ts',
    'domain/src/knowledge.ts',
    'knowledge',
  ]),
]

/** Finds parts by name or by page, such as `drill`. */
export const partsNamed = (names: readonly string[]): { found: readonly Part[]; unknown: string[] } => ({
  found: names.length === 0 ? parts : parts.filter(({ name, page }) => names.includes(name) || names.includes(page)),
  unknown: names.filter((one) => !parts.some(({ name, page }) => one === name || one === page)),
})

/** Returns the program of a part and its arguments, without the seed and the result file. */
export const commandOf = ({ name, page, checks }: Part, isQuick: boolean): { program: string; args: string[] } =>
  name === 'bench/devices'
    ? { program: 'proof/measure-devices.ts', args: [] }
    : { program: `proof/${folderOf[page]}/main.ts`, args: [...checks, ...(isQuick ? ['--quick'] : [])] }
