import { pollCauses, pollFailures } from '@portcullis/contract/worker-protocol.ts'
import {
  booleanFilter,
  enumFilter,
  instantFilter,
  labelledFilter,
  tagsFilter,
  textFilter,
} from '@portcullis/platform/contract/filters.ts'
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
} from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { newlyAllowed, reasonGiven } from '#features/change-requests/contract/newly-allowed.ts'
import { connectionPlatforms, credentials, intervalMinutes, platform, pollInterval, port } from './connection-fields.ts'

export { connectionPlatforms, pollInterval }

/** Writable fields of a connection. Absent fields use the defaults of the worker in a new connection and stay unchanged in an existing one. */
const connectionInput = {
  computerName: Type.String({
    maxLength: 255,
    description: 'Host name (RFC 1123) or IP address. Unique, ignoring case.',
  }),
  port: Type.Optional(
    nullable(Type.Integer({ minimum: 0, maximum: 65_535, description: 'TCP port. 0: the default of the worker.' })),
  ),
  platform: Type.Optional(nullable(platform)),
  ...credentials,
  hostKeyFingerprint: Type.Optional(
    nullable(
      Type.String({
        pattern: '^SHA256:[A-Za-z0-9+/]{43}$|^$',
        examples: ['SHA256:p2QAMXNIC1TJYWeIOttrVc98/R1BUFWu3/LiyKgUfQM'],
        description:
          'Fingerprint of the SSH host key, `SHA256:...`, as `ssh-keygen -l` prints it. Entering it confirms it: an Administrator with fresh authentication can do this for every connection, others only for connections with own credentials, and an API token only together with the password. Empty: a person must confirm the key that the host presents at the next connection.',
      }),
    ),
  ),
  intervalMinutes: Type.Optional(
    nullable(
      Type.Integer({
        minimum: 0,
        maximum: pollInterval.max,
        description: 'Polling interval in minutes. 0: the default of the worker.',
      }),
    ),
  ),
  isOverrideDefaults: Type.Optional(
    nullable(
      Type.Boolean({
        description:
          'True: use the credentials and interval of this connection instead of the defaults. Sending a credential sets it to true.',
      }),
    ),
  ),
  isConfirmed: Type.Optional(
    nullable(
      Type.Boolean({
        description:
          'True: the worker may send the default password to this host, once its host key is confirmed. Only an Administrator with fresh authentication can set it. A host that such an Administrator adds is confirmed.',
      }),
    ),
  ),
  hashtags: Type.Optional(
    nullable(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 100, description: 'Tags of the host.' })),
  ),
}
export const ConnectionInput = closed(connectionInput)
export type ConnectionInput = Static<typeof ConnectionInput>

const platformCodes = { auto: 'Detect', linux: 'Linux', macos: 'macOS', windows: 'Windows' }

const trustCodes = { None: 'Not pinned', FirstUse: 'Trusted on first use' }

/** How far the host key of a connection is trusted. */
export const hostKeyTrusts = ['None', 'FirstUse', 'Confirmed'] as const

const hostKeyTrust = Type.Enum(hostKeyTrusts, {
  'x-label': 'Trust in host key',
  description:
    '`None`: no key is pinned. `FirstUse`: the key was pinned when a private key signed in, or by someone who may not confirm it; the worker sends no password. `Confirmed`: a person confirmed the key.',
})

/** An agentless host that a worker polls over SSH. Contains no secrets. */
export const Connection = closed({
  computerName: Type.String({
    'x-label': 'Computer',
    description: 'Host name or IP address, as entered. Identifies the connection.',
  }),
  port: nullable(port, { 'x-form': 'number', description: '`null`: the default of the worker.' }),
  platform: Type.Enum(connectionPlatforms, {
    'x-labels': platformCodes,
    description: '`auto` until the worker has detected the platform.',
  }),
  userName: Type.String({ 'x-label': 'User', description: 'SSH user name. Empty: the default of the worker.' }),
  hasPassword: Type.Boolean({ 'x-label': 'Password set' }),
  hasPrivateKey: Type.Boolean({ 'x-label': 'Private key set' }),
  hasPassphrase: Type.Boolean({ 'x-label': 'Passphrase set' }),
  hostKeyFingerprint: Type.String({
    'x-label': 'Host key',
    description: 'Fingerprint of the pinned host key. With any other key, the worker does not sign in. Empty: none.',
  }),
  shownHostKeyFingerprint: Type.String({
    description:
      'Fingerprint of the host key that the host presented last, if it differs from the pinned key. Otherwise empty.',
  }),
  hostKeyTrust,
  intervalMinutes: nullable(intervalMinutes, {
    'x-label': 'Poll interval (min)',
    'x-form': 'number',
    description: '`null`: the default of the worker.',
  }),
  isOverrideDefaults: Type.Boolean({ 'x-label': 'Own credentials' }),
  hashtags: Type.String({ 'x-label': 'Tags', 'x-form': 'tags', description: 'Names of tags, separated by commas.' }),
  isRegistered: Type.Boolean({ 'x-label': 'Has a host', description: 'True if the host is polled.' }),
  isConfirmed: Type.Boolean({
    'x-label': 'Confirmed',
    description:
      'True if an Administrator with fresh authentication added or confirmed the host, so the worker may send it the default password, once its host key is confirmed.',
  }),
  uuid: Type.String({
    'x-label': 'Host ID',
    description: 'UUID of the host in the list of agents. Empty before the first successful poll.',
  }),
  createdAt: utcTime('Time at which the connection was added.'),
  changedAt: utcTime('Time of the last change by a person.'),
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
  HostKeyTrust: enumFilter('hostKeyTrust', hostKeyTrusts),
  IsOverrideDefaults: booleanFilter('isOverrideDefaults'),
}

export const listConnections = operation({
  id: 'listConnections',
  method: 'GET',
  path: `${base}/connectiondetails`,
  tag,
  summary: 'Lists connections of agentless hosts, sorted by name',
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
  summary: 'Adds connections of agentless hosts',
  description:
    'Send either the fields of one connection, or only `connections`. New connections are registered: an active worker polls them at once. An existing connection is not changed: a single one gets 409, and several are returned in `existing`. If one item is invalid, nothing is added. The default password is sent only to hosts that an Administrator added or confirmed with fresh authentication. Default keys and own credentials are used for all hosts.',
  permission: 'fleet:write',
  fresh: '`isConfirmed` is true',
  body: closed({
    ...connectionInput,
    computerName: Type.Optional(connectionInput.computerName),
    connections: Type.Optional(Type.Array(ConnectionInput, many)),
  }),
  response: closed({
    added: Type.Integer({ minimum: 0 }),
    existing: Type.Array(Type.String(), { description: 'Names of connections that already existed.' }),
  }),
  errors: ['conflict', 'forbidden_object'],
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
    '`computerName` identifies the connection. Absent or `null` fields keep their values. To change the name, port or pinned host key, send the secrets of the connection again, so that nobody can redirect them to another host. If a user other than an Administrator makes such a change, the host is no longer confirmed. `isOverrideDefaults: false` deletes the own credentials.',
  permission: 'fleet:write',
  fresh: '`isConfirmed` is true',
  body: closed({
    ...connectionInput,
    newComputerName: Type.Optional(
      nullable(connectionInput.computerName, { description: 'New name of the connection.' }),
    ),
  }),
  response: Connection,
  errors: ['not_found', 'conflict', 'forbidden_object', 'second_person_required'],
})

export const confirmHostKeys = operation({
  id: 'confirmHostKeys',
  method: 'POST',
  path: `${base}/connectiondetails/confirmhostkeys`,
  tag,
  summary: 'Confirms the host keys of agentless hosts',
  description:
    'The worker sends no password to a host before its host key is confirmed. Send either `hosts`, with the fingerprint of each host, or `list`, with lines from `known_hosts` or `ssh-keyscan`, from `ssh-keygen -l`, or of the form `name SHA256:...`. A list confirms only keys that hosts have presented, including keys that are trusted on first use. A host that presented another key is not changed. Hosts with a confirmed key are skipped: change the key in the connection. API tokens cannot confirm keys with this operation. Only Administrators with fresh authentication can confirm hosts that use the default credentials.',
  permission: 'fleet:write',
  fresh: 'a host uses the default credentials',
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
    list: Type.Optional(Type.String({ minLength: 1, maxLength: 4_194_304, description: 'Host keys, one per line.' })),
  }),
  response: closed({
    confirmed: Type.Array(Type.String(), {
      description: 'Names of the hosts whose key is now confirmed. They are polled at once.',
    }),
    different: Type.Array(
      closed({
        computerName: Type.String(),
        shown: Type.String({ description: 'Fingerprint that the host presented.' }),
      }),
      { description: 'Hosts that presented another key. They are not changed.' },
    ),
    notShown: Type.Array(Type.String(), { description: 'Hosts in the list that have not presented a key yet.' }),
    unknown: Type.Integer({
      minimum: 0,
      description: 'Number of names that do not match a connection waiting for confirmation.',
    }),
    unreadableLines: Type.Array(Type.Integer({ minimum: 1 }), {
      description: 'Line numbers of invalid lines, at most 100.',
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
  errors: ['forbidden_object', 'session_required'],
})

export const deleteConnections = operation({
  id: 'deleteConnections',
  method: 'DELETE',
  path: `${base}/connectiondetails`,
  tag,
  summary: 'Deletes connections',
  description:
    'Send the names either in the query (separated by commas) or in the body. Neither or both get 400. An empty array deletes nothing. Running polls of these hosts are cancelled. The hosts stay in the list of agents until you delete them there.',
  permission: 'fleet:write',
  query: closed({
    computerName: Type.Optional(Type.String({ maxLength: 16_384, description: 'Names, separated by commas.' })),
  }),
  body: nullable(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100_000 })),
  bodyOptional: true,
  response: BulkResult,
})

const names = closed({
  computerNames: nullable(Type.Array(Type.String({ maxLength: 255 }), { maxItems: 100_000 }), {
    description: 'Names of connections. `null` or empty: none.',
  }),
})

export const registerConnections = operation({
  id: 'registerConnections',
  method: 'POST',
  path: `${base}/registration`,
  tag,
  summary: 'Starts polling agentless hosts',
  description: 'An active worker polls them at once.',
  permission: 'fleet:write',
  body: names,
  response: BulkResult,
})

export const unregisterConnections = operation({
  id: 'unregisterConnections',
  method: 'POST',
  path: `${base}/unregistration`,
  tag,
  summary: 'Stops polling agentless hosts and keeps their connections',
  permission: 'fleet:write',
  body: names,
  response: BulkResult,
})

/** The states of a connection. */
export const connectionStates = ['Pending', 'Running', 'Success', 'Failed', 'Unregistered'] as const

/** The last poll of a connection. */
export const ConnectionStatus = closed({
  computerName: Type.String({ 'x-label': 'Computer' }),
  uuid: Type.String({
    'x-label': 'Host ID',
    description: 'UUID of the host in the list of agents. Empty before the first successful poll.',
  }),
  statusString: Type.Enum(connectionStates, { 'x-label': 'Status' }),
  statusDescription: Type.String({ description: 'State as text. During a poll, the current step.' }),
  statusErrorDescription: Type.String({
    'x-label': 'Error',
    description: 'Why the last poll failed, and the cure. Empty after a success.',
  }),
  prevRunningErrors: Type.String({
    'x-label': 'Previous errors',
    description: 'The last three failures, newest first, separated by ` | `.',
  }),
  startTime: nullable(zonelessTime('Start of the last poll. `null` before the first poll.'), { 'x-label': 'Started' }),
  endTime: nullable(zonelessTime('End of the last poll. `null` during a poll and before the first.'), {
    'x-label': 'Ended',
  }),
  isOverrideDefaults: Type.Boolean({ 'x-label': 'Own credentials' }),
  platform: Type.Enum(connectionPlatforms, { 'x-labels': platformCodes }),
  hostKeyTrust,
  peripheralsCount: Type.Integer({
    'x-label': 'Devices',
    minimum: 0,
    description: 'Number of attached devices at the last successful poll.',
  }),
  durationMs: nullable(Type.Integer({ minimum: 0 }), { 'x-label': 'Duration (ms)', 'x-form': 'number' }),
  nextRun: nullable(zonelessTime('Time of the next poll. `null` while the connection is not registered.')),
  cause: nullable(Type.Enum(pollFailures), {
    'x-labels': Object.fromEntries(Object.entries(pollCauses).map(([cause, { title }]) => [cause, title])),
    description: 'Cause of the failure. `null` after a success.',
  }),
  failures: Type.Integer({
    'x-label': 'Consecutive failures',
    minimum: 0,
    description: 'Number of failures in a row. Each one increases the time until the next poll.',
  }),
})
export type ConnectionStatus = Static<typeof ConnectionStatus>

export const connectionStatusFilters = {
  ComputerName: textFilter('computerName', { label: 'Host' }),
  StatusString: enumFilter('statusString', connectionStates, {
    label: 'State',
    labels: { Pending: 'Waiting', Success: 'Succeeded', Unregistered: 'Not polled' },
  }),
  StatusDescription: textFilter('statusDescription'),
  StatusErrorDescription: textFilter('statusErrorDescription'),
  PrevRunningErrors: textFilter('prevRunningErrors'),
  StartTime: instantFilter('startTime'),
  FromTimeStart: instantFilter('Lower end of startTime'),
  ToTimeStart: instantFilter('Upper end of startTime'),
  EndTime: instantFilter('endTime', { label: 'Last poll' }),
  FromTimeEnd: instantFilter('Lower end of endTime'),
  ToTimeEnd: instantFilter('Upper end of endTime'),
  IsOverrideDefaults: labelledFilter(
    Type.Optional(
      Type.Boolean({ description: 'Filters by isOverrideDefaults: True or False.', 'x-filter': 'boolean' }),
    ),
    { kind: 'boolean', of: 'isOverrideDefaults', label: 'Overrides default credentials' },
  ),
  Cause: enumFilter('cause', pollFailures),
  HostKeyTrust: enumFilter('hostKeyTrust', hostKeyTrusts, { label: 'Host key', labels: trustCodes }),
}

export const connectionDetailsStatus = operation({
  id: 'connectionDetailsStatus',
  method: 'GET',
  path: `${base}/connectiondetailsstatus`,
  tag,
  summary: 'Lists the last poll of each connection, sorted by name',
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
  summary: 'Groups failing connections by cause, most frequent first',
  permission: 'fleet:read',
  response: closed({
    data: Type.Array(
      closed({
        cause: Type.Enum(pollFailures),
        title: Type.String(),
        cure: Type.String({ description: 'How to fix the problem.' }),
        count: Type.Integer({ minimum: 1 }),
        computerNames: Type.Array(Type.String(), { description: 'The first five names.' }),
      }),
    ),
  }),
})

export const uploadConnections = operation({
  id: 'uploadConnections',
  method: 'POST',
  path: `${base}/uploadconnectiondetailsfile`,
  tag,
  summary: 'Imports connections from a file',
  description:
    'The file is CSV in UTF-8 with the header `ComputerName,Port,Platform,UserName,Password,PrivateKey,IntervalMinutes,Tags`, in any order and case. Only the column `ComputerName` is required. Separate tags with `;`. Existing connections are updated; others are added and registered. Invalid lines are reported and not stored; all other lines are stored. If tags in the file need a second approver, the server stores only one change request for all of them. Upload the file again after the approval. Without a part `file`, all counts are zero.',
  permission: 'fleet:write',
  query: closed({
    dryRun: Type.Optional(Type.Boolean({ description: 'True: returns the changes and stores nothing.' })),
    reason: reasonGiven,
  }),
  upload: true,
  bodyOptional: true,
  response: closed({
    added: Type.Integer({ minimum: 0 }),
    updated: Type.Integer({ minimum: 0 }),
    failed: Type.Integer({ minimum: 0, description: 'Number of invalid lines.' }),
    errors: Type.Array(closed({ line: Type.Integer({ minimum: 1 }), message: Type.String() }), {
      description: 'The first 1,000 errors, in the order of the file. The header is line 1.',
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
    secondPerson: Type.Boolean({ description: 'In a dry run: true if the tags in this file need a second approver.' }),
    newlyAllowed: newlyAllowed('In a dry run: number of hosts on which the tags in this file newly allow devices.'),
    worksAgain: Type.Optional(WorksAgain),
  }),
  errors: ['payload_too_large', 'second_person_required', 'conflict'],
})
