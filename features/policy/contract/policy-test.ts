import { enumFilter, tagsFilter } from '@portcullis/platform/contract/filters.ts'
import { closed, listQuery, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { PolicyDraft } from './policy.ts'
import { Prediction, predictedDays } from './prediction.ts'

/** The decision on a device if it were newly attached to an armed host. */
export const PolicyTestRow = closed({
  uuid: Type.String(),
  hostIdentifier: Type.String(),
  deviceID: Type.String(),
  vid: Type.String(),
  pid: Type.String(),
  guiVid: Type.String(),
  guiPid: Type.String(),
  devIcon: Type.Integer(),
  isKnownAttackTool: Type.Boolean({ description: 'True if the device is a known attack tool.' }),
  decision: Type.Enum(['allow', 'block']),
  reason: Type.String(),
  rule: Type.String({ description: 'ID of the rule, or the source of the decision.' }),
  lastSeen: utcTime('Time of the last attachment or, for a detached device, of its removal.'),
  attachments: Type.Integer({
    description: 'Number of attachments in the period. 0 if the device was attached before the period.',
  }),
})
export type PolicyTestRow = Static<typeof PolicyTestRow>

const policyTestAnswer = closed({
  computedAt: utcTime('Time of the computation.'),
  days: Type.Integer(),
  agents: Type.Integer({
    description:
      'Hosts that were examined: all hosts that can be armed and had a device in the period. A host that `hostUuid` names is always included.',
  }),
  peripherals: Type.Integer({ description: 'Devices that were examined: attached now, or attached in the period.' }),
  attachments: Type.Integer({ description: 'Attachments in the period.' }),
  blocked: closed({ agents: Type.Integer(), peripherals: Type.Integer(), attachments: Type.Integer() }),
  recordsTotal: Type.Integer(),
  recordsFiltered: Type.Integer(),
  data: Type.Array(PolicyTestRow, {
    description:
      'Blocked rows first, with attack tools before other devices, then the most frequently attached devices.',
  }),
  prediction: Prediction,
})

const days = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 365, default: predictedDays, description: 'Number of past days to examine.' }),
)

export const getPolicyTest = operation({
  id: 'getPolicyTest',
  method: 'GET',
  path: '/prime/webui/agents/getPolicyTest',
  tag: 'Agents',
  summary: 'Simulates arming over the stored inventory and past attachments',
  permission: 'fleet:read',
  heavy: 'preview',
  description:
    'An account can run one preview or policy test at a time, with 4 more waiting. Further calls get 429 with Retry-After.',
  query: closed({
    days,
    hashtags: tagsFilter('tags of the host'),
    hostUuid: Type.Optional(Type.String({ maxLength: 128, description: 'UUID of one host. Absent: all hosts.' })),
    decision: enumFilter('decision', ['allow', 'block']),
    PageNumber: listQuery.PageNumber,
    PageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 50 })),
  }),
  response: policyTestAnswer,
})

export const testPolicyDraft = operation({
  id: 'testPolicyDraft',
  method: 'POST',
  path: '/prime/webui/policy/test',
  tag: 'Policy',
  summary: 'Simulates arming with a draft of the rules',
  permission: 'fleet:read',
  heavy: 'preview',
  description:
    'An account can run one preview or policy test at a time, with 4 more waiting. Further calls get 429 with Retry-After.',
  body: closed({
    draft: PolicyDraft,
    days,
    hashtags: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 50 })),
    decision: Type.Optional(Type.Enum(['allow', 'block'])),
    pageNumber: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 })),
    pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 50 })),
  }),
  response: policyTestAnswer,
})
