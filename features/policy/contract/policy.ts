import { agentLimits } from '@portcullis/contract/agent-limits.ts'
import { policyKinds } from '@portcullis/contract/agent-protocol.ts'
import { booleanFilter, enumFilter, tagsFilter, textFilter } from '@portcullis/platform/contract/filters.ts'
import {
  closed,
  listQuery,
  nullable,
  operation,
  page,
  utcTime,
  WorksAgain,
} from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { newlyAllowed, reasonGiven } from '#features/change-requests/contract/newly-allowed.ts'
import { DecisionDraft } from './decisions.ts'
import { Prediction, TakesEffect } from './prediction.ts'
import { groupOfRules } from './rule-groups.ts'

/** Levels of rules, narrowest first. An allow rule of a narrower level overrides one of a wider level. */
export const ruleLevels = ['grant', 'host', 'tag', 'global'] as const
export type RuleLevel = (typeof ruleLevels)[number]

/** States of a rule. Only rules that are `In force` apply. */
export const ruleStates = ['In force', 'Expired', 'Tag deleted', 'Not authentic'] as const

const hex4 = (description: string) => Type.String({ pattern: '^[0-9A-Fa-f]{4}$', description })

/** The conditions of a rule on devices and hosts. Absent or null fields match everything. */
const match = {
  vid: Type.Optional(nullable(hex4('Vendor ID (VID), four hex digits.'))),
  pid: Type.Optional(nullable(hex4('Product ID (PID), four hex digits. Requires `vid`.'))),
  serial: Type.Optional(
    nullable(
      Type.String({
        maxLength: agentLimits.escapedString,
        description:
          'Serial number as the lists show it: hidden characters as `%07` or `%u200B`. The comparison ignores ASCII case, and `_` equals a space. Empty: only devices without a serial number, which any device can be. Such a rule counts as one without a serial number. Requires `vid` and `pid`.',
      }),
    ),
  ),
  kinds: Type.Optional(
    nullable(
      Type.Array(Type.Enum(policyKinds), {
        minItems: 1,
        maxItems: policyKinds.length,
        description:
          'Kinds of devices. An allow rule matches devices that have only these kinds. A deny rule matches devices that have any of them.',
      }),
    ),
  ),
  fingerprint: Type.Optional(
    nullable(
      Type.String({
        pattern: '^[0-9a-f]{32}$',
        description: 'Exact fingerprint of the descriptors, or the fingerprint without the revision.',
      }),
    ),
  ),
  host: Type.Optional(
    nullable(Type.String({ maxLength: 128, description: 'UUID of the only host that the rule applies to.' })),
  ),
  tag: Type.Optional(
    nullable(
      Type.String({
        minLength: 1,
        maxLength: 64,
        description: 'The rule applies to hosts with this tag. Cannot be combined with `host`.',
      }),
    ),
  ),
}

const reason = Type.String({
  maxLength: 200,
  description:
    'Reason. Only a deny rule may leave it empty. It is shown with every decision of the rule, and to the user of a host when the rule blocks a device.',
})

/** A rule in requests. At least one of `vid`, `kinds` and `fingerprint` is required. */
export const PolicyRuleInput = closed({
  effect: Type.Enum(['allow', 'deny']),
  ...match,
  expiresAt: Type.Optional(nullable(utcTime('Expiry of the rule. Absent or `null`: the rule does not expire.'))),
  reason,
  overrideAttackTool: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'True: allow the device although it is a known attack tool. Only Administrators can set it. Audited.',
    }),
  ),
})
export type PolicyRuleInput = Static<typeof PolicyRuleInput>

/** A rule or a grant in requests. */
export const PolicyRuleBody = closed({
  ...PolicyRuleInput.properties,
  isGrant: Type.Optional(
    Type.Boolean({
      default: false,
      description:
        'True: a grant, an allow rule that overrides all other allow rules. It requires `expiresAt`, at most the configured number of hours ahead.',
    }),
  ),
  group: groupOfRules,
})
export type PolicyRuleBody = Static<typeof PolicyRuleBody>

/** A grant in requests of the deprecated operations. */
export const PolicyGrantInput = closed({
  ...match,
  expiresAt: utcTime('Expiry of the grant, at most the configured number of hours ahead.'),
  reason,
  overrideAttackTool: PolicyRuleInput.properties.overrideAttackTool,
})

/** A rule or grant as it is stored. */
export const PolicyRuleResource = closed({
  id: Type.String({ 'x-label': 'Rule' }),
  effect: Type.Enum(['allow', 'deny'], { 'x-labels': { allow: 'Allow', deny: 'Deny' } }),
  level: Type.Enum(ruleLevels, {
    'x-labels': { grant: 'Grant', host: 'Host', tag: 'Tag', global: 'All hosts' },
    description: 'Rank among allow rules. Deny rules always win.',
  }),
  sentence: Type.String({ description: 'The rule as a sentence.' }),
  vid: nullable(Type.String(), { 'x-label': 'Vendor ID', 'x-form': 'hex' }),
  pid: nullable(Type.String(), { 'x-label': 'Product ID', 'x-form': 'hex' }),
  serial: nullable(Type.String(), { 'x-label': 'Serial number' }),
  kinds: nullable(Type.Array(Type.String())),
  fingerprint: nullable(Type.String()),
  host: nullable(Type.String({ description: 'UUID of the host.' }), { 'x-label': 'Host ID' }),
  hostIdentifier: nullable(Type.String(), { 'x-label': 'Host' }),
  tag: nullable(Type.String()),
  expiresAt: nullable(utcTime('Expiry of the rule.'), { 'x-label': 'Expires' }),
  reason: Type.String(),
  overrideAttackTool: Type.Boolean({ 'x-label': 'Overrides attack-tool finding' }),
  origin: Type.Enum(['rule', 'approval'], {
    'x-labels': { rule: 'Rule', approval: 'Approval' },
    description: '`rule`: written as a rule. `approval`: created by approving or denying a device.',
  }),
  state: Type.Enum(ruleStates),
  createdAt: utcTime('Time at which the rule was created.'),
  createdBy: Type.String(),
  changedAt: utcTime('Time of the last change.'),
  changedBy: Type.String(),
  groupId: nullable(Type.String({ description: 'ID of its group.' }), { 'x-label': 'Group ID' }),
  group: nullable(Type.String({ description: 'Name of its group.' })),
  hits: Type.Integer({
    'x-label': 'Hits (30 days)',
    description:
      'Number of hits in the last 30 days: attachments of devices that this rule decides about. Updated every hour. 0 for grants.',
  }),
  isUnused: Type.Boolean({
    'x-label': 'Unused',
    description:
      'True: the rule is older than 30 days, has no hits, and decides about no attached device. Updated every hour.',
  }),
  shadowedBy: nullable(
    Type.String({
      description:
        'ID of another rule that makes the same decision, or denies, about every device of this rule on its hosts. Deleting this rule changes no decision. Updated within a minute after a change.',
    }),
    { 'x-label': 'Shadowed by' },
  ),
})
export type PolicyRuleResource = Static<typeof PolicyRuleResource>

/** A warning about a rule. Warnings never prevent a change. */
export const PolicyWarning = closed({
  code: Type.Enum([
    'contradicts',
    'shadowed',
    'shadows',
    'duplicate',
    'matches-nothing',
    'needs-keyboard',
    'blocks-present',
    'allows-attack-tool',
    'wide',
  ]),
  text: Type.String({ description: 'The warning as a sentence.' }),
  ruleId: nullable(Type.String({ description: 'ID of the other rule, if there is one.' })),
})
export type PolicyWarning = Static<typeof PolicyWarning>

/** The response to every change of the rules. */
export const PolicyChange = closed({
  version: Type.Integer({ description: 'New version of the policy.' }),
  rule: nullable(PolicyRuleResource, { description: 'The stored rule. `null` if it was deleted.' }),
  warnings: Type.Array(PolicyWarning),
  jobId: nullable(Type.String({ description: 'ID of the job that updates the decisions on stored devices.' })),
})
export type PolicyChange = Static<typeof PolicyChange>

export const ruleFilters = {
  effect: enumFilter('effect', ['allow', 'deny'], { isSingle: true }),
  level: enumFilter('level', ruleLevels, { label: 'Scope', values: ruleLevels.filter((level) => level !== 'grant') }),
  state: enumFilter('state', ruleStates, { labels: { 'In force': 'Active' } }),
  origin: enumFilter('origin', ['rule', 'approval'], {
    label: 'Source',
    labels: { rule: 'Rule', approval: 'Device decision' },
  }),
  vid: textFilter('vid'),
  pid: textFilter('pid'),
  serial: textFilter('serial'),
  host: textFilter('hostIdentifier or uuid', { of: 'hostIdentifier' }),
  tag: tagsFilter('tag'),
  group: textFilter('group (the full name of a group matches only this group)', { of: 'group' }),
  reason: textFilter('reason'),
  isUnused: booleanFilter('isUnused'),
  isShadowed: booleanFilter('shadowed rules', { label: 'Shadowed' }),
}

/** The version of a rule that the caller read. */
const ifChangedAt = Type.Optional(
  utcTime(
    '`changedAt` of the rule as the caller read it. If the rule has changed since, the server returns 409 with the name of the person, and changes nothing. Absent: the change is made in any case.',
  ),
)

const rulesQuery = closed({ ...ruleFilters, ...listQuery })
const ruleParams = closed({ id: Type.String({ minLength: 1, maxLength: 64, description: 'ID of the rule.' }) })
const common = {
  tag: 'Policy',
  permission: 'fleet:write',
  errors: ['conflict', 'forbidden_object', 'named_hosts_required', 'policy_tests_failed', 'second_person_required'],
} as const

export const listPolicyRules = operation({
  id: 'listPolicyRules',
  method: 'GET',
  path: '/prime/webui/policy/rules',
  tag: 'Policy',
  summary: 'Lists rules in order of precedence',
  description:
    'Deny rules come first, then allow rules for hosts, for tags and for all hosts. Lists grants only if `level` names them.',
  permission: 'fleet:read',
  query: closed({
    ...rulesQuery.properties,
    IsUngrouped: Type.Optional(
      Type.Boolean({
        default: false,
        description: 'True: only rules that are in no group. The total counts only these.',
      }),
    ),
  }),
  response: page(PolicyRuleResource),
  responseKind: 'list',
})

export const createPolicyRule = operation({
  ...common,
  fresh: 'the rule allows an attack tool',
  id: 'createPolicyRule',
  method: 'POST',
  path: '/prime/webui/policy/rules',
  summary: 'Adds a rule or a grant',
  description:
    'The rule applies as soon as the server responds. Armed hosts receive it within a second. Contradicting and shadowed rules cause warnings and are not refused.',
  body: PolicyRuleBody,
  response: PolicyChange,
  examples: { request: { effect: 'allow', vid: '0781', pid: '5571', tag: 'kiosk', reason: 'audio desk' } },
})

export const updatePolicyRule = operation({
  ...common,
  fresh: 'the rule allows an attack tool',
  id: 'updatePolicyRule',
  method: 'PUT',
  path: '/prime/webui/policy/rules/{id}',
  summary: 'Replaces a rule or a grant',
  description:
    'A rule cannot become a grant, and a grant cannot become a rule. Without `group`, the rule stays in its group. `null` removes it from the group.',
  params: ruleParams,
  body: closed({ ...PolicyRuleBody.properties, ifChangedAt }),
  response: PolicyChange,
})

export const deletePolicyRule = operation({
  ...common,
  id: 'deletePolicyRule',
  method: 'DELETE',
  path: '/prime/webui/policy/rules/{id}',
  summary: 'Deletes a rule, or ends a grant now',
  description: 'The remaining rules decide on its devices.',
  params: ruleParams,
  query: closed({ reason: reasonGiven, ifChangedAt }),
  response: PolicyChange,
})

export const listPolicyGrants = operation({
  ...listPolicyRules,
  id: 'listPolicyGrants',
  path: '/prime/webui/policy/grants',
  query: rulesQuery,
  summary: 'Lists grants, sorted by expiry',
  description: 'The list has only grants.',
  replacedBy: '`GET policy/rules` with `level=grant`',
})

export const createPolicyGrant = operation({
  ...common,
  fresh: 'the rule allows an attack tool',
  id: 'createPolicyGrant',
  method: 'POST',
  path: '/prime/webui/policy/grants',
  summary: 'Creates a grant',
  replacedBy: '`POST policy/rules` with `isGrant`',
  body: PolicyGrantInput,
  response: PolicyChange,
})

export const updatePolicyGrant = operation({
  ...common,
  fresh: 'the rule allows an attack tool',
  id: 'updatePolicyGrant',
  method: 'PUT',
  path: '/prime/webui/policy/grants/{id}',
  summary: 'Replaces a grant',
  replacedBy: '`PUT policy/rules/{id}` with `isGrant`',
  params: ruleParams,
  body: PolicyGrantInput,
  response: PolicyChange,
})

export const deletePolicyGrant = operation({
  ...deletePolicyRule,
  id: 'deletePolicyGrant',
  path: '/prime/webui/policy/grants/{id}',
  summary: 'Ends a grant now',
  replacedBy: '`DELETE policy/rules/{id}`',
})

/** A draft of a change of the rules. */
export const PolicyDraft = closed({
  add: Type.Optional(Type.Array(PolicyRuleInput, { maxItems: 1_000, description: 'Rules to add.' })),
  remove: Type.Optional(
    Type.Array(Type.String({ maxLength: 64 }), { maxItems: 10_000, description: 'IDs of rules to remove.' }),
  ),
})
export type PolicyDraft = Static<typeof PolicyDraft>

/** A device whose decision a draft changes. */
export const PolicyEffect = closed({
  uuid: Type.String(),
  hostIdentifier: Type.String(),
  deviceID: Type.String(),
  caption: Type.String(),
  vid: Type.String(),
  pid: Type.String(),
  devIcon: Type.Integer(),
  present: Type.Boolean(),
  armed: Type.Boolean({ description: 'True if the host is armed, so the change applies at once.' }),
  canBlock: Type.Boolean({ description: 'True if the host blocks devices once it is armed.' }),
  isKnownAttackTool: Type.Boolean({ description: 'True if the device is a known attack tool.' }),
  before: Type.Enum(['allow', 'block']),
  after: Type.Enum(['allow', 'block']),
  lastSeen: utcTime('Time of the last attachment or, for a detached device, of its removal.'),
  attachments: Type.Integer({
    description: 'Number of attachments in the period. 0 if the device was attached before the period.',
  }),
})
export type PolicyEffect = Static<typeof PolicyEffect>

export const previewPolicy = operation({
  id: 'previewPolicy',
  method: 'POST',
  path: '/prime/webui/policy/preview',
  tag: 'Policy',
  summary: 'Previews a change of the rules',
  permission: 'fleet:read',
  heavy: 'preview',
  description:
    'Counts exactly the devices that the change decides about: all known devices, attached or not, on all hosts. An account can run one preview or policy test at a time, with 4 more waiting. Further calls get 429 with Retry-After.',
  body: closed({
    ...PolicyDraft.properties,
    decide: Type.Optional(DecisionDraft),
  }),
  response: closed({
    computedAt: utcTime('Time of the computation.'),
    agents: Type.Integer({ description: 'Number of hosts on which a decision changes.' }),
    armedAgents: Type.Integer({
      description: 'Number of these hosts that are armed. The other hosts block nothing until they are armed.',
    }),
    peripherals: Type.Integer({
      description: 'Number of devices whose decision changes.',
    }),
    matching: closed({
      agents: Type.Integer({
        description: 'Number of hosts with a device that the added rules match, even if its decision does not change.',
      }),
      armedAgents: Type.Integer({ description: 'Number of these hosts that are armed.' }),
      peripherals: Type.Integer(),
      takesEffect: TakesEffect,
    }),
    allowed: Type.Integer({ description: 'Number of devices that change from block to allow.' }),
    blocked: Type.Integer({ description: 'Number of devices that change from allow to block.' }),
    blockedNow: Type.Integer({
      description: 'Number of newly blocked devices that are attached to armed hosts and therefore stop working.',
    }),
    worksAgain: WorksAgain,
    newlyAllowed: newlyAllowed('Number of hosts on which the change newly allows devices, even if none has been seen.'),
    effects: Type.Array(PolicyEffect, {
      description: 'The first 200 devices: attack tools, then devices that stop working, then all others.',
    }),
    warnings: Type.Array(PolicyWarning),
    brokenTests: Type.Array(
      closed({
        id: Type.String({ description: 'ID of the test.' }),
        name: Type.String(),
        expected: Type.Enum(['allow', 'block']),
        decision: Type.Enum(['allow', 'block'], { description: 'Decision after the change.' }),
        why: Type.String({ description: 'Reason for the new decision, as text.' }),
      }),
      {
        description:
          'The first 100 rule tests that pass now and would fail after the change. If there are any, the server refuses the change.',
      },
    ),
    secondPerson: Type.Boolean({ description: 'True if saving this change requires a second approver.' }),
    prediction: Prediction,
  }),
})

export const PolicySettings = closed({
  twoPersonHosts: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description:
        'Freeing, deleting or newly allowing devices on more hosts than this needs a second approver. `null`: no second approver is required.',
    }),
  ),
  grantMaxHours: Type.Integer({ minimum: 1, maximum: 8_760, description: 'Maximum duration of a grant.' }),
  commandHours: Type.Integer({
    minimum: 1,
    maximum: 8_760,
    description: 'Hours after which an undelivered command expires.',
  }),
  contact: Type.String({ maxLength: 200, description: 'Contact that users of hosts see when a device is blocked.' }),
})
export type PolicySettings = Static<typeof PolicySettings>

/** Summarises the policy. */
export const getPolicy = operation({
  id: 'getPolicy',
  method: 'GET',
  path: '/prime/webui/policy',
  tag: 'Policy',
  summary: 'Summarises the policy, its settings and the second approver',
  permission: 'fleet:read',
  response: closed({
    version: Type.Integer(),
    rules: closed({ allow: Type.Integer(), deny: Type.Integer(), grants: Type.Integer(), inert: Type.Integer() }),
    agents: closed({ armed: Type.Integer(), free: Type.Integer() }),
    waiting: Type.Integer({ description: 'Number of devices that are attached to armed hosts and wait for approval.' }),
    settings: PolicySettings,
    twoPerson: closed({
      active: Type.Boolean(),
      explanation: Type.String({ description: 'Why a second approver is or is not required, as a sentence.' }),
      liftedUntil: nullable(
        utcTime(
          'End of the period for which the command line of the server lifted the requirement. `null`: it is not lifted.',
        ),
      ),
    }),
  }),
})

export const updatePolicySettings = operation({
  id: 'updatePolicySettings',
  method: 'PUT',
  path: '/prime/webui/policy/settings',
  tag: 'Policy',
  summary: 'Changes the settings of the policy',
  fresh: 'it raises the limit of hosts that one person may change alone',
  permission: 'config:write',
  description:
    'A change that requires a second approver less often needs a second approver itself and becomes a change request.',
  body: PolicySettings,
  response: PolicySettings,
  errors: ['second_person_required'],
})

/** Counts attachments and blocks by day for the overview. */
export const policyActivity = operation({
  id: 'policyActivity',
  method: 'GET',
  path: '/prime/webui/policy/activity',
  tag: 'Policy',
  summary: 'Counts attachments and blocks by the day (UTC) on which they happened, oldest first',
  permission: 'fleet:read',
  query: closed({
    days: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 90, default: 14, description: 'Number of days, up to and including today.' }),
    ),
  }),
  response: closed({
    data: Type.Array(
      closed({
        day: Type.String({ format: 'date' }),
        attachments: Type.Integer({ description: 'Number of attachments. A device counts each time it is attached.' }),
        blocked: Type.Integer({ description: 'Number of these attachments that were blocked.' }),
      }),
    ),
  }),
})
