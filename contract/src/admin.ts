import { type Static, Type } from 'typebox'
import { AccountView, imageLimit, LicenseSummary, ProfileNumber, userNameLimits } from './accounts.ts'
import { licenseStatuses } from './agents.ts'
import { SessionView } from './auth.ts'
import { BulkResult, closed, nullable, operation, utcTime } from './operation.ts'

export * from './accounts.ts'

// --- Accounts --------------------------------------------------------------------------------------------------------

const text = (maxLength: number, description: string) =>
  Type.Optional(nullable(Type.String({ maxLength, pattern: '^[^\\p{Cc}]*$' }), { description }))

const personal = {
  firstName: text(254, 'Absent = unchanged; `null` = `""`.'),
  lastName: text(254, 'Absent = unchanged; `null` = `""`.'),
  email: Type.Optional(
    nullable(
      Type.String({ maxLength: 254, pattern: '^$|^[^\\s\\p{Cc}@<>(),;:"\\\\\\[\\]]+@[^\\s\\p{Cc}@<>(),;:"\\\\]+$' }),
      { description: 'One address, or `""`.' },
    ),
  ),
  phone: text(64, 'Absent = unchanged.'),
  image: Type.Optional(
    nullable(Type.String({ maxLength: imageLimit }), {
      description: 'Data URI of a png, jpeg or webp picture, at most 256 KiB; `""` or `null` removes it.',
    }),
  ),
}

/** Read-only members: accepted and ignored, so that an object that was read can be sent back. */
const readOnly = {
  authSource: Type.Optional(Type.Unknown({ description: 'Read-only: ignored.' })),
  mfaEnabled: Type.Optional(Type.Unknown({ description: 'Read-only: ignored.' })),
  lastSignIn: Type.Optional(Type.Unknown({ description: 'Read-only: ignored.' })),
  createdAt: Type.Optional(Type.Unknown({ description: 'Read-only: ignored.' })),
}

const userName = Type.String({
  minLength: userNameLimits.min,
  maxLength: userNameLimits.max,
  // No control characters, no blanks at the ends.
  pattern: '^[^\\s\\p{Cc}](?:[^\\p{Cc}]*[^\\s\\p{Cc}])?$',
  description: '1 to 254 characters, no control characters, no blanks at its ends; compared without case.',
})

const changeable = {
  password: Type.Optional(
    nullable(Type.String({ maxLength: 1024 }), { description: '12 to 128 characters; absent or `null` = none given.' }),
  ),
  ...personal,
  isEnabled: Type.Optional(nullable(Type.Boolean(), { description: 'Default true.' })),
  mustChangePassword: Type.Optional(nullable(Type.Boolean(), { description: 'Default false.' })),
  ...readOnly,
}

/** AccountViewResource as adduser takes it. */
export const NewAccount = closed({ userName, userProfile: ProfileNumber, ...changeable })
export type NewAccount = Static<typeof NewAccount>

/** AccountViewResource as updateuser takes it: an absent member is unchanged. */
export const AccountChange = closed({
  userName,
  userProfile: Type.Optional(nullable(ProfileNumber, { description: 'Absent or `null` = unchanged.' })),
  ...changeable,
})
export type AccountChange = Static<typeof AccountChange>

/** MyAccountUpdateResource. */
export const MyAccountUpdate = closed({
  ...personal,
  oldPassword: Type.Optional(nullable(Type.String({ maxLength: 1024 }), { description: 'Needed with newPassword.' })),
  newPassword: Type.Optional(nullable(Type.String({ maxLength: 1024 }), { description: 'Absent or `null` = keep.' })),
})
export type MyAccountUpdate = Static<typeof MyAccountUpdate>

const accountExample = {
  userName: 'ada',
  password: null,
  userProfile: 30,
  firstName: 'Ada',
  lastName: 'Keller',
  email: 'ada@example.org',
  phone: null,
  image: '',
  authSource: 'Local',
  isEnabled: true,
  mfaEnabled: false,
  mustChangePassword: false,
  lastSignIn: null,
  createdAt: '2031-05-04T10:11:12.345Z',
} as const

export const getAllUsers = operation({
  id: 'getAllUsers',
  method: 'GET',
  path: '/prime/webui/admin/all',
  tag: 'Admin',
  summary: 'Lists all accounts, sorted by userName',
  permission: 'accounts:read',
  response: Type.Array(AccountView),
  examples: { response: [accountExample] },
})

export const getUserDetails = operation({
  id: 'getUserDetails',
  method: 'GET',
  path: '/prime/webui/admin/getuserdetails',
  tag: 'Admin',
  summary: 'Reads the own account',
  permission: 'self:read',
  response: AccountView,
  examples: { response: accountExample },
})

export const getProfile = operation({
  id: 'getProfile',
  method: 'GET',
  path: '/prime/webui/admin/profile',
  tag: 'Admin',
  summary: 'Tells a console what it needs to draw itself',
  permission: 'self:read',
  response: closed({
    account: AccountView,
    permissions: Type.Array(Type.String(), {
      description: 'What the caller may do, by the names of the permission table.',
    }),
    navigation: closed({ startPage: Type.String({ description: 'Where the console opens.' }) }),
    license: LicenseSummary,
    sessions: Type.Array(SessionView, { description: 'The own sessions, newest first.' }),
  }),
  examples: {
    response: {
      account: accountExample,
      permissions: ['fleet:read', 'self:read', 'self:write'],
      navigation: { startPage: '/' },
      license: { primeAccountName: 'Community', licenseStatus: 'Activated' },
      sessions: [],
    },
  },
})

export const addUser = operation({
  id: 'addUser',
  method: 'POST',
  path: '/prime/webui/admin/adduser',
  tag: 'Admin',
  summary: 'Makes an account',
  description:
    'Needs userName and userProfile. A Manager makes accounts of profile User only. Without a password the answer has a one-time link by which its owner sets one.',
  permission: 'accounts:write',
  body: NewAccount,
  response: closed({
    ...AccountView.properties,
    setPasswordUrl: nullable(Type.String(), {
      description: 'One-time link, shown once; `null` when a password was given.',
    }),
    setPasswordExpiresAt: nullable(utcTime('When the link ends.'), { description: 'When the link ends.' }),
  }),
  errors: ['forbidden_object', 'conflict', 'password_rejected'],
  examples: {
    request: { userName: 'ada', userProfile: 30, firstName: 'Ada', lastName: 'Keller', email: 'ada@example.org' },
    response: {
      ...accountExample,
      setPasswordUrl: 'https://portcullis.example.org/set-password#token=pl_8Zl0m2Yb3x6oRkqv1nB4cQ',
      setPasswordExpiresAt: '2031-05-06T10:11:12.345Z',
    },
  },
})

export const updateUser = operation({
  id: 'updateUser',
  method: 'POST',
  path: '/prime/webui/admin/updateuser',
  tag: 'Admin',
  summary: 'Changes an account',
  description:
    'Absent members are unchanged, read-only ones ignored, `password: null` keeps. Disabling ends its sessions; a new profile or password ends its access tokens within a second. Nobody disables or demotes himself or the last Administrator.',
  permission: 'accounts:write',
  body: AccountChange,
  response: AccountView,
  errors: ['forbidden_object', 'not_found', 'conflict', 'unprocessable', 'password_rejected'],
  examples: { request: { userName: 'ada', userProfile: 20 }, response: { ...accountExample, userProfile: 20 } },
})

export const updateUserDetails = operation({
  id: 'updateUserDetails',
  method: 'POST',
  path: '/prime/webui/admin/updateuserdetails',
  tag: 'Admin',
  summary: 'Changes the own account',
  description:
    'A new password needs the old one. It ends the other sessions and every access token; this session goes on by its refresh token.',
  permission: 'self:write',
  body: MyAccountUpdate,
  response: AccountView,
  errors: ['old_password_wrong', 'password_rejected', 'unprocessable', 'too_many_requests'],
  examples: { request: { phone: '+49 30 1234567' }, response: { ...accountExample, phone: '+49 30 1234567' } },
})

export const deleteUsers = operation({
  id: 'deleteUsers',
  method: 'POST',
  path: '/prime/webui/admin/deleteUsers',
  tag: 'Admin',
  summary: 'Deletes accounts',
  description:
    'Their sessions and tokens end within a second. All or nothing where a right is lacking; unknown names are reported. Deleting yourself or the last Administrator: 409.',
  permission: 'accounts:write',
  body: nullable(Type.Array(Type.String({ maxLength: 1024 }), { maxItems: 100_000 })),
  bodyOptional: true,
  response: BulkResult,
  errors: ['forbidden_object', 'conflict'],
  examples: { request: ['ada', 'nobody'], response: { accepted: ['ada'], notFound: ['nobody'] } },
})

// --- Health ----------------------------------------------------------------------------------------------------------

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
      },
    ],
  },
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
  summary: 'Tells whether the server can serve: 200, or 503 within three seconds of losing its database',
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
