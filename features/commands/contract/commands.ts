import { BulkResult, closed, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { agentParams } from '#features/agents/contract/agents.ts'
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
  errors: ['policy_tests_failed', 'second_person_required', 'windows_preview_off', 'windows_limit_reached', 'conflict'],
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
  errors: ['conflict', 'second_person_required'],
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
