import { type Static, Type } from 'typebox'
import { agentCommandKinds } from './agent-protocol.ts'
import { agentFilters, agentParams } from './agents.ts'
import { enumFilter, textFilter, timeFilter } from './filters.ts'
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
import { Prediction } from './prediction.ts'

/** Life of a command. The last four are final; a confirmation that comes after a cancel wins. */
export const commandStates = ['queued', 'delivered', 'confirmed', 'failed', 'expired', 'cancelled'] as const
export type CommandState = (typeof commandStates)[number]

/** A command to one host. */
export const Command = closed({
  id: Type.String(),
  uuid: Type.String({ description: 'uuid of the agent.' }),
  hostIdentifier: Type.String(),
  kind: Type.Enum(agentCommandKinds),
  title: Type.String({ description: 'What it does, for people: `Arm`, `Free`, `Collect logs`.' }),
  state: Type.Enum(commandStates),
  createdAt: utcTime('When it was queued.'),
  createdBy: Type.String(),
  expiresAt: utcTime('After this the host refuses it.'),
  deliveredAt: nullable(utcTime('When the host got it first.')),
  endedAt: nullable(utcTime('When it was confirmed, failed, expired or cancelled.')),
  message: Type.String({ description: 'Why it failed or ended; empty otherwise.' }),
  jobId: nullable(Type.String()),
})
export type Command = Static<typeof Command>

export const listCommands = operation({
  id: 'listCommands',
  method: 'GET',
  path: '/prime/webui/agents/commands',
  tag: 'Agents',
  summary: 'Lists commands with their state, newest first',
  permission: 'fleet:read',
  query: closed({
    state: enumFilter('state', commandStates),
    kind: enumFilter('kind', agentCommandKinds),
    hostUuid: textFilter('uuid'),
    hostIdentifier: textFilter('hostIdentifier'),
    jobId: textFilter('jobId'),
    createdAt: timeFilter('createdAt'),
    ...listQuery,
  }),
  response: page(Command),
  responseKind: 'list',
})

const identity = (what: string) => Type.Optional(nullable(Type.String({ maxLength: 255, description: what })))

/** What is asked of one host. Open: other members are ignored. */
const configRequest = Type.Object({
  isSystemArmed: Type.Optional(
    nullable(Type.String({ maxLength: 16, description: '`ARM` or `free`, any case; absent with approveAll alone.' })),
  ),
  approveAll: Type.Optional(
    nullable(
      Type.Boolean({
        description:
          'Approve every present peripheral that is not a suspected or confirmed attack tool; what was denied stays denied.',
      }),
    ),
  ),
  applyToPresent: Type.Optional(nullable(Type.Boolean({ description: 'Arming judges what is attached now, too.' }))),
})

export const agentsConfiguration = operation({
  id: 'agentsConfiguration',
  method: 'POST',
  path: '/prime/webui/agents/configuration',
  tag: 'Agents',
  summary: 'Arms or frees hosts, approves what is attached',
  fresh: 'it frees more hosts than one person may free alone',
  description:
    'Each item names exactly one agent by uuid, host name or address. One bad item: nothing is applied. A signed command is queued per agent; `inAction` until the agent confirms. Freeing more hosts than a second person is needed for answers 403 and files a request.',
  permission: 'fleet:write',
  plainErrors: true,
  body: nullable(
    Type.Array(
      closed({
        uuid: identity('Exact uuid.'),
        hostIdentifier: identity('Host name, ignoring case.'),
        ipAddress: identity('Address.'),
        agentConfigViewResource: Type.Optional(nullable(configRequest)),
      }),
      { maxItems: 100_000 },
    ),
  ),
  bodyOptional: true,
  response: Type.Array(
    closed({
      uuid: Type.String(),
      hostIdentifier: Type.String(),
      ipAddress: Type.String(),
      agentConfigViewResource: closed({
        isSystemArmed: nullable(Type.String()),
        isSystemLocked: Type.Null(),
        centralizedConsoleIP: Type.Null(),
      }),
    }),
  ),
  errors: ['second_person_required'],
  examples: {
    request: [
      { uuid: null, hostIdentifier: 'KIOSK-0413', ipAddress: null, agentConfigViewResource: { isSystemArmed: 'ARM' } },
    ],
  },
})

const ids = nullable(Type.Array(Type.String({ maxLength: 128 }), { maxItems: 100_000 }))
const onIds = {
  method: 'POST',
  tag: 'Agents',
  permission: 'fleet:write',
  body: ids,
  bodyOptional: true,
  response: BulkResult,
} as const

export const deleteAgentsCommands = operation({
  ...onIds,
  id: 'deleteAgentsCommands',
  path: '/prime/webui/agents/deleteAgentsCommands',
  summary: 'Cancels commands of these agents that are not confirmed yet',
})

/** Which agents are updated, and which are not. */
export const UpdateResult = closed({
  ...BulkResult.properties,
  current: Type.Array(Type.String(), { description: 'Agents that already run the newest published build.' }),
  noReleaseKey: Type.Array(Type.String(), {
    description: 'Agents that were built without a release key and accept no updates. Reinstall them.',
  }),
  notPublished: Type.Array(Type.String(), {
    description: 'Agents for whose architecture no build is published.',
  }),
})
export type UpdateResult = Static<typeof UpdateResult>

export const updateAgents = operation({
  ...onIds,
  id: 'updateAgents',
  path: '/prime/webui/agents/updateAgents',
  fresh: true,
  summary: 'Queues an update to the newest published agent build',
  description:
    'Every id appears in exactly one list of the response. Returns 409 when no agent can be updated because no build is published for their architectures, all of them are up to date, or they have no release key.',
  response: UpdateResult,
  errors: ['conflict'],
})

export const fetchAgentsDebugLogs = operation({
  ...onIds,
  id: 'fetchAgentsDebugLogs',
  path: '/prime/webui/agents/fetchagentsdebuglogs',
  summary: 'Asks agents for their debug logs',
  errors: ['conflict'],
})

export const getLoggedAgents = operation({
  id: 'getLoggedAgents',
  method: 'GET',
  path: '/prime/webui/agents/getloggedagents',
  tag: 'Agents',
  summary: 'Lists agents whose debug logs are here',
  permission: 'debuglogs:read',
  response: Type.Array(
    closed({
      uuid: Type.String(),
      hostIdentifier: Type.String(),
      localIpAddress: Type.String(),
      connectionStatus: Type.Enum(['Connected', 'Disconnected']),
      logs: Type.Array(
        closed({
          id: Type.String(),
          collectedAt: zonelessTime('When it was received.'),
          size: Type.Integer({ description: 'Bytes of the gzip.' }),
        }),
      ),
    }),
  ),
})

export const getDebugLog = operation({
  id: 'getDebugLog',
  method: 'GET',
  path: '/prime/webui/agents/agent/{agentId}/debuglogs/{id}',
  tag: 'Agents',
  summary: 'Downloads debug logs of an agent as gzip',
  permission: 'debuglogs:read',
  params: closed({ ...agentParams.properties, id: Type.String({ minLength: 1, maxLength: 64 }) }),
  response: Type.String(),
  responseKind: 'file',
  fileType: 'application/gzip',
})

const device = {
  uuid: identity('uuid of the agent.'),
  hostIdentifier: identity('Host name, ignoring case.'),
  ipAddress: identity('Address.'),
  vid: Type.String({ pattern: '^[0-9A-Fa-f]{4}$', description: 'Vendor id.' }),
  pid: Type.String({ pattern: '^[0-9A-Fa-f]{4}$', description: 'Product id.' }),
  serialNumber: Type.Optional(nullable(Type.String({ maxLength: 255, description: 'Only the device with this one.' }))),
  deviceID: Type.Optional(nullable(Type.String({ maxLength: 512, description: 'Only this device.' }))),
}

export const peripheralsCommand = operation({
  id: 'peripheralsCommand',
  method: 'POST',
  path: '/prime/webui/peripherals/command',
  tag: 'Peripherals',
  summary: 'Approves or denies devices of hosts',
  description:
    'APPROVE makes an allow for that host, DISAPPROVE an explicit deny; the opposite one made by hand goes. Each item names exactly one agent. Approving a suspected or confirmed attack tool needs overrideAttackTool with a reason, by an Administrator.',
  permission: 'fleet:write',
  plainErrors: true,
  body: closed({
    opCode: Type.String({ maxLength: 16, description: '`APPROVE` or `DISAPPROVE`, any case.' }),
    peripheralsIds: nullable(Type.Array(closed(device), { maxItems: 100_000 })),
    reason: Type.Optional(nullable(Type.String({ maxLength: 200, description: 'Why; shown with the decision.' }))),
    overrideAttackTool: Type.Optional(nullable(Type.Boolean({ description: 'See the description.' }))),
  }),
  response: Type.Array(Type.String(), { description: 'uuids of the agents, each once.' }),
})

/** One decision about many devices. */
export const decideDevices = operation({
  id: 'decideDevices',
  method: 'POST',
  path: '/prime/webui/policy/decisions',
  tag: 'Policy',
  summary: 'Allows, denies or grants devices of hosts in one change',
  description:
    'All or nothing: one version of the policy, one audit record with the list, one undo (`undoPolicyVersion`). Each decision applies to the host that has the device. A decision that newly allows devices on more hosts than the limit becomes one change request. Allowing an attack tool needs overrideAttackTool, by an Administrator.',
  permission: 'fleet:write',
  body: closed({
    decision: Type.Enum(['allow', 'deny', 'grant'], { description: '`grant`: an allow that ends at `expiresAt`.' }),
    devices: Type.Array(closed(device), { minItems: 1, maxItems: 10_000 }),
    reason: Type.String({ minLength: 1, maxLength: 200, description: 'Why; shown with the decision.' }),
    expiresAt: Type.Optional(Type.String({ description: 'ISO 8601; required for a grant, refused otherwise.' })),
    overrideAttackTool: Type.Optional(Type.Boolean({ default: false })),
  }),
  response: closed({
    version: Type.Integer({ description: 'Version of the policy in force after this call.' }),
    isChanged: Type.Boolean({ description: 'False if every device was decided about in this way before.' }),
    rules: Type.Integer({ description: 'Rules that the decision consists of.' }),
    agents: Type.Integer({ description: 'Hosts of the devices.' }),
    jobId: nullable(Type.String({ description: 'Job that applies the decision to the hosts; null if they were few.' })),
  }),
})

// --- By filter --------------------------------------------------------------------------------------------------------

/** What can be done to many hosts at once. */
export const bulkActions = [
  'arm',
  'free',
  'approveAll',
  'delete',
  'cancelCommands',
  'update',
  'collectLogs',
  'tag',
  'untag',
] as const
export type BulkAction = (typeof bulkActions)[number]

/** Hosts of a bulk action: named ones, or all that a filter of the agents list leaves. Exactly one of both. */
const selection = {
  uuids: Type.Optional(Type.Array(Type.String({ maxLength: 128 }), { minItems: 1, maxItems: 100_000 })),
  filter: Type.Optional(
    closed({ ...agentFilters, GlobalSearch: listQuery.GlobalSearch }, { description: 'Empty: all agents.' }),
  ),
  action: Type.Enum(bulkActions),
  applyToPresent: Type.Optional(Type.Boolean({ default: false })),
  hashtags: Type.Optional(
    Type.Array(Type.String({ maxLength: 256 }), {
      maxItems: 20,
      description: 'Tags to put on or to take off; for these two actions alone. Those that do not exist are made.',
    }),
  ),
}

export const previewBulk = operation({
  id: 'previewBulk',
  method: 'POST',
  path: '/prime/webui/agents/bulk/preview',
  tag: 'Agents',
  summary: 'Says what an action on many hosts would do',
  permission: 'fleet:read',
  body: closed(selection),
  response: closed({
    action: Type.Enum(bulkActions),
    agents: Type.Integer({ description: 'Hosts the action is for.' }),
    impossible: Type.Array(closed({ reason: Type.String(), agents: Type.Integer() }), {
      description: 'Hosts it cannot be carried out for, by reason; they are left out.',
    }),
    disconnected: Type.Integer({ description: 'Hosts that get it when they are back.' }),
    unchanged: Type.Integer({ description: 'Hosts that are so already.' }),
    blocked: closed(
      { agents: Type.Integer(), peripherals: Type.Integer() },
      {
        description:
          'Arming: present devices the policy would block, with applyToPresent at once, else when attached anew.',
      },
    ),
    attackTools: Type.Integer({ description: 'Arming: attached attack tools that stop working at once.' }),
    mismatched: closed(
      { agents: Type.Integer(), peripherals: Type.Integer() },
      {
        description:
          'When arming: attached devices with a kernel driver that is not allowed for their kind. Their ports would be held.',
      },
    ),
    worksAgain: closed(WorksAgain.properties, {
      description: 'Blocked devices that work again. Arming has none.',
    }),
    secondPerson: Type.Boolean({ description: 'A second approver is required.' }),
    prediction: nullable(Prediction, { description: 'null: the action changes neither modes nor decisions.' }),
  }),
})

export const runBulk = operation({
  id: 'runBulk',
  method: 'POST',
  path: '/prime/webui/agents/bulk',
  tag: 'Agents',
  summary: 'Carries an action out on many hosts',
  fresh: 'it updates hosts, or frees or deletes more hosts than one person may alone',
  description: 'One request, one job. Hosts it is impossible for are left out and named by the job.',
  permission: 'fleet:write',
  body: closed({
    ...selection,
    expectedAgents: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Refused with 409 when the selection has another number of hosts by now.',
      }),
    ),
    reason: Type.Optional(
      Type.String({
        maxLength: 200,
        description:
          'Why; kept in the audit trail and shown to a second approver. The console asks for it when the action allows devices on more than one host.',
      }),
    ),
  }),
  response: closed({
    accepted: Type.Integer({ description: 'Hosts it is carried out for.' }),
    skipped: Type.Integer(),
    jobId: nullable(Type.String()),
  }),
  errors: ['conflict', 'second_person_required'],
})

// --- Jobs -------------------------------------------------------------------------------------------------------------

export const jobStates = ['running', 'completed', 'failed', 'cancelled'] as const

/** Work that takes longer than a request. */
export const Job = closed({
  id: Type.String(),
  kind: Type.String({ description: '`commands`, `policy`, `knowledge`, …' }),
  title: Type.String(),
  state: Type.Enum(jobStates),
  total: Type.Integer({ description: 'Parts it has; 0 while not known.' }),
  done: Type.Integer({ description: 'Parts that ended well.' }),
  failed: Type.Integer({ description: 'Parts that failed, expired or were cancelled.' }),
  message: Type.String(),
  createdBy: Type.String(),
  createdAt: utcTime('Start.'),
  endedAt: nullable(utcTime('End.')),
  canCancel: Type.Boolean(),
})
export type Job = Static<typeof Job>

export const listJobs = operation({
  id: 'listJobs',
  method: 'GET',
  path: '/prime/webui/jobs',
  tag: 'Jobs',
  summary: 'Lists running jobs and those that ended in the last day, newest first',
  permission: 'fleet:read',
  response: closed({ data: Type.Array(Job, { description: 'At most 200.' }) }),
})

const jobParams = closed({ id: Type.String({ minLength: 1, maxLength: 64 }) })

export const getJob = operation({
  id: 'getJob',
  method: 'GET',
  path: '/prime/webui/jobs/{id}',
  tag: 'Jobs',
  summary: 'Reads one job',
  permission: 'fleet:read',
  params: jobParams,
  response: Job,
})

export const cancelJob = operation({
  id: 'cancelJob',
  method: 'POST',
  path: '/prime/webui/jobs/{id}/cancel',
  tag: 'Jobs',
  summary: 'Ends a job; what it has done stays',
  permission: 'fleet:write',
  params: jobParams,
  response: Job,
  errors: ['conflict'],
})
