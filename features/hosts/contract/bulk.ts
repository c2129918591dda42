import {
  closed,
  listQuery,
  nullable,
  operation,
  typedText,
  WorksAgain,
} from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { agentFilters } from '#features/agents/contract/agent-list.ts'
import { RevertMinutes } from '#features/commands/contract/arming.ts'
import { PolicyTestRow } from '#features/policy/contract/policy-test.ts'
import { Prediction } from '#features/policy/contract/prediction.ts'

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
      { ...agentFilters, GlobalSearch: listQuery.GlobalSearch, Query: listQuery.Query },
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

const { decision: _always, ...tested } = PolicyTestRow.properties

/** A device that arming blocks. */
const BlockedDevice = closed({
  ...tested,
  caption: Type.String({ description: 'Name of the device.' }),
  serialNumber: Type.String({ description: 'Empty if the device has none.' }),
  present: Type.Boolean({ description: 'True if the device is attached.' }),
  stopsWorking: Type.Boolean({
    description: 'True if the device stops working at once. Otherwise it is blocked when it is attached again.',
  }),
})
export type BlockedDevice = Static<typeof BlockedDevice>

/** A host that an action leaves out. */
const LeftOutHost = closed({
  uuid: Type.String({ description: 'UUID of the host.' }),
  hostIdentifier: Type.String({ description: 'Name of the host.' }),
  reason: impossibleHosts.properties.reason,
  code: impossibleHosts.properties.code,
})
export type LeftOutHost = Static<typeof LeftOutHost>

/** Maximum number of hosts and devices that a preview names. */
export const namedInPreview = 200

export const previewBulk = operation({
  id: 'previewBulk',
  method: 'POST',
  path: '/prime/webui/agents/bulk/preview',
  tag: 'Agents',
  summary: 'Previews an action on many hosts',
  permission: 'fleet:read',
  heavy: 'preview',
  body: closed({
    ...selection,
    withNames: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'When arming, true: also returns `leftOut` and `devices`. Ignored for other actions.',
      }),
    ),
  }),
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
    leftOut: Type.Optional(
      Type.Array(LeftOutHost, {
        description: `The first ${namedInPreview} hosts of \`impossible\` that exist, by host name.`,
      }),
    ),
    devices: Type.Optional(
      Type.Array(BlockedDevice, {
        description: `The first ${namedInPreview} devices that arming blocks: attack tools, then the most frequently attached devices.`,
      }),
    ),
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
      typedText({
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
