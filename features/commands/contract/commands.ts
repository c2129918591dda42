import {
  BulkResult,
  closed,
  listQuery,
  nullable,
  operation,
  utcTime,
  WorksAgain,
} from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { agentLimits } from '#features/agents/contract/agent-limits.ts'
import { agentFilters } from '#features/agents/contract/agent-list.ts'
import { agentParams } from '#features/agents/contract/agents.ts'
import { Prediction } from '#features/policy/contract/prediction.ts'
import { RevertMinutes } from './arming.ts'

const identity = (what: string) => Type.Optional(nullable(Type.String({ maxLength: 255, description: what })))

/** The requested configuration of a host. The server ignores unknown fields. */
const configRequest = Type.Object({
  isSystemArmed: Type.Optional(
    nullable(
      Type.String({
        maxLength: 16,
        description: '`ARM` or `FREE`, ignoring case. May be absent if `approveAll` is true.',
      }),
    ),
  ),
  approveAll: Type.Optional(
    nullable(
      Type.Boolean({
        description:
          'True: approve all attached devices except suspected or confirmed attack tools. Denied devices stay denied.',
      }),
    ),
  ),
  applyToPresent: Type.Optional(
    nullable(
      Type.Boolean({ description: 'True: when arming, also apply the policy to devices that are already attached.' }),
    ),
  ),
  revertMinutes: Type.Optional(nullable(RevertMinutes)),
})

export const agentsConfiguration = operation({
  id: 'agentsConfiguration',
  method: 'POST',
  path: '/prime/webui/agents/configuration',
  tag: 'Agents',
  summary: 'Arms or frees hosts and approves their attached devices',
  fresh: 'it frees more hosts than one person may free alone',
  description:
    'Each item identifies exactly one host by UUID, host name or address. If an item is invalid, nothing is applied. The server queues a signed command for each host; `inAction` is true from the response until the host confirms it. For more than 500 hosts, a job (`GET /prime/webui/jobs`) signs the commands after the response. The job skips hosts that got a newer order or a cancellation in the meantime. If 20 of your jobs of this kind are already running, the server returns 400 and applies nothing. If the number of hosts to free is above the limit for a second approver, the server returns 403 and stores a change request.',
  permission: 'fleet:write',
  plainErrors: true,
  body: nullable(
    Type.Array(
      closed({
        uuid: identity('UUID of the host. Comparison is case-sensitive.'),
        hostIdentifier: identity('Host name, ignoring case.'),
        ipAddress: identity('IP address of the host.'),
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
  errors: ['second_person_required', 'windows_preview_off', 'windows_limit_reached'],
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
  summary: 'Cancels all unconfirmed commands of hosts',
})

/** Lists which agents are updated and which are not. */
export const UpdateResult = closed({
  ...BulkResult.properties,
  current: Type.Array(Type.String(), { description: 'IDs of agents that already run the newest published build.' }),
  noReleaseKey: Type.Array(Type.String(), {
    description: 'IDs of agents that were built without a release key and accept no updates. Reinstall them.',
  }),
  notPublished: Type.Array(Type.String(), {
    description: 'IDs of agents for whose architecture no build is published.',
  }),
})
export type UpdateResult = Static<typeof UpdateResult>

export const updateAgents = operation({
  ...onIds,
  id: 'updateAgents',
  path: '/prime/webui/agents/updateAgents',
  fresh: true,
  summary: 'Updates agents to the newest published build',
  description:
    'Queues an update command for each agent. Every ID appears in exactly one list of the response. Returns 409 if no agent can be updated. Either no build is published for their architectures, or all are up to date or have no release key.',
  response: UpdateResult,
  errors: ['conflict'],
})

export const fetchAgentsDebugLogs = operation({
  ...onIds,
  id: 'fetchAgentsDebugLogs',
  path: '/prime/webui/agents/fetchagentsdebuglogs',
  summary: 'Requests debug logs from hosts',
  errors: ['conflict'],
})

export const getLoggedAgents = operation({
  id: 'getLoggedAgents',
  method: 'GET',
  path: '/prime/webui/agents/getloggedagents',
  tag: 'Agents',
  summary: 'Lists hosts with stored debug logs',
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
          collectedAt: utcTime('Time at which the server received the logs.'),
          size: Type.Integer({ description: 'Size of the gzip file in bytes.' }),
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
  summary: 'Downloads debug logs of a host as a gzip file',
  permission: 'debuglogs:read',
  params: closed({ ...agentParams.properties, id: Type.String({ minLength: 1, maxLength: 64 }) }),
  response: Type.String(),
  responseKind: 'file',
  fileType: 'application/gzip',
})

const device = {
  uuid: identity('UUID of the host.'),
  hostIdentifier: identity('Host name, ignoring case.'),
  ipAddress: identity('IP address of the host.'),
  vid: Type.String({ pattern: '^[0-9A-Fa-f]{4}$', description: 'Vendor ID (VID).' }),
  pid: Type.String({ pattern: '^[0-9A-Fa-f]{4}$', description: 'Product ID (PID).' }),
  serialNumber: Type.Optional(
    nullable(
      Type.String({ maxLength: agentLimits.escapedString, description: 'Only devices with this serial number.' }),
    ),
  ),
  deviceID: Type.Optional(nullable(Type.String({ maxLength: 2048, description: 'Only the device with this ID.' }))),
}

export const peripheralsCommand = operation({
  id: 'peripheralsCommand',
  method: 'POST',
  path: '/prime/webui/peripherals/command',
  tag: 'Peripherals',
  summary: 'Approves or denies devices on hosts',
  description:
    '`APPROVE` creates an allow rule for the host, `DISAPPROVE` a deny rule. An earlier approval or denial of the same device is removed. Each item identifies exactly one host. Only an Administrator can approve a suspected or confirmed attack tool, with `overrideAttackTool` and a reason.',
  permission: 'fleet:write',
  plainErrors: true,
  body: closed({
    opCode: Type.String({ maxLength: 16, description: '`APPROVE` or `DISAPPROVE`, ignoring case.' }),
    peripheralsIds: nullable(Type.Array(closed(device), { maxItems: 100_000 })),
    reason: Type.Optional(
      nullable(Type.String({ maxLength: 200, description: 'Reason. It is shown with the decision.' })),
    ),
    overrideAttackTool: Type.Optional(
      nullable(Type.Boolean({ description: 'True: approve attack tools. Only for Administrators.' })),
    ),
  }),
  response: Type.Array(Type.String(), { description: 'UUIDs of the hosts, each once.' }),
})

/** Makes one decision about many devices. */
export const decideDevices = operation({
  id: 'decideDevices',
  method: 'POST',
  path: '/prime/webui/policy/decisions',
  tag: 'Policy',
  summary: 'Allows, denies or grants many devices in one change',
  description:
    'The change is applied completely or not at all. It creates one version of the policy and one audit record, and `undoPolicyVersion` undoes it. Each device is decided on for its host only. A change that newly allows devices on more hosts than the limit becomes a change request. Only an Administrator can allow an attack tool, with `overrideAttackTool`.',
  permission: 'fleet:write',
  body: closed({
    decision: Type.Enum(['allow', 'deny', 'grant'], {
      description: '`grant`: an allow rule that expires at `expiresAt`.',
    }),
    devices: Type.Array(closed(device), { minItems: 1, maxItems: 10_000 }),
    reason: Type.String({
      maxLength: 200,
      description: 'Reason. It is shown with the decision. Only a deny may leave it empty.',
    }),
    expiresAt: Type.Optional(
      Type.String({ maxLength: 64, description: 'ISO 8601. Required for a grant, otherwise refused.' }),
    ),
    overrideAttackTool: Type.Optional(Type.Boolean({ default: false })),
  }),
  response: closed({
    version: Type.Integer({ description: 'Version of the policy after this call.' }),
    isChanged: Type.Boolean({ description: 'False if all devices already had this decision.' }),
    rules: Type.Integer({ description: 'Number of rules that make up the decision.' }),
    agents: Type.Integer({ description: 'Number of hosts of the devices.' }),
    jobId: nullable(
      Type.String({
        description: 'ID of the job that applies the decision to the hosts. `null` if no job was needed.',
      }),
    ),
  }),
})

// --- By filter --------------------------------------------------------------------------------------------------------

/** The actions of bulk operations. */
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

/** The hosts and the action of a bulk operation. Either `uuids` or `filter` is required, but not both. */
const selection = {
  uuids: Type.Optional(Type.Array(Type.String({ maxLength: 128 }), { minItems: 1, maxItems: 100_000 })),
  filter: Type.Optional(
    closed(
      { ...agentFilters, GlobalSearch: listQuery.GlobalSearch },
      { description: 'Filters of the list of hosts. Empty: all hosts.' },
    ),
  ),
  action: Type.Enum(bulkActions),
  applyToPresent: Type.Optional(Type.Boolean({ default: false })),
  revertMinutes: Type.Optional(RevertMinutes),
  hashtags: Type.Optional(
    Type.Array(Type.String({ maxLength: 256 }), {
      maxItems: 20,
      description: 'Tags to add or remove. Only for the actions `tag` and `untag`. Missing tags are created.',
    }),
  ),
}

/** Hosts that cannot carry out an action for the same reason. */
const impossibleHosts = closed({
  reason: Type.String({ description: 'Why the hosts cannot carry out the action, and what to do.' }),
  agents: Type.Integer({ description: 'Number of hosts.' }),
  code: Type.Optional(Type.String({ description: 'Code of the error table, for reasons that have one.' })),
})

export const previewBulk = operation({
  id: 'previewBulk',
  method: 'POST',
  path: '/prime/webui/agents/bulk/preview',
  tag: 'Agents',
  summary: 'Previews an action on many hosts',
  permission: 'fleet:read',
  heavy: 'preview',
  body: closed(selection),
  response: closed({
    action: Type.Enum(bulkActions),
    agents: Type.Integer({ description: 'Number of hosts that the action applies to.' }),
    impossible: Type.Array(impossibleHosts, {
      description: 'Hosts that cannot carry out the action, by reason. They are skipped.',
    }),
    grades: Type.Optional(
      Type.Array(closed({ enforcement: Type.String(), agents: Type.Integer() }), {
        description:
          'When arming: the hosts that the action applies to, by enforcement grade. What each grade guarantees: `facts.enforcement` of a check-in.',
      }),
    ),
    revertMinutes: Type.Optional(
      Type.Integer({ description: 'When arming: `revertMinutes` of the order, with the default filled in.' }),
    ),
    disconnected: Type.Integer({
      description: 'Number of disconnected hosts. They carry out the action when they reconnect.',
    }),
    unchanged: Type.Integer({ description: 'Number of hosts that are already in the requested state.' }),
    blocked: closed(
      { agents: Type.Integer(), peripherals: Type.Integer() },
      {
        description:
          'When arming: attached devices that the policy blocks. With `applyToPresent`, they are blocked at once, otherwise when they are attached again.',
      },
    ),
    attackTools: Type.Integer({
      description: 'When arming: number of attached attack tools that stop working at once.',
    }),
    mismatched: closed(
      { agents: Type.Integer(), peripherals: Type.Integer() },
      {
        description:
          'When arming: attached devices with a kernel driver that is not allowed for their kind. The hosts will hold their ports.',
      },
    ),
    worksAgain: closed(WorksAgain.properties, {
      description: 'Blocked devices that work again. Always 0 when arming.',
    }),
    secondPerson: Type.Boolean({ description: 'True if a second approver is required.' }),
    prediction: nullable(Prediction, { description: '`null`: the action changes neither modes nor decisions.' }),
  }),
})

export const runBulk = operation({
  id: 'runBulk',
  method: 'POST',
  path: '/prime/webui/agents/bulk',
  tag: 'Agents',
  summary: 'Carries out an action on many hosts',
  fresh: 'it updates hosts, or frees or deletes more hosts than one person may',
  description: 'The action runs as one job. Hosts that cannot carry it out are skipped and listed in the job.',
  permission: 'fleet:write',
  body: closed({
    ...selection,
    expectedAgents: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Expected number of hosts. If the selection now has another number, the server returns 409.',
      }),
    ),
    reason: Type.Optional(
      Type.String({
        maxLength: 200,
        description: 'Reason for the action. It is recorded in the audit trail and shown to the second approver.',
      }),
    ),
  }),
  response: closed({
    accepted: Type.Integer({ description: 'Number of hosts that the action is carried out on.' }),
    refused: Type.Optional(
      Type.Array(impossibleHosts, {
        description: 'Skipped hosts whose reason has a code. Absent if there are none.',
      }),
    ),
    skipped: Type.Integer(),
    jobId: nullable(Type.String()),
  }),
  errors: ['conflict', 'second_person_required'],
})

// --- Jobs -------------------------------------------------------------------------------------------------------------

export const jobStates = ['running', 'completed', 'failed', 'cancelled'] as const

/** Work that takes longer than a request. Clients follow its progress here. */
export const Job = closed({
  id: Type.String(),
  kind: Type.String({ description: '`commands`, `policy`, `knowledge`, …' }),
  title: Type.String(),
  state: Type.Enum(jobStates),
  total: Type.Integer({ description: 'Number of parts. 0 while unknown.' }),
  done: Type.Integer({ description: 'Number of completed parts.' }),
  failed: Type.Integer({ description: 'Number of parts that failed, expired or were cancelled.' }),
  message: Type.String(),
  createdBy: Type.String(),
  createdAt: utcTime('Start of the job.'),
  endedAt: nullable(utcTime('End of the job.')),
  canCancel: Type.Boolean({ description: 'Whether the job can be cancelled, with the permissions of the caller.' }),
})
export type Job = Static<typeof Job>

export const listJobs = operation({
  id: 'listJobs',
  method: 'GET',
  path: '/prime/webui/jobs',
  tag: 'Jobs',
  summary: 'Lists running jobs and jobs that ended in the last day, newest first',
  permission: 'fleet:read',
  response: closed({ data: Type.Array(Job, { description: 'At most 200 jobs.' }) }),
})

const jobParams = closed({ id: Type.String({ minLength: 1, maxLength: 64 }) })

export const getJob = operation({
  id: 'getJob',
  method: 'GET',
  path: '/prime/webui/jobs/{id}',
  tag: 'Jobs',
  summary: 'Returns a job',
  permission: 'fleet:read',
  params: jobParams,
  response: Job,
})

export const cancelJob = operation({
  id: 'cancelJob',
  method: 'POST',
  path: '/prime/webui/jobs/{id}/cancel',
  tag: 'Jobs',
  summary: 'Cancels a job',
  description: 'Completed parts are not undone. To cancel a backup, the caller also needs `config:write`.',
  permission: 'fleet:write',
  fresh: 'it cancels a backup',
  params: jobParams,
  response: Job,
  errors: ['conflict'],
})
