import { type Static, Type } from 'typebox'
import { licenseStatuses } from './agents.ts'
import { enumFilter, textFilter, timeFilter } from './filters.ts'
import { closed, listQuery, nullable, operation, page, utcTime } from './operation.ts'

/** Parts of the product that are probed, by the names clients see. */
export const subsystemNames = [
  'database',
  'agent gateway',
  'event processing',
  'job queue',
  'agentless worker',
  'mail',
  'LDAP',
  'ISE',
  'CACT',
  'asset stream',
  'disk',
  'licence',
  'clock',
  'backups',
  'deliveries',
  'knowledge',
  'reports',
  'audit',
] as const
export type SubsystemName = (typeof subsystemNames)[number]

export const healthStatuses = ['OK', 'Warning', 'Error', 'Unknown'] as const
export type HealthStatus = (typeof healthStatuses)[number]
const HealthStatusSchema = Type.Enum([...healthStatuses], {
  description: '`Unknown` = not configured, left out of the overall status.',
})

export const Subsystem = closed({
  name: Type.Enum([...subsystemNames]),
  status: HealthStatusSchema,
  description: Type.String({ description: 'What the probe saw; `Not configured` when there is nothing to probe.' }),
  lastUpdated: utcTime('When it was probed, never over 30 seconds ago.'),
  latencyMs: nullable(Type.Number({ minimum: 0 }), { description: 'What the probe took; `null` when there was none.' }),
  since: nullable(utcTime('Since when it is so'), {
    description: 'Since when it is so, as the history has it; `null` while the history does not say the same.',
  }),
  whatToDo: Type.String({
    description: 'Cause and cure in a sentence or two, or how to configure it; empty when it is in order.',
  }),
})
export type Subsystem = Static<typeof Subsystem>

export const subsystemHealth = operation({
  id: 'subsystemHealth',
  method: 'GET',
  path: '/prime/webui/admin/SubsystemHealth',
  tag: 'Admin',
  summary: 'Tells how each part of the product is',
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

/** Days that changes are kept. */
export const healthHistoryDays = 90

export const HealthChange = closed({
  id: Type.Integer({ minimum: 1 }),
  subsystem: Type.Enum([...subsystemNames]),
  status: HealthStatusSchema,
  previous: HealthStatusSchema,
  at: utcTime('When it became so: the first of the looks that told.'),
  notedAt: utcTime('When it was written down; later than `at` when the database was away.'),
  endedAt: nullable(utcTime('When it became otherwise; `null`: it has not.')),
  description: Type.String({ description: 'What the probe saw.' }),
})
export type HealthChange = Static<typeof HealthChange>

export const healthFilters = {
  subsystem: enumFilter('subsystem', subsystemNames),
  status: enumFilter('status', healthStatuses),
  at: timeFilter('at'),
  fromDate: Type.Optional(Type.String({ maxLength: 64, description: 'Inclusive; what was so then is listed, too.' })),
  toDate: Type.Optional(Type.String({ maxLength: 64, description: 'Inclusive.' })),
  description: textFilter('description'),
}

export const healthHistory = operation({
  id: 'healthHistory',
  method: 'GET',
  path: '/prime/webui/admin/healthhistory',
  tag: 'Admin',
  summary: 'Lists how each part of the product changed, newest first',
  description: `A change counts after two looks in a row, 15 seconds apart; one that gets worse again and again gets better only after ever longer. Kept for ${healthHistoryDays} days.`,
  permission: 'health:read',
  query: closed({ ...healthFilters, ...listQuery }),
  response: page(HealthChange),
  responseKind: 'list',
})

const bytes = (description: string) => Type.Integer({ minimum: 0, description: `${description}, in bytes.` })

export const SystemStatus = closed({
  status: HealthStatusSchema,
  serverTime: utcTime('The clock of the server.'),
  uptimeSeconds: Type.Integer({ minimum: 0, description: 'Since this process started.' }),
  version: Type.String({ description: 'Version of the product.' }),
  licenseStatus: Type.Enum([...licenseStatuses]),
  cpu: closed({
    cores: Type.Integer({ minimum: 1 }),
    loadAverage: Type.Number({ minimum: 0, description: 'Of the machine, over one minute.' }),
    processPercent: Type.Number({ minimum: 0, description: 'Of one core, used by this process since the last call.' }),
  }),
  memory: closed({
    totalBytes: bytes('Memory of the machine'),
    freeBytes: bytes('Memory that can be had'),
    processBytes: bytes('Resident memory of this process'),
  }),
  disk: closed({ totalBytes: bytes('Size of the data volume'), freeBytes: bytes('Free there') }),
  eventLoopDelayMs: Type.Number({ minimum: 0, description: '99th percentile since the last call.' }),
  database: closed({
    status: HealthStatusSchema,
    latencyMs: nullable(Type.Number({ minimum: 0 }), { description: 'Of a bare query.' }),
    sizeBytes: nullable(Type.Integer({ minimum: 0 }), { description: 'Size of the database; `null` when it is away.' }),
  }),
  agents: closed({
    total: Type.Integer({ minimum: 0 }),
    connected: Type.Integer({ minimum: 0, description: 'Checked in within three intervals.' }),
  }),
  checkInsPerSecond: Type.Number({ minimum: 0, description: 'Over the last minute, this process.' }),
  queueDepth: Type.Integer({ minimum: 0, description: 'Reports that wait to be stored, this process.' }),
})
export type SystemStatus = Static<typeof SystemStatus>

export const systemStatus = operation({
  id: 'systemStatus',
  method: 'GET',
  path: '/prime/webui/admin/systemstatus',
  tag: 'Admin',
  summary: 'Tells how the server is',
  permission: 'health:read',
  response: SystemStatus,
  examples: {
    response: {
      status: 'OK',
      serverTime: '2031-05-04T10:11:12.345Z',
      uptimeSeconds: 86400,
      version: '0.1.0',
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
  summary: 'Tells the version of everything',
  permission: 'health:read',
  response: closed({
    version: Type.String({ description: 'Version of the product.' }),
    buildDate: utcTime('Date of the commit, else of the installed files.'),
    commit: Type.String({ description: 'Commit it runs from; `""` when not known.' }),
    nodeVersion: Type.String(),
    databaseVersion: Type.String({ description: 'Version of PostgreSQL.' }),
    schemaVersion: Type.Integer({ minimum: 0, description: 'Number of the newest migration.' }),
  }),
  examples: {
    response: {
      version: '0.1.0',
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
  summary: 'Tells that the process is alive',
  permission: 'public',
  response: Alive,
  examples: { response: { status: 'OK' } },
})

export const readyz = operation({
  id: 'readyz',
  method: 'GET',
  path: '/readyz',
  tag: 'Health',
  summary:
    'Returns 200 when this server can take requests; 503 until the first start has committed, within three seconds of losing the database, and before a stop',
  permission: 'public',
  response: Alive,
  examples: { response: { status: 'OK' } },
})

export const metrics = operation({
  id: 'metrics',
  method: 'GET',
  path: '/metrics',
  tag: 'Health',
  summary: 'Figures for Prometheus',
  description: 'Open to callers on loopback that no proxy forwarded; others need a token.',
  permission: 'metrics:read',
  openOnLoopback: true,
  response: Type.String({ description: 'Prometheus text format 0.0.4.' }),
  responseKind: 'text',
  examples: { response: '# TYPE portcullis_check_ins_total counter\nportcullis_check_ins_total 1200\n' },
})
