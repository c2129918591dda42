import { endFilter, enumFilter, textFilter, timeFilter } from '@portcullis/platform/contract/filters.ts'
import { list } from '@portcullis/platform/contract/list.ts'
import { closed, listQuery, nullable, operation, page, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { licenseStatuses } from '#features/agents/contract/agent-list.ts'
import { subsystemNames } from './subsystem-catalogue.ts'

export const healthStatuses = ['OK', 'Warning', 'Error', 'Unknown'] as const
export type HealthStatus = (typeof healthStatuses)[number]
export const healthStatusLabels: Readonly<Record<HealthStatus, string>> = {
  OK: 'OK',
  Warning: 'Warning',
  Error: 'Error',
  Unknown: 'Not configured',
}
const healthStatus = (options: Record<string, unknown> = {}) =>
  Type.Enum([...healthStatuses], {
    description: '`Unknown`: not configured, and not part of the overall status.',
    'x-labels': healthStatusLabels,
    ...options,
  })
export const HealthStatusSchema = healthStatus()

export const Subsystem = closed({
  name: Type.Enum([...subsystemNames]),
  status: HealthStatusSchema,
  description: Type.String({ description: 'Result of the probe. `Not configured` if there is nothing to probe.' }),
  lastUpdated: utcTime('Time of the probe, at most 30 seconds ago.'),
  latencyMs: nullable(Type.Number({ minimum: 0 }), {
    description: 'Duration of the probe. `null` if nothing was probed.',
  }),
  since: nullable(utcTime('Start of the current status.'), {
    description:
      'Start of the current status, from the health history. `null` if the history does not show this status yet.',
  }),
  whatToDo: Type.String({
    description: 'Cause and cure, or how to configure the subsystem. Empty if its status is `OK`.',
  }),
})
export type Subsystem = Static<typeof Subsystem>

export const subsystemHealth = operation({
  id: 'subsystemHealth',
  method: 'GET',
  path: '/prime/webui/admin/SubsystemHealth',
  tag: 'Admin',
  summary: 'Returns the status of each subsystem',
  permission: 'health:read',
  response: Type.Array(Subsystem),
  examples: {
    response: [
      {
        name: 'database',
        status: 'OK',
        description: 'Answers in 0.4 ms.',
        lastUpdated: '2031-05-04T10:11:12.345Z',
        latencyMs: 0.4,
        since: '2031-05-04T09:00:00.000Z',
        whatToDo: '',
      },
    ],
  },
})

/** Number of days for which the server keeps changes. */
export const healthHistoryDays = 90

export const HealthChange = closed({
  id: Type.Integer({ minimum: 1 }),
  subsystem: Type.Enum([...subsystemNames], { 'x-label': 'Part' }),
  status: healthStatus({ 'x-label': 'New state' }),
  previous: healthStatus({ 'x-label': 'Old state' }),
  at: utcTime('Time of the change: the first probe with the new status.', { 'x-label': 'When' }),
  notedAt: utcTime('Time at which the change was stored. Later than `at` if the database was unavailable.', {
    'x-label': 'Recorded',
  }),
  endedAt: nullable(utcTime('End of this status. `null`: it is the current status.')),
  description: Type.String({ 'x-label': 'Finding', description: 'Result of the probe.' }),
})
export type HealthChange = Static<typeof HealthChange>

export const healthChangeList = list({
  title: 'Health history',
  row: HealthChange,
  filters: {
    subsystem: enumFilter('subsystem', subsystemNames),
    status: enumFilter('status', healthStatuses),
    at: timeFilter('at'),
    fromDate: endFilter(
      'Start of the period, inclusive. A status that began earlier and still applied is included.',
      'From',
    ),
    toDate: endFilter('End of the period, inclusive.', 'To'),
    description: textFilter('description'),
  },
  table: {
    defaultSort: 'at_desc',
    filters: ['subsystem', 'status', 'at', 'description'],
    columns: [
      { id: 'when', of: 'at', width: 208, shown: true, align: 'left', show: 'local' },
      { id: 'part', of: 'subsystem', width: 130, shown: true },
      { id: 'from', of: 'previous', width: 150, shown: true },
      { id: 'to', of: 'status', width: 156, shown: true },
      { id: 'lasted', width: 96, shown: true, title: 'Duration', align: 'right' },
      { id: 'seen', of: 'description', width: 200, grow: true, shown: true },
      { id: 'noted', of: 'notedAt', width: 208, align: 'left', show: 'local' },
    ],
  },
})

export const healthHistory = operation({
  id: 'healthHistory',
  method: 'GET',
  path: '/prime/webui/admin/healthhistory',
  tag: 'Admin',
  summary: 'Lists status changes of the subsystems, newest first',
  description: `The server records a change after two probes in a row, 15 seconds apart. If a status gets worse repeatedly, the server waits longer each time before it records an improvement. Changes are kept for ${healthHistoryDays} days.`,
  permission: 'health:read',
  query: closed({ ...healthChangeList.filters, ...listQuery }),
  response: page(HealthChange),
  responseKind: 'list',
})

const bytes = (description: string) => Type.Integer({ minimum: 0, description: `${description}, in bytes.` })

export const SystemStatus = closed({
  status: HealthStatusSchema,
  serverTime: utcTime('Current time of the server.'),
  uptimeSeconds: Type.Integer({ minimum: 0, description: 'Seconds since this server process started.' }),
  version: Type.String({ description: 'Version of the product.' }),
  licenseStatus: Type.Enum([...licenseStatuses]),
  cpu: closed({
    cores: Type.Integer({ minimum: 1 }),
    loadAverage: Type.Number({ minimum: 0, description: 'Load average of the machine over one minute.' }),
    processPercent: Type.Number({
      minimum: 0,
      description: 'CPU use of this process since the last call, in percent of one core.',
    }),
  }),
  memory: closed({
    totalBytes: bytes('Memory of the machine'),
    freeBytes: bytes('Available memory'),
    processBytes: bytes('Resident memory of this process'),
  }),
  disk: closed({ totalBytes: bytes('Size of the data volume'), freeBytes: bytes('Free space on the data volume') }),
  eventLoopDelayMs: Type.Number({
    minimum: 0,
    description: 'Delay of the event loop since the last call, 99th percentile.',
  }),
  database: closed({
    status: HealthStatusSchema,
    latencyMs: nullable(Type.Number({ minimum: 0 }), {
      description: 'Latency of a minimal query. `null` if the database is unavailable.',
    }),
    sizeBytes: nullable(Type.Integer({ minimum: 0 }), {
      description: 'Size of the database. `null` if it is unavailable.',
    }),
  }),
  agents: closed({
    total: Type.Integer({ minimum: 0 }),
    connected: Type.Integer({ minimum: 0, description: 'Number of hosts that checked in within three intervals.' }),
  }),
  checkInsPerSecond: Type.Number({
    minimum: 0,
    description: 'Check-ins per second of this process, over the last minute.',
  }),
  queueDepth: Type.Integer({ minimum: 0, description: 'Number of reports in this process that wait to be stored.' }),
})
export type SystemStatus = Static<typeof SystemStatus>

export const systemStatus = operation({
  id: 'systemStatus',
  method: 'GET',
  path: '/prime/webui/admin/systemstatus',
  tag: 'Admin',
  summary: 'Returns the status and load of the server',
  permission: 'health:read',
  response: SystemStatus,
  examples: {
    response: {
      status: 'OK',
      serverTime: '2031-05-04T10:11:12.345Z',
      uptimeSeconds: 86400,
      version: '0.2.0',
      licenseStatus: 'Activated',
      cpu: { cores: 4, loadAverage: 0.7, processPercent: 12.5 },
      memory: { totalBytes: 8589934592, freeBytes: 4294967296, processBytes: 157286400 },
      disk: { totalBytes: 107374182400, freeBytes: 64424509440 },
      eventLoopDelayMs: 11.2,
      database: { status: 'OK', latencyMs: 0.4, sizeBytes: 52428800 },
      agents: { total: 1000, connected: 998 },
      checkInsPerSecond: 16.6,
      queueDepth: 0,
    },
  },
})

export const primeVersion = operation({
  id: 'primeVersion',
  method: 'GET',
  path: '/prime/webui/admin/PrimeVersion',
  tag: 'Admin',
  summary: 'Returns the versions of the product, Node.js, PostgreSQL and the schema',
  permission: 'health:read',
  response: closed({
    version: Type.String({ description: 'Version of the product.' }),
    buildDate: utcTime('Date of the commit, or of the installed files if there is no commit.'),
    commit: Type.String({ description: 'Commit that the server was built from. Empty if unknown.' }),
    nodeVersion: Type.String(),
    databaseVersion: Type.String({ description: 'Version of PostgreSQL.' }),
    schemaVersion: Type.Integer({ minimum: 0, description: 'Number of the newest migration.' }),
  }),
  examples: {
    response: {
      version: '0.2.0',
      buildDate: '2031-05-01T09:00:00.000Z',
      commit: '4f2a9c1b7d3e',
      nodeVersion: '24.21.0',
      databaseVersion: '18.4',
      schemaVersion: 10,
    },
  },
})

const Alive = closed({ status: Type.Literal('OK') })

export const healthz = operation({
  id: 'healthz',
  method: 'GET',
  path: '/healthz',
  tag: 'Health',
  summary: 'Returns 200 while the process is alive',
  permission: 'public',
  response: Alive,
  examples: { response: { status: 'OK' } },
})

export const readyz = operation({
  id: 'readyz',
  method: 'GET',
  path: '/readyz',
  tag: 'Health',
  summary: 'Returns 200 while this server can take requests',
  description:
    'Returns 503 until the first start has committed, within three seconds after the database becomes unavailable, and before the server stops.',
  permission: 'public',
  response: Alive,
  examples: { response: { status: 'OK' } },
})

export const metrics = operation({
  id: 'metrics',
  method: 'GET',
  path: '/metrics',
  tag: 'Health',
  summary: 'Returns metrics for Prometheus',
  description:
    'Needs no token from the same machine if the server listens on a loopback address only, without a public address, proxy or balancer. Otherwise needs a token.',
  permission: 'metrics:read',
  openOnLoopback: true,
  response: Type.String({ description: 'Prometheus text format 0.0.4.' }),
  responseKind: 'text',
  examples: { response: '# TYPE portcullis_check_ins_total counter\nportcullis_check_ins_total 1200\n' },
})
