import { type Static, type TSchema, Type } from 'typebox'
import { booleanFilter, enumFilter, tagsFilter, textFilter, timeFilter } from './filters.ts'
import { newlyAllowed, reasonGiven } from './opening.ts'
import {
  BulkResult,
  closed,
  listQuery,
  nullable,
  operation,
  page,
  utcTime,
  WorksAgain,
  zonelessTime,
} from './operation.ts'
import { PollStepResult, pollFailures, pollPlatforms, pollSteps } from './worker-protocol.ts'

/** Systems a connection can name; `auto`: found out at the first poll, then remembered. */
export const connectionPlatforms = ['auto', ...pollPlatforms] as const

/** Minutes between two polls of a host. */
export const pollInterval = { min: 1, max: 10_080, default: 15 } as const

const secret = (max: number, description: string) =>
  Type.Optional(
    nullable(Type.String({ maxLength: max, description: `${description} Write-only; absent or null: as it was.` })),
  )

const credentials = {
  userName: Type.Optional(nullable(Type.String({ maxLength: 255, description: 'Whom to sign in as.' }))),
  password: secret(1_024, 'Password.'),
  privateKey: secret(65_536, 'Private key in OpenSSH or PEM form.'),
  passphrase: secret(1_024, 'Passphrase of the private key.'),
}
const port = Type.Integer({ minimum: 1, maximum: 65_535, description: 'TCP port of the SSH server.' })
const platform = Type.Enum(connectionPlatforms)
const intervalMinutes = Type.Integer({
  minimum: pollInterval.min,
  maximum: pollInterval.max,
  description: 'Minutes between two polls.',
})

/** What is written of a connection. Absent members: the worker's default when it is added, unchanged when it is changed. */
const connectionInput = {
  computerName: Type.String({
    maxLength: 255,
    description: 'Host name (RFC 1123) or IP address; unique ignoring case.',
  }),
  port: Type.Optional(
    nullable(Type.Integer({ minimum: 0, maximum: 65_535, description: 'TCP port; 0: that of the defaults.' })),
  ),
  platform: Type.Optional(nullable(platform)),
  ...credentials,
  hostKeyFingerprint: Type.Optional(
    nullable(
      Type.String({
        pattern: '^SHA256:[A-Za-z0-9+/]{43}$|^$',
        examples: ['SHA256:p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM'],
        description:
          '`SHA256:...` as `ssh-keygen -l` prints it. Empty: a person must confirm the key of the next contact.',
      }),
    ),
  ),
  intervalMinutes: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 0,
        maximum: pollInterval.max,
        description: 'Minutes between two polls; 0: those of the defaults.',
      }),
    ),
  ),
  isOverrideDefaults: Type.Optional(
    nullable(
      Type.Boolean({
        description: 'Own credentials and interval in place of the defaults; giving a credential implies it.',
      }),
    ),
  ),
  isConfirmed: Type.Optional(
    nullable(
      Type.Boolean({
        description:
          'The default password may be sent to it. `true` needs an Administrator with fresh authentication; a computer that such an Administrator adds is confirmed.',
      }),
    ),
  ),
  hashtags: Type.Optional(
    nullable(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 100, description: 'Tags of the host.' })),
  ),
}
export const ConnectionInput = closed(connectionInput)
export type ConnectionInput = Static<typeof ConnectionInput>

/** A remote computer that is polled over SSH. Never holds a secret. */
export const Connection = closed({
  computerName: Type.String({ description: 'Key: name or address, as written.' }),
  port: nullable(port, { description: 'null: the default of the worker.' }),
  platform: Type.Enum(connectionPlatforms, { description: '`auto` until it is found out.' }),
  userName: Type.String({ description: 'Empty: of the defaults.' }),
  hasPassword: Type.Boolean(),
  hasPrivateKey: Type.Boolean(),
  hasPassphrase: Type.Boolean(),
  hostKeyFingerprint: Type.String({ description: 'Pinned key. Empty until one is confirmed.' }),
  shownHostKeyFingerprint: Type.String({
    description:
      'Host key that the computer last presented, if it is not the pinned one; otherwise empty. No password is sent before it is confirmed.',
  }),
  intervalMinutes: nullable(intervalMinutes, { description: 'null: the default of the worker.' }),
  isOverrideDefaults: Type.Boolean(),
  hashtags: Type.String({ description: 'Names joined by commas.' }),
  isRegistered: Type.Boolean({ description: 'It is polled.' }),
  isConfirmed: Type.Boolean({
    description:
      'An Administrator with fresh authentication added or confirmed it: the default password may be sent to it.',
  }),
  uuid: Type.String({ description: 'uuid of the host among the agents; empty before its first successful poll.' }),
  createdAt: utcTime('When it was added.'),
  changedAt: utcTime('When a person changed it last.'),
})
export type Connection = Static<typeof Connection>

const base = '/prime/webui/agents/agentless'
const tag = 'Agents'

export const connectionFilters = {
  ComputerName: textFilter('computerName'),
  Platform: enumFilter('platform', connectionPlatforms),
  UserName: textFilter('userName'),
  Hashtags: tagsFilter('hashtags'),
  IsRegistered: booleanFilter('isRegistered'),
  IsConfirmed: booleanFilter('isConfirmed'),
  IsOverrideDefaults: booleanFilter('isOverrideDefaults'),
}

export const listConnections = operation({
  id: 'listConnections',
  method: 'GET',
  path: `${base}/connectiondetails`,
  tag,
  summary: 'Lists connections, by name',
  permission: 'fleet:read',
  query: closed({ ...connectionFilters, ...listQuery }),
  response: page(Connection),
  responseKind: 'list',
})

const many = { maxItems: 10_000 } as const

export const addConnections = operation({
  id: 'addConnections',
  method: 'POST',
  path: `${base}/connectiondetails`,
  tag,
  summary: 'Adds one connection, or many',
  description:
    'A default password goes only to computers that an Administrator added or confirmed with fresh authentication; default keys and own credentials to all. Either the members of one connection, or `connections` alone. Added ones are registered: they are polled at once while a worker is active. One that exists is not changed: 409 for a single one, named in `existing` among many. One bad item: nothing is added.',
  permission: 'fleet:write',
  body: closed({
    ...connectionInput,
    computerName: Type.Optional(connectionInput.computerName),
    connections: Type.Optional(Type.Array(ConnectionInput, many)),
  }),
  response: closed({
    added: Type.Integer({ minimum: 0 }),
    existing: Type.Array(Type.String(), { description: 'Names that were there before.' }),
  }),
  errors: ['conflict'],
  examples: {
    request: {
      computerName: 'build-7.example.org',
      userName: 'inventory',
      privateKey: '-----BEGIN OPENSSH PRIVATE KEY-----…',
      hashtags: ['lab'],
    },
    response: { added: 1, existing: [] },
  },
})

export const updateConnection = operation({
  id: 'updateConnection',
  method: 'PUT',
  path: `${base}/connectiondetails`,
  tag,
  summary: 'Changes a connection',
  description:
    'By computerName; absent or null members stay. Another name, port or pinned host key needs the secrets of the connection again, so that nobody can have them sent elsewhere; by others than Administrators it takes the confirmation away. `isOverrideDefaults: false` drops own credentials.',
  permission: 'fleet:write',
  body: closed({
    ...connectionInput,
    newComputerName: Type.Optional(nullable(connectionInput.computerName, { description: 'Renames it.' })),
  }),
  response: Connection,
  errors: ['not_found', 'conflict', 'forbidden_object'],
})

export const confirmHostKeys = operation({
  id: 'confirmHostKeys',
  method: 'POST',
  path: `${base}/connectiondetails/confirmhostkeys`,
  tag,
  summary: 'Confirms the host keys of computers, one by one or from a list',
  description:
    'No password is sent to a computer before its host key is confirmed. Send either `hosts`, with the fingerprint of each computer, or `list`, with lines of `known_hosts`, of `ssh-keygen -l`, or `name SHA256:...`. A list confirms keys that computers have presented. A computer that presented another key stays as it is. Computers with a pinned key are skipped: change that key in the connection. Only Administrators can confirm computers that use the default credentials.',
  permission: 'fleet:write',
  body: closed({
    hosts: Type.Optional(
      Type.Array(
        closed({
          computerName: connectionInput.computerName,
          hostKeyFingerprint: Type.String({ pattern: '^SHA256:[A-Za-z0-9+/]{43}$' }),
        }),
        { minItems: 1, maxItems: 10_000 },
      ),
    ),
    list: Type.Optional(
      Type.String({ minLength: 1, maxLength: 4_194_304, description: 'List of host keys, one per line.' }),
    ),
  }),
  response: closed({
    confirmed: Type.Array(Type.String(), { description: 'Names of the computers that are now polled.' }),
    different: Type.Array(
      closed({
        computerName: Type.String(),
        shown: Type.String({ description: 'Fingerprint that the computer presented.' }),
      }),
      { description: 'Computers that presented a key other than the one given. They stay as they are.' },
    ),
    notShown: Type.Array(Type.String(), { description: 'Listed computers that have not presented a key yet.' }),
    unknown: Type.Integer({
      minimum: 0,
      description: 'Number of names without a connection that waits for a confirmation.',
    }),
    unreadableLines: Type.Array(Type.Integer({ minimum: 1 }), {
      description: 'Numbers of the lines that cannot be read, at most 100.',
    }),
  }),
  examples: {
    request: {
      hosts: [
        {
          computerName: 'build-7.example.org',
          hostKeyFingerprint: 'SHA256:p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM',
        },
      ],
    },
    response: { confirmed: ['build-7.example.org'], different: [], notShown: [], unknown: 0, unreadableLines: [] },
  },
  errors: ['forbidden_object'],
})

export const deleteConnections = operation({
  id: 'deleteConnections',
  method: 'DELETE',
  path: `${base}/connectiondetails`,
  tag,
  summary: 'Deletes connections',
  description:
    'Names in the query (comma list) or in the body; neither or both is 400. Running polls of them end without result. What is known of the hosts stays among the agents until they are deleted there.',
  permission: 'fleet:write',
  query: closed({
    computerName: Type.Optional(Type.String({ maxLength: 16_384, description: 'Comma list of names.' })),
  }),
  body: nullable(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100_000 })),
  bodyOptional: true,
  response: BulkResult,
})

const names = closed({
  computerNames: nullable(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100_000 }), {
    description: 'Names of connections; null or empty: none.',
  }),
})

export const registerConnections = operation({
  id: 'registerConnections',
  method: 'POST',
  path: `${base}/registration`,
  tag,
  summary: 'Starts polling hosts',
  description: 'They are polled at once while a worker is active.',
  permission: 'fleet:write',
  body: names,
  response: BulkResult,
})

export const unregisterConnections = operation({
  id: 'unregisterConnections',
  method: 'POST',
  path: `${base}/unregistration`,
  tag,
  summary: 'Stops polling hosts; their details stay',
  permission: 'fleet:write',
  body: names,
  response: BulkResult,
})

/** Where a connection stands. */
export const connectionStates = ['Pending', 'Running', 'Success', 'Failed', 'Unregistered'] as const

/** The last run of a connection. */
export const ConnectionStatus = closed({
  computerName: Type.String(),
  uuid: Type.String({ description: 'uuid of the host among the agents; empty before its first successful poll.' }),
  statusString: Type.Enum(connectionStates),
  statusDescription: Type.String({ description: 'Where it stands, in a sentence; while it runs, the step.' }),
  statusErrorDescription: Type.String({
    description: 'Why the last run failed, and what helps; empty after a success.',
  }),
  prevRunningErrors: Type.String({ description: 'The last three failures, newest first, joined by ` | `.' }),
  startTime: nullable(zonelessTime('When the last run began; null before the first.')),
  endTime: nullable(zonelessTime('When it ended; null while it runs or before the first.')),
  isOverrideDefaults: Type.Boolean(),
  platform: Type.Enum(connectionPlatforms),
  peripheralsCount: Type.Integer({ minimum: 0, description: 'Attached devices at the last success.' }),
  durationMs: nullable(Type.Integer({ minimum: 0 })),
  nextRun: nullable(zonelessTime('When it is polled next; null while it is not registered.')),
  cause: nullable(Type.Enum(pollFailures), { description: 'Kind of the failure; null after a success.' }),
  failures: Type.Integer({
    minimum: 0,
    description: 'Failures in a row; the next poll is put off the longer the more they are.',
  }),
})
export type ConnectionStatus = Static<typeof ConnectionStatus>

export const connectionStatusFilters = {
  ComputerName: textFilter('computerName'),
  StatusString: enumFilter('statusString', connectionStates),
  StatusDescription: textFilter('statusDescription'),
  StatusErrorDescription: textFilter('statusErrorDescription'),
  PrevRunningErrors: textFilter('prevRunningErrors'),
  StartTime: timeFilter('startTime'),
  FromTimeStart: timeFilter('Lower end of startTime'),
  ToTimeStart: timeFilter('Upper end of startTime'),
  EndTime: timeFilter('endTime'),
  FromTimeEnd: timeFilter('Lower end of endTime'),
  ToTimeEnd: timeFilter('Upper end of endTime'),
  IsOverrideDefaults: booleanFilter('isOverrideDefaults'),
  Cause: enumFilter('cause', pollFailures),
}

export const connectionDetailsStatus = operation({
  id: 'connectionDetailsStatus',
  method: 'GET',
  path: `${base}/connectiondetailsstatus`,
  tag,
  summary: 'Lists the last run of each connection, by name',
  permission: 'fleet:read',
  query: closed({ ...connectionStatusFilters, ...listQuery }),
  response: page(ConnectionStatus),
  responseKind: 'list',
})

export const connectionCauses = operation({
  id: 'connectionCauses',
  method: 'GET',
  path: `${base}/connectiondetailsstatus/causes`,
  tag,
  summary: 'Groups failing connections by cause, most hosts first',
  permission: 'fleet:read',
  response: closed({
    data: Type.Array(
      closed({
        cause: Type.Enum(pollFailures),
        title: Type.String(),
        cure: Type.String({ description: 'What helps.' }),
        count: Type.Integer({ minimum: 1 }),
        computerNames: Type.Array(Type.String(), { description: 'The first five.' }),
      }),
    ),
  }),
})

export const uploadConnections = operation({
  id: 'uploadConnections',
  method: 'POST',
  path: `${base}/uploadconnectiondetailsfile`,
  tag,
  summary: 'Reads a file of connections',
  description:
    'CSV, UTF-8, header `ComputerName,Port,Platform,UserName,Password,PrivateKey,IntervalMinutes,Tags` in any order and case. Only the first column is required. Known computers are updated; others are added and registered. Lines with errors are reported and not stored; all other lines are stored. Separate tags with `;`. If tags in the file need a second approver, one request for all of them is stored and nothing else; upload the file again after the approval. Without a part `file`, all counts are zero.',
  permission: 'fleet:write',
  query: closed({
    dryRun: Type.Optional(Type.Boolean({ description: 'true: says what it would do and stores nothing.' })),
    reason: reasonGiven,
  }),
  upload: true,
  bodyOptional: true,
  response: closed({
    added: Type.Integer({ minimum: 0 }),
    updated: Type.Integer({ minimum: 0 }),
    failed: Type.Integer({ minimum: 0, description: 'Lines in error.' }),
    errors: Type.Array(closed({ line: Type.Integer({ minimum: 1 }), message: Type.String() }), {
      description: 'The first 1,000, in the order of the file; the header is line 1.',
    }),
    lines: Type.Array(
      closed({
        line: Type.Integer({ minimum: 1 }),
        computerName: Type.String(),
        outcome: Type.Enum(['added', 'updated', 'unchanged', 'failed']),
        message: Type.String(),
      }),
      { description: 'The first 200 lines, for a preview.' },
    ),
    secondPerson: Type.Boolean({ description: 'In a dry run: the tags in this file need a second approver.' }),
    newlyAllowed: newlyAllowed('In a dry run: hosts on which the tags in this file newly allow devices.'),
    worksAgain: Type.Optional(WorksAgain),
  }),
  errors: ['payload_too_large'],
})

const orNull = <T extends TSchema>(schema: T) => nullable(schema)

/** The worker, and the processes it consists of. All members are null before any worker came, `defaults` never is. */
export const WorkerPollerDetails = closed({
  id: orNull(Type.String()),
  name: orNull(Type.String()),
  ipAddress: orNull(Type.String()),
  version: orNull(Type.String()),
  status: orNull(Type.Enum(['Connected', 'Disconnected'])),
  adminStatus: orNull(Type.Enum(['Pending', 'Activated', 'Deactivated'])),
  numOfPollers: orNull(Type.Integer({ minimum: 0, description: 'Processes that are registered.' })),
  numOfPollersAlive: orNull(Type.Integer({ minimum: 0, description: 'Of these, heard of in the last 30 s.' })),
  cpu: orNull(Type.Number({ description: 'Percent of one core, all processes.' })),
  utilization: orNull(Type.Number({ description: 'Percent of the polls that could run at a time.' })),
  errorCount: orNull(Type.Integer({ description: 'Connections whose last run failed.' })),
  lastSeen: orNull(zonelessTime('When a process was heard of last.')),
  defaults: closed({
    port,
    platform,
    userName: Type.String(),
    hasPassword: Type.Boolean(),
    hasPrivateKey: Type.Boolean(),
    hasPassphrase: Type.Boolean(),
    intervalMinutes,
  }),
  pollers: Type.Array(
    closed({
      id: Type.String(),
      name: Type.String(),
      ipAddress: Type.String(),
      version: Type.String(),
      isAlive: Type.Boolean(),
      running: Type.Integer({ minimum: 0 }),
      capacity: Type.Integer({ minimum: 0 }),
      cpu: Type.Number(),
      lastSeen: utcTime('When it was last seen.'),
      isActivated: Type.Boolean({
        description:
          'It may poll while the worker is activated. A process that registers later waits until an Administrator activates the worker again.',
      }),
    }),
  ),
  due: Type.Integer({
    minimum: 0,
    description: 'Registered connections whose time has come and that wait for a worker.',
  }),
})
export type WorkerPollerDetails = Static<typeof WorkerPollerDetails>

export const workerPollerDetails = operation({
  id: 'workerPollerDetails',
  method: 'GET',
  path: `${base}/workerpollerdetails`,
  tag,
  summary: 'Says how the worker is',
  permission: 'fleet:read',
  response: WorkerPollerDetails,
})

export const updateWorkerDefaults = operation({
  id: 'updateWorkerDefaults',
  method: 'PUT',
  path: `${base}/workerpollerdetails`,
  tag,
  summary: 'Changes the defaults of connections',
  description:
    'Absent or null members stay. Connections that do not override them use the new ones from their next poll.',
  permission: 'config:write',
  body: closed({
    defaults: closed({
      port: Type.Optional(nullable(port)),
      platform: Type.Optional(nullable(platform)),
      ...credentials,
      intervalMinutes: Type.Optional(nullable(intervalMinutes)),
    }),
  }),
  response: WorkerPollerDetails,
})

export const activateWorker = operation({
  id: 'activateWorker',
  method: 'PUT',
  path: `${base}/workerpollerdetails/activatedstatus`,
  tag,
  summary: 'Lets the worker poll, or stops it',
  fresh: 'it activates the worker',
  description:
    'Activation lets the processes that are registered now poll, and gives them the credentials of polled hosts. It needs a second approver once two Administrators have existed. Processes that register later wait for another activation. When the worker is stopped, running polls end without result; connections stay as they are.',
  permission: 'config:write',
  body: closed({ id: Type.String({ maxLength: 64 }), isActivated: Type.Boolean() }),
  response: WorkerPollerDetails,
  errors: ['not_found', 'second_person_required'],
})

export const deleteWorker = operation({
  id: 'deleteWorker',
  method: 'DELETE',
  path: `${base}/workerpollerdetails`,
  tag,
  summary: 'Forgets the worker and revokes its keys',
  description:
    'Running polls end, connections stay. The worker that the server itself runs comes back as a new, pending one within a minute; others need a new token.',
  permission: 'config:write',
  response: closed({ deleted: Type.Boolean({ description: 'false: there was none.' }) }),
})

export const createWorkerToken = operation({
  id: 'createWorkerToken',
  method: 'POST',
  path: `${base}/workerpollerdetails/token`,
  tag,
  summary: 'Creates a token for one more worker process',
  fresh: true,
  description:
    'Shown once, for one process, for one hour. The process polls once an Administrator activates the worker again.',
  permission: 'config:write',
  response: closed({
    token: Type.String(),
    expiresAt: utcTime('Until when it can be used.'),
    command: Type.String({ description: 'What to run on the other machine.' }),
  }),
})

/** How far a test came. */
export const ConnectionTest = closed({
  id: Type.String(),
  state: Type.Enum(['waiting', 'running', 'done'], { description: '`waiting`: for an active worker.' }),
  ok: nullable(Type.Boolean(), { description: 'null until it is done.' }),
  cause: nullable(Type.Enum(pollFailures)),
  message: Type.String(),
  cure: Type.String({ description: 'What helps; empty when nothing has to.' }),
  step: nullable(Type.Enum(pollSteps), { description: 'The step under way; null before and after.' }),
  steps: Type.Array(PollStepResult, { description: 'Steps that are over, in order.' }),
  hostKeyFingerprint: nullable(Type.String()),
  platform: nullable(Type.Enum(pollPlatforms)),
  hostname: Type.String({ description: 'As the host calls itself; empty until it was read.' }),
  devices: Type.Array(
    closed({ vid: Type.String(), pid: Type.String(), name: Type.String(), serialNumber: Type.String() }),
    { description: 'The first 50.' },
  ),
  peripheralsCount: Type.Integer({ minimum: 0 }),
})
export type ConnectionTest = Static<typeof ConnectionTest>

export const testConnection = operation({
  id: 'testConnection',
  method: 'POST',
  path: `${base}/connectiondetails/test`,
  tag,
  summary: 'Tries a connection, step by step',
  description:
    'As it is stored, with the members that are given in place of the stored ones; the name need not exist. A changed name, port or host key needs the secrets again. Nothing is stored with the fleet. Read the outcome by its id, for five minutes.',
  permission: 'fleet:write',
  body: ConnectionInput,
  response: ConnectionTest,
  errors: ['conflict'],
})

export const readConnectionTest = operation({
  id: 'readConnectionTest',
  method: 'GET',
  path: `${base}/connectiondetails/test/{id}`,
  tag,
  summary: 'Says how far a test came',
  permission: 'fleet:write',
  params: closed({ id: Type.String({ minLength: 1, maxLength: 64 }) }),
  response: ConnectionTest,
  errors: ['not_found'],
})
