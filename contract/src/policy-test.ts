import { type Static, Type } from 'typebox'
import { enumFilter, tagsFilter } from './filters.ts'
import { closed, listQuery, operation, utcTime } from './operation.ts'
import { PolicyDraft } from './policy.ts'
import { Prediction, predictedDays } from './prediction.ts'

/** A device judged as if it were newly attached to an armed host. */
export const PolicyTestRow = closed({
  uuid: Type.String(),
  hostIdentifier: Type.String(),
  deviceID: Type.String(),
  vid: Type.String(),
  pid: Type.String(),
  guiVid: Type.String(),
  guiPid: Type.String(),
  devIcon: Type.Integer(),
  isKnownAttackTool: Type.Boolean({ description: 'The device is a known attack tool.' }),
  decision: Type.Enum(['allow', 'block']),
  reason: Type.String(),
  rule: Type.String({ description: 'Id of the rule, or the source of the decision.' }),
  lastSeen: Type.String({ description: 'UTC without a zone.' }),
  attachments: Type.Integer({ description: 'Times it was attached in the period; 0 when it was there before.' }),
})
export type PolicyTestRow = Static<typeof PolicyTestRow>

const policyTestAnswer = closed({
  computedAt: utcTime('When this was computed.'),
  days: Type.Integer(),
  agents: Type.Integer({
    description:
      'Hosts looked at: those that can be armed and had a device in that time; a host asked for by uuid always.',
  }),
  peripherals: Type.Integer({ description: 'Devices looked at: present, or attached in the period.' }),
  attachments: Type.Integer({ description: 'Attachments in the period.' }),
  blocked: closed({ agents: Type.Integer(), peripherals: Type.Integer(), attachments: Type.Integer() }),
  recordsTotal: Type.Integer(),
  recordsFiltered: Type.Integer(),
  data: Type.Array(PolicyTestRow, {
    description:
      'Blocked rows first, with attack tools before other devices, then the most frequently attached devices.',
  }),
})

const days = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 365, default: predictedDays, description: 'Period that is looked back over.' }),
)

export const getPolicyTest = operation({
  id: 'getPolicyTest',
  method: 'GET',
  path: '/prime/webui/agents/getPolicyTest',
  tag: 'Agents',
  summary: 'Says what arming would do, over stored inventory and history',
  permission: 'fleet:read',
  heavy: 'preview',
  description:
    'One account runs one preview or policy test at once and has 4 more wait; beyond that 429 with Retry-After.',
  query: closed({
    days,
    hashtags: tagsFilter('tags of the host'),
    hostUuid: Type.Optional(Type.String({ maxLength: 128, description: 'Only this host.' })),
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
  summary: 'The same for a draft of the rules',
  permission: 'fleet:read',
  heavy: 'preview',
  description:
    'One account runs one preview or policy test at once and has 4 more wait; beyond that 429 with Retry-After.',
  body: closed({
    draft: PolicyDraft,
    days,
    hashtags: Type.Optional(Type.Array(Type.String({ maxLength: 64 }), { maxItems: 50 })),
    decision: Type.Optional(Type.Enum(['allow', 'block'])),
    pageNumber: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000, default: 1 })),
    pageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 10_000, default: 50 })),
  }),
  response: closed({ ...policyTestAnswer.properties, prediction: Prediction }),
})
