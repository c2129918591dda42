import {
  BulkResult,
  closed,
  listQuery,
  nullable,
  operation,
  page,
  typedText,
  utcTime,
} from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { Peripheral, RiskFactor } from '#features/devices/contract/peripherals.ts'
import { FleetEvent } from '#features/events/contract/events.ts'
import { Agent, agentFilters } from './agent-list.ts'

export const AgentsPage = page(Agent)

export const getAgents = operation({
  id: 'getAgents',
  method: 'GET',
  path: '/prime/webui/agents',
  tag: 'Agents',
  summary: 'Lists hosts',
  description:
    'The default order is `severity_desc`, then `hostIdentifier`, then `uuid`. A page can have up to 1,000,000 rows; large pages are streamed.',
  permission: 'fleet:read',
  query: closed({ ...agentFilters, ...listQuery }),
  response: AgentsPage,
  responseKind: 'list',
})

/** A network interface of a host. */
const AgentNic = closed({
  name: Type.String(),
  mac: Type.String({ description: 'MAC address, lower case with colons.' }),
  addresses: Type.Array(Type.String()),
  isUp: Type.Boolean(),
})

export const AgentDetail = closed({
  ...Agent.properties,
  peripherals: Type.Array(Peripheral, { description: 'Attached and detached devices.' }),
  pendingCommands: Type.Array(
    closed({
      id: Type.String(),
      kind: Type.String(),
      state: Type.String(),
      createdAt: utcTime('Time at which the command was queued.'),
    }),
  ),
  recentEvents: Type.Array(FleetEvent, { description: 'The newest 50 events.' }),
  policy: closed({
    mode: Type.Enum(['Free', 'Armed']),
    version: Type.Integer({ description: 'Current version of the policy. 0 before the first rule.' }),
    summary: Type.String({ description: 'Current mode and reason, as a sentence.' }),
    enforcement: Type.String({
      description: 'How this host can enforce: before-driver, after-attach, before-install or observe.',
    }),
    heldVersion: Type.Integer({ description: 'Version of the policy that the host reports. 0 before the first.' }),
    reason: Type.String({ description: 'Why the host reverted to Free without a command. Otherwise empty.' }),
    whitelist: Type.Boolean({
      description: 'True if an allowlist applies: devices that no rule allows count as unapproved.',
    }),
    rules: Type.Array(
      closed({
        id: Type.String(),
        effect: Type.Enum(['allow', 'deny']),
        level: Type.Enum(['grant', 'host', 'tag', 'global']),
        sentence: Type.String({ description: 'The rule as a sentence.' }),
      }),
      { description: 'Rules that apply to this host, in order of precedence. At most 200.' },
    ),
  }),
  riskFactors: Type.Array(RiskFactor),
  nics: Type.Array(AgentNic),
  debugLogs: Type.Array(
    closed({
      id: Type.String(),
      collectedAt: utcTime('Time at which the server received the logs.'),
      size: Type.Integer(),
    }),
  ),
  facts: closed({
    osName: Type.String(),
    osVersion: Type.String(),
    kernel: Type.String(),
    architecture: Type.String(),
    vendor: Type.String(),
    model: Type.String(),
    chassis: Type.String(),
    sku: Type.String(),
    osBuild: Type.Optional(
      Type.String({ description: 'Build of Windows, such as `10.0.22631.4317`. Absent for other systems.' }),
    ),
    enforcementReason: Type.Optional(Type.String({ description: 'Why the host cannot enforce more, for display.' })),
    releaseKey: Type.Optional(
      Type.String({
        description:
          'Fingerprint of the release key whose builds the agent installs. Empty: the agent was built without a release key and refuses updates. Absent: the agent is older, or the host is agentless.',
      }),
    ),
  }),
  notes: Type.String({ description: 'Notes about the host, as entered with `updateHostOwner`.' }),
  possibleDuplicates: Type.Array(closed({ uuid: Type.String(), hostIdentifier: Type.String() }), {
    description:
      'Other hosts that look like the same machine, because it was reinstalled or cloned. Decide about each one with `decideDuplicate`.',
  }),
})
export type AgentDetail = Static<typeof AgentDetail>

export const agentParams = closed({
  agentId: Type.String({
    minLength: 1,
    maxLength: 128,
    description: 'UUID of the host. Comparison is case-sensitive.',
  }),
})

export const getAgent = operation({
  id: 'getAgent',
  method: 'GET',
  path: '/prime/webui/agents/agent/{agentId}',
  tag: 'Agents',
  summary: 'Returns a host with its devices, events and details',
  permission: 'fleet:read',
  params: agentParams,
  response: AgentDetail,
})

/** The owner and the notes of a host. */
const HostOwner = closed({
  owner: typedText({ maxLength: 200, description: 'Person or team that the host belongs to. Empty: unknown.' }),
  notes: typedText({ maxLength: 4_000, description: 'Notes about the host. Empty: none.' }, 'lines'),
})

export const updateHostOwner = operation({
  id: 'updateHostOwner',
  method: 'PUT',
  path: '/prime/webui/agents/agent/{agentId}/owner',
  tag: 'Agents',
  summary: 'Changes the owner and the notes of a host',
  description: 'Changes only the given fields, and returns both.',
  permission: 'fleet:write',
  params: agentParams,
  body: Type.Partial(HostOwner, { minProperties: 1, additionalProperties: false }),
  response: HostOwner,
  examples: { request: { owner: 'Front desk', notes: 'Behind the counter, key at reception.' } },
})

export const decideDuplicate = operation({
  id: 'decideDuplicate',
  method: 'POST',
  path: '/prime/webui/agents/agent/{agentId}/possibleduplicates',
  tag: 'Agents',
  summary: 'Decides whether a possible duplicate is the same machine',
  description:
    'For the same machine, the server adds the tags of the other host to this one, and deletes the other host as `deleteAgents` does, within the same limit. Otherwise, it keeps both hosts and removes the link between them.',
  permission: 'fleet:write',
  params: agentParams,
  body: closed({
    uuid: Type.String({ maxLength: 128, description: 'UUID of the other host.' }),
    isSameMachine: Type.Boolean({ description: 'True if both hosts are the same machine.' }),
  }),
  response: closed({ removed: Type.Boolean({ description: 'True if the other host was deleted.' }) }),
  errors: ['second_person_required'],
  examples: { request: { uuid: '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f', isSameMachine: false } },
})

const KeyCount = closed({ key: Type.String(), count: Type.Integer({ minimum: 0 }) })

export const agentsClassificationSummary = operation({
  id: 'agentsClassificationSummary',
  method: 'GET',
  path: '/prime/webui/agents/AgentsClassificationSummary',
  tag: 'Agents',
  summary: 'Counts hosts by state, finding, version and licence',
  description: 'Takes the filters of the list of hosts. The counts match the list.',
  permission: 'fleet:read',
  query: closed({ ...agentFilters, GlobalSearch: listQuery.GlobalSearch, Query: listQuery.Query }),
  response: closed({
    total: Type.Integer(),
    connected: Type.Integer(),
    disconnected: Type.Integer(),
    armed: Type.Integer(),
    free: Type.Integer(),
    protection: closed(
      {
        protected: Type.Integer({ description: 'Armed hosts that can block devices.' }),
        possible: Type.Integer({ description: 'Free hosts that can block devices once they are armed.' }),
        impossible: Type.Integer({ description: 'Hosts that cannot block devices.' }),
      },
      { description: 'All hosts, each counted once, by whether they block devices or could.' },
    ),
    unapproved: Type.Integer(),
    vulnerable: Type.Integer(),
    knownAttackTools: Type.Integer(),
    bySeverity: Type.Array(KeyCount),
    byOs: Type.Array(KeyCount),
    byVersion: Type.Array(KeyCount),
    license: closed({
      activated: Type.Integer(),
      pending: Type.Integer(),
      expired: Type.Integer(),
      invalid: Type.Integer(),
    }),
    deploymentMode: closed({ agent: Type.Integer(), agentless: Type.Integer(), feed: Type.Integer() }),
    computedAt: Type.String({ format: 'date-time' }),
  }),
})

export const deleteAgents = operation({
  id: 'deleteAgents',
  method: 'POST',
  path: '/prime/webui/agents/deleteAgents',
  tag: 'Agents',
  summary: 'Deletes hosts and revokes the keys of their agents',
  fresh: 'it deletes more hosts than one person may delete alone',
  description:
    'The server refuses a deleted agent within a second. It must enrol again to return. Events and audit records are kept. Above the limit for a second approver, the server returns 403 and stores a change request.',
  permission: 'fleet:write',
  body: nullable(Type.Array(Type.String({ maxLength: 128 }), { maxItems: 100_000 })),
  bodyOptional: true,
  response: BulkResult,
  errors: ['second_person_required'],
  examples: { request: ['01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f'] },
})

// --- Enrolment --------------------------------------------------------------------------------------------------------

export const EnrollmentToken = closed({
  id: Type.String(),
  name: Type.String(),
  createdAt: Type.String({ format: 'date-time' }),
  createdBy: Type.String(),
  expiresAt: Type.String({ format: 'date-time' }),
  maxUses: Type.Integer({ minimum: 1 }),
  uses: Type.Integer({ minimum: 0 }),
  hashtags: Type.Array(Type.String()),
  allowTakeOver: Type.Boolean({
    description:
      'True: a known host that is disconnected and not armed can enrol again under its previous agent ID if its machine ID, firmware UUID and name are the same.',
  }),
  status: Type.Enum(['Active', 'Expired', 'Used up', 'Revoked']),
  hosts: Type.Array(
    closed({
      uuid: Type.String(),
      hostIdentifier: Type.String(),
      enrolledAt: utcTime('Time at which the host enrolled.'),
    }),
    { maxItems: 5, description: 'Newest hosts that enrolled with this token and still exist. At most 5.' },
  ),
  list: Type.Optional(
    closed(
      {
        total: Type.Integer({ minimum: 1, description: 'Number of names in the list.' }),
        missing: Type.Integer({ minimum: 0, description: 'Number of names that have not enrolled yet.' }),
        missingNames: Type.Array(Type.String(), {
          maxItems: 100,
          description: 'The first of these names, in alphabetical order and lower case. At most 100.',
        }),
      },
      { description: 'Only these host names can enrol, each once. Absent: the token enrols any host.' },
    ),
  ),
})
export type EnrollmentToken = Static<typeof EnrollmentToken>

export const listEnrollmentTokens = operation({
  id: 'listEnrollmentTokens',
  method: 'GET',
  path: '/prime/webui/agents/enrollmenttokens',
  tag: 'Agents',
  summary: 'Lists enrolment tokens, newest first',
  permission: 'enrolment:manage',
  response: closed({ data: Type.Array(EnrollmentToken) }),
})

export const createEnrollmentToken = operation({
  id: 'createEnrollmentToken',
  method: 'POST',
  path: '/prime/webui/agents/enrollmenttokens',
  tag: 'Agents',
  summary: 'Creates an enrolment token',
  permission: 'enrolment:manage',
  body: closed({
    name: typedText({ minLength: 1, maxLength: 120, description: 'Purpose of the token.' }),
    expiresInHours: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 8_760, default: 24, description: 'Hours until the token expires.' }),
    ),
    maxUses: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        default: 100,
        description: 'Maximum number of hosts to enrol.',
      }),
    ),
    hashtags: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        maxItems: 50,
        description: 'Tags for each host that enrols with the token.',
      }),
    ),
    allowTakeOver: Type.Optional(Type.Boolean({ default: true, description: 'See EnrollmentToken.' })),
    hostIdentifiers: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 255, pattern: '^[A-Za-z0-9._-]+$' }), {
        minItems: 1,
        maxItems: 2_000,
        description:
          'Host names that can enrol with the token, each once, as the command `hostname` prints them. Upper and lower case of the letters A to Z are the same. The token takes over only a known host of the same name. Absent: any host. `maxUses` then defaults to their number.',
      }),
    ),
  }),
  response: closed({
    ...EnrollmentToken.properties,
    token: Type.String({
      description:
        'The token, returned only once. It contains the hash of the CA key if the server created its own CA.',
    }),
    command: Type.String({
      description: 'Command to run as root on a Linux host. It prompts for the token or reads it from standard input.',
    }),
    reachableFromElsewhere: Type.Boolean({
      description: 'False if the server listens only on loopback, so other hosts cannot reach it.',
    }),
    serverUrl: Type.String({ description: 'Address at which hosts reach the server, without a trailing slash.' }),
    windowsInstaller: nullable(
      closed({
        name: Type.String({ description: 'Name of the file, such as `portcullis-agent-0.2.0-windows-x64.msi`.' }),
        version: Type.String({ description: 'Version of the agent in it.' }),
      }),
      {
        description:
          'Windows installer that `createWindowsInstaller` returns. `null`: this server has none. Releases contain it; a checkout needs `npm run build:msi`.',
      },
    ),
  }),
  errors: ['conflict'],
})

export const createWindowsInstaller = operation({
  id: 'createWindowsInstaller',
  method: 'POST',
  path: '/prime/webui/agents/enrollmenttokens/{id}/windowsinstaller',
  tag: 'Agents',
  summary: 'Returns the Windows installer with the address of the server and an enrolment token',
  description:
    'Use it for Group Policy, which cannot pass values to an installer. Keep the file secret until the token expires or is used up: everyone who can read it can enrol hosts with the token. The file is not signed. Sign it with the certificate of your organisation before you deploy it.',
  permission: 'enrolment:manage',
  params: closed({ id: Type.String({ maxLength: 64 }) }),
  body: closed({
    token: Type.String({
      minLength: 1,
      maxLength: 512,
      description:
        'The active enrolment token with this id, as the server returned it. The server stores only its hash.',
    }),
  }),
  response: Type.String(),
  responseKind: 'file',
  fileType: 'application/x-msi',
  errors: ['conflict', 'enrolment_refused'],
})

export const deleteEnrollmentToken = operation({
  id: 'deleteEnrollmentToken',
  method: 'DELETE',
  path: '/prime/webui/agents/enrollmenttokens/{id}',
  tag: 'Agents',
  summary: 'Revokes an enrolment token and keeps its hosts',
  permission: 'enrolment:manage',
  params: closed({ id: Type.String({ maxLength: 64 }) }),
  response: closed({ deleted: Type.Boolean() }),
})
