/** All parts of the proof: what each shows, its checks, and the paths whose changes make its result stale. */

export type Page = 'bench' | 'drill' | 'gate'

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
  gate('audit', 'Every change of a recorded audit trail is found.', 'audit', [
    'gate/audit.ts',
    'domain/src/audit-verify.ts',
    'domain/src/audit-chain.ts',
    'domain/src/audit-checkpoint.ts',
    'features/audit/server',
  ]),
  gate('availability', 'A flood does not make the server refuse other clients.', 'availability', [
    'gate/availability.ts',
    'features/ingest/server',
    'features/identity/server/accounts',
    http,
  ]),
  gate('secrets', 'No output returns a secret that was entered.', 'canaries', [
    'gate/canaries.ts',
    'features/settings/server',
    'features/identity/server/accounts',
    'server/src/entry/doctor',
    http,
    contract,
  ]),
  gate('input', 'No request, file or pattern crashes or blocks the server.', 'fuzz uploads redos', [
    'gate/fuzz.ts',
    'gate/uploads.ts',
    'gate/redos.ts',
    http,
    contract,
  ]),
  gate(
    'injection',
    'No output and no statement executes text of a host or client.',
    'hostile-strings sql-injection sources',
    [
      'gate/hostile-strings.ts',
      'gate/sql-injection.ts',
      'gate/sources.ts',
      'domain/src/text.ts',
      'domain/src/siem',
      'platform/server/csv.ts',
      'platform/server/list',
      'features/reports/server/exports',
      contract,
    ],
  ),
  gate('credentials', 'A guessed, forged or revoked credential gives no access.', 'sign-in tokens', [
    'gate/sign-in.ts',
    'gate/tokens.ts',
    'features/identity/server/accounts',
    'platform/server/http/authorise.ts',
  ]),
  gate(
    'lying-devices',
    'A device that claims to be of another kind sends and stores nothing on an armed host.',
    'lying-devices',
    [
      'gate/lying-devices.ts',
      'agent/src/enforcement',
      'agent/src/platform/linux',
      'domain/src/policy.ts',
      'domain/src/drivers.ts',
    ],
  ),

  drill('server-ends', 'A killed or stopped server loses and repeats nothing that it acknowledged.', 'D1 D2', [
    'drill/kill-server.ts',
    'drill/stop-server.ts',
    'platform/server/http/lifecycle.ts',
    'server/src/entry/serve.ts',
    ...checkIns,
  ]),
  drill('database-fails', 'A killed or frozen database loses nothing, and no request hangs.', 'D3 D4', [
    'drill/kill-database.ts',
    'drill/pause-database.ts',
    postgres,
    ...checkIns,
  ]),
  drill('full-disk', 'A full disk loses nothing, and the server recovers without a restart.', 'D5', [
    'drill/full-disk.ts',
    'features/health/server',
    postgres,
    ...checkIns,
  ]),
  drill('power-loss', 'A power loss of server and database loses nothing that was acknowledged.', 'D19', [
    'drill/power-loss.ts',
    postgres,
    ...checkIns,
  ]),
  drill('polls', 'Crashed and slow workers poll each host once and store nothing twice.', 'D6', [
    'drill/kill-worker.ts',
    ...agentless,
  ]),
  drill('order', 'Late, repeated and wrongly dated reports never change what is attached.', 'D7 D8', [
    'drill/late-reports.ts',
    'drill/clock-skew.ts',
    'features/ingest/server',
  ]),
  drill('connections', 'Slow and idle clients cost little memory and hardly delay others.', 'D9 D10', [
    'drill/slow-clients.ts',
    'drill/idle-connections.ts',
    'features/ingest/server/wake.ts',
    http,
  ]),
  drill('receivers', 'Receivers of events that fail lose nothing and do not slow check-ins.', 'D11', [
    'drill/broken-peers.ts',
    'drill/broken-broker.ts',
    'features/deliveries/server',
    'features/assets/server',
    'features/alerts/server',
    'platform/server/syslog',
  ]),
  drill('replicas', 'Restarts of replicas fail no request, and a promoted standby has every report.', 'D12 failover', [
    'drill/rolling-restart.ts',
    'drill/failover.ts',
    'platform/server/failover',
    'platform/server/http/lifecycle.ts',
    'server/src/entry/serve.ts',
    db,
  ]),
  drill('upgrade', 'A release and its packages replace the earlier one without a failed request.', 'D13 install', [
    'drill/upgrade.ts',
    'drill/upgraded-operators.ts',
    'drill/install.ts',
    'server/migrations',
    'platform/server/db/migrate.ts',
    'scripts/release',
  ]),
  drill('backup', 'A restored server has every record of the backup, and its hosts resume.', 'D14', [
    'drill/restore-backup.ts',
    'platform/server/backup',
    'server/migrations',
  ]),
  drill('command-key', 'A rotated command key reaches all agents, and a forged one none.', 'rotate-command-key', [
    'drill/rotate-command-key.ts',
    'domain/src/command-key.ts',
    'agent/src/command-keys.ts',
    'platform/server/command-keys.ts',
  ]),
  drill('soak', 'A working server leaks neither memory nor handles.', 'D15', [
    'drill/soak.ts',
    'server/src',
    'platform/server',
    'features',
  ]),
  drill('overload', 'Large jobs and the return of a whole fleet leave the server responsive.', 'D16 D17', [
    'drill/busy-event-loop.ts',
    'drill/thundering-herd.ts',
    'features/reports/server/exports',
    'features/commands/server',
    http,
    ...checkIns,
  ]),
  drill('thrown-errors', 'An unexpected error fails one request and nothing else.', 'D18', [
    'drill/thrown-errors.ts',
    'platform/server',
  ]),

  ofFleet('lists', 'Lists, large pages and insights stay fast as the fleet grows.', 'list page insights mixed', [
    'bench/list.ts',
    'bench/page.ts',
    'bench/insights.ts',
    'bench/mixed.ts',
    'features/devices/server/insights',
    ...lists,
  ]),
  ofFleet('console', 'Pages of the console open within a second.', 'console', [
    'bench/console.ts',
    'console',
    ...lists,
  ]),
  ofFleet('export', 'Exports are as fast as the database and need little memory.', 'export', [
    'bench/export.ts',
    'features/reports/server/exports',
    ...lists,
  ]),
  ofFleet('check-in', 'One core takes the check-ins of a large fleet.', 'check-in', [
    'bench/check-in.ts',
    'platform/server/tls',
    http,
    ...checkIns,
  ]),
  ofFleet('replicas', 'A second replica costs little.', 'replicas', ['bench/replicas.ts', http, ...checkIns]),
  ofFleet('commands', 'Commands and new knowledge reach all hosts in time.', 'command rejudge', [
    'bench/command.ts',
    'bench/rejudge.ts',
    'features/commands/server',
    'features/hosts/server/bulk',
    'features/knowledge/server',
    'features/devices/server',
  ]),
  bench(
    'agentless',
    'One worker polls 1,000 hosts a minute for less than a plain SSH command costs.',
    'poll agentless',
    ['bench/poll.ts', 'bench/agentless.ts', ...agentless],
  ),
  bench('feeds', 'The lines of event feeds are read and stored fast.', 'feeds', [
    'bench/feeds.ts',
    'features/feeds/server',
  ]),
  bench('platforms', 'Windows hosts cost the server about as much as Linux hosts.', 'platforms', [
    'bench/platforms.ts',
    'domain/src/platforms',
    'features/ingest/server',
  ]),
  bench('windows', 'The agent for Windows is fast and small.', 'windows', ['bench/windows.ts', 'agent/src']),
  bench(
    'kernel',
    'An armed host hardly delays an allowed device, and lets no keystroke of another device through.',
    'kernel',
    ['bench/kernel.ts', 'agent/src/enforcement', 'agent/src/platform/linux'],
  ),
  bench('idle', 'An idle server is small and starts within seconds.', 'memory start', [
    'bench/memory.ts',
    'bench/start.ts',
    'server/src/entry',
    'platform/server/idle-memory.ts',
    postgres,
  ]),
  bench('strangers', 'Clients that hold connections hardly delay others.', 'strangers', ['bench/strangers.ts', http]),
  bench('notices', 'Events become alerts and reach a SIEM faster than they occur.', 'notices', [
    'bench/notices.ts',
    'features/alerts/server',
    'features/deliveries/server',
    'platform/server/syslog',
  ]),
  bench('devices', 'Attack tools are found, and ordinary devices are not mistaken for them.', 'devices', [
    'scripts/devices',
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
    ? { program: 'scripts/measure-devices.ts', args: [] }
    : { program: `${page}/main.ts`, args: [...checks, ...(isQuick ? ['--quick'] : [])] }
