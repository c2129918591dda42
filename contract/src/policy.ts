import { type Static, Type } from 'typebox'
import { policyKinds } from './agent-protocol.ts'
import { booleanFilter, enumFilter, tagsFilter, textFilter, vendorFilter } from './filters.ts'
import { newlyAllowed, reasonGiven } from './opening.ts'
import { closed, listQuery, nullable, operation, page, utcTime, WorksAgain } from './operation.ts'
import { Prediction } from './prediction.ts'

/** Who a rule speaks to, from the narrowest; an allow of a narrower level outranks one of a wider. */
export const ruleLevels = ['grant', 'host', 'tag', 'global'] as const
export type RuleLevel = (typeof ruleLevels)[number]

/** How a rule stands now. Only one that is `In force` decides anything. */
export const ruleStates = ['In force', 'Expired', 'Tag deleted', 'Not authentic'] as const

const hex4 = (description: string) => Type.String({ pattern: '^[0-9A-Fa-f]{4}$', description })

/** What a rule asks of a device, and who it speaks to. Absent or null members ask nothing. */
const match = {
  vid: Type.Optional(nullable(hex4('Vendor id, four hex digits.'))),
  pid: Type.Optional(nullable(hex4('Product id, four hex digits; needs vid.'))),
  serial: Type.Optional(
    nullable(
      Type.String({
        maxLength: 255,
        description: 'Equals the serial number; empty: only devices that have none. Needs vid and pid.',
      }),
    ),
  ),
  kinds: Type.Optional(
    nullable(
      Type.Array(Type.Enum(policyKinds), {
        minItems: 1,
        maxItems: policyKinds.length,
        description: 'An allow covers a device that is nothing else; a deny one that is any of them.',
      }),
    ),
  ),
  fingerprint: Type.Optional(
    nullable(
      Type.String({
        pattern: '^[0-9a-f]{32}$',
        description: 'Exact fingerprint of the descriptors, or the one without revision.',
      }),
    ),
  ),
  host: Type.Optional(nullable(Type.String({ maxLength: 128, description: 'uuid of the one agent it speaks to.' }))),
  tag: Type.Optional(
    nullable(
      Type.String({ minLength: 1, maxLength: 64, description: 'Agents with this tag; not together with host.' }),
    ),
  ),
}

const reason = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'Why it is so; shown with every decision it makes, and to the user of a host when it blocks.',
})

/** A rule as it is written. At least one of vid, kinds and fingerprint is given. */
export const PolicyRuleInput = closed({
  effect: Type.Enum(['allow', 'deny']),
  ...match,
  expiresAt: Type.Optional(nullable(utcTime('End of the rule; without it the rule stays.'))),
  reason,
  overrideAttackTool: Type.Optional(
    Type.Boolean({
      default: false,
      description: 'Allow the device although it is known as an attack tool. Administrators only; audited as such.',
    }),
  ),
})
export type PolicyRuleInput = Static<typeof PolicyRuleInput>

/** A temporary allow, stronger than every other allow. */
export const PolicyGrantInput = closed({
  ...match,
  expiresAt: utcTime('End of the grant; at most the configured number of hours ahead.'),
  reason,
  overrideAttackTool: PolicyRuleInput.properties.overrideAttackTool,
})
export type PolicyGrantInput = Static<typeof PolicyGrantInput>

/** A rule or grant as it is stored. */
export const PolicyRuleResource = closed({
  id: Type.String(),
  effect: Type.Enum(['allow', 'deny']),
  level: Type.Enum(ruleLevels, { description: 'Rank among allows; a deny outranks them all.' }),
  sentence: Type.String({ description: 'The rule for people.' }),
  vid: nullable(Type.String()),
  pid: nullable(Type.String()),
  serial: nullable(Type.String()),
  kinds: nullable(Type.Array(Type.String())),
  fingerprint: nullable(Type.String()),
  host: nullable(Type.String({ description: 'uuid of the agent.' })),
  hostIdentifier: nullable(Type.String()),
  tag: nullable(Type.String()),
  expiresAt: nullable(utcTime('End of the rule.')),
  reason: Type.String(),
  overrideAttackTool: Type.Boolean(),
  origin: Type.Enum(['rule', 'approval'], {
    description: 'Written as a rule, or made by approving or denying a device.',
  }),
  state: Type.Enum(ruleStates),
  createdAt: utcTime('When it was made.'),
  createdBy: Type.String(),
  changedAt: utcTime('Last change.'),
  changedBy: Type.String(),
})
export type PolicyRuleResource = Static<typeof PolicyRuleResource>

/** Something a person should know before a rule counts. Never fatal. */
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
  text: Type.String({ description: 'In a sentence.' }),
  ruleId: nullable(Type.String({ description: 'The other rule, where there is one.' })),
})
export type PolicyWarning = Static<typeof PolicyWarning>

/** Answer to every change of the rules. */
export const PolicyChange = closed({
  version: Type.Integer({ description: 'Version of the policy from now on.' }),
  rule: nullable(PolicyRuleResource, { description: 'The rule as stored; null when it was deleted.' }),
  warnings: Type.Array(PolicyWarning),
  jobId: nullable(Type.String({ description: 'Job that brings decisions of stored devices up to date.' })),
})
export type PolicyChange = Static<typeof PolicyChange>

export const ruleFilters = {
  effect: enumFilter('effect', ['allow', 'deny']),
  level: enumFilter('level', ruleLevels),
  state: enumFilter('state', ruleStates),
  origin: enumFilter('origin', ['rule', 'approval']),
  vid: textFilter('vid'),
  pid: textFilter('pid'),
  serial: textFilter('serial'),
  host: textFilter('hostIdentifier or uuid'),
  tag: tagsFilter('tag'),
}

const rulesQuery = closed({ ...ruleFilters, ...listQuery })
const ruleParams = closed({ id: Type.String({ minLength: 1, maxLength: 64, description: 'Id of the rule.' }) })
const common = { tag: 'Policy', permission: 'fleet:write' } as const

export const listPolicyRules = operation({
  id: 'listPolicyRules',
  method: 'GET',
  path: '/prime/webui/policy/rules',
  tag: 'Policy',
  summary: 'Lists rules in the order in which they decide',
  description: 'Denies first, then allows for hosts, tags and all; grants are listed beside them.',
  permission: 'fleet:read',
  query: rulesQuery,
  response: page(PolicyRuleResource),
  responseKind: 'list',
})

export const createPolicyRule = operation({
  ...common,
  id: 'createPolicyRule',
  method: 'POST',
  path: '/prime/webui/policy/rules',
  summary: 'Adds a rule',
  description:
    'In force at COMMIT; armed hosts hear of it within a second. Contradictions and shadows are warned of, not refused.',
  body: PolicyRuleInput,
  response: PolicyChange,
  examples: { request: { effect: 'allow', vid: '0781', pid: '5571', tag: 'kiosk', reason: 'audio desk' } },
})

export const updatePolicyRule = operation({
  ...common,
  id: 'updatePolicyRule',
  method: 'PUT',
  path: '/prime/webui/policy/rules/{id}',
  summary: 'Replaces a rule',
  params: ruleParams,
  body: PolicyRuleInput,
  response: PolicyChange,
})

export const deletePolicyRule = operation({
  ...common,
  id: 'deletePolicyRule',
  method: 'DELETE',
  path: '/prime/webui/policy/rules/{id}',
  summary: 'Deletes a rule; what it decided returns to neutral',
  params: ruleParams,
  query: closed({ reason: reasonGiven }),
  response: PolicyChange,
})

export const listPolicyGrants = operation({
  id: 'listPolicyGrants',
  method: 'GET',
  path: '/prime/webui/policy/grants',
  tag: 'Policy',
  summary: 'Lists temporary grants, those that end first first',
  permission: 'fleet:read',
  query: rulesQuery,
  response: page(PolicyRuleResource),
  responseKind: 'list',
})

export const createPolicyGrant = operation({
  ...common,
  id: 'createPolicyGrant',
  method: 'POST',
  path: '/prime/webui/policy/grants',
  summary: 'Allows a device for a time',
  body: PolicyGrantInput,
  response: PolicyChange,
})

export const updatePolicyGrant = operation({
  ...common,
  id: 'updatePolicyGrant',
  method: 'PUT',
  path: '/prime/webui/policy/grants/{id}',
  summary: 'Replaces a grant',
  params: ruleParams,
  body: PolicyGrantInput,
  response: PolicyChange,
})

export const deletePolicyGrant = operation({
  ...common,
  id: 'deletePolicyGrant',
  method: 'DELETE',
  path: '/prime/webui/policy/grants/{id}',
  summary: 'Ends a grant now',
  params: ruleParams,
  query: closed({ reason: reasonGiven }),
  response: PolicyChange,
})

/** A change of the rules that is not made yet. */
export const PolicyDraft = closed({
  add: Type.Optional(Type.Array(PolicyRuleInput, { maxItems: 1_000, description: 'Rules to add.' })),
  remove: Type.Optional(
    Type.Array(Type.String({ maxLength: 64 }), { maxItems: 10_000, description: 'Ids to leave out.' }),
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
  armed: Type.Boolean({ description: 'The host is armed: the change acts at once.' }),
  isKnownAttackTool: Type.Boolean({ description: 'The device is a known attack tool.' }),
  before: Type.Enum(['allow', 'block']),
  after: Type.Enum(['allow', 'block']),
  lastSeen: Type.String({ description: 'UTC without a zone.' }),
  attachments: Type.Integer({ description: 'Number of attachments in the period; 0 if it was attached before.' }),
})
export type PolicyEffect = Static<typeof PolicyEffect>

export const previewPolicy = operation({
  id: 'previewPolicy',
  method: 'POST',
  path: '/prime/webui/policy/preview',
  tag: 'Policy',
  summary: 'Says what a change of the rules would do',
  permission: 'fleet:read',
  heavy: 'preview',
  description:
    'One account runs one preview or policy test at once and has 4 more wait; beyond that 429 with Retry-After.',
  body: PolicyDraft,
  response: closed({
    computedAt: utcTime('When this was computed.'),
    agents: Type.Integer({ description: 'Hosts on which a decision changes.' }),
    peripherals: Type.Integer({ description: 'Devices whose decision changes, present or seen in the last 30 days.' }),
    matching: closed({
      agents: Type.Integer({ description: 'Hosts with a device that the added rules match, decision changed or not.' }),
      peripherals: Type.Integer(),
    }),
    allowed: Type.Integer({ description: 'Devices that change from block to allow.' }),
    blocked: Type.Integer({ description: 'Devices that change from allow to block.' }),
    blockedNow: Type.Integer({ description: 'Of these: present on armed hosts, so that they stop working.' }),
    worksAgain: WorksAgain,
    newlyAllowed: newlyAllowed('Hosts on which the change newly allows devices, seen or not.'),
    effects: Type.Array(PolicyEffect, {
      description: 'The first 200: attack tools, then devices that stop working, then all others.',
    }),
    warnings: Type.Array(PolicyWarning),
    secondPerson: Type.Boolean({ description: 'Saving this change requires a second approver.' }),
    prediction: Prediction,
  }),
})

/** One version of the policy: who changed what, and from what. */
export const PolicyVersion = closed({
  version: Type.Integer({ minimum: 1 }),
  createdAt: utcTime('When it came into force.'),
  createdBy: Type.String(),
  summary: Type.String({ description: 'The change in words.' }),
  changes: Type.Array(
    closed({
      before: nullable(PolicyRuleResource, { description: 'null: the rule was added.' }),
      after: nullable(PolicyRuleResource, { description: 'null: the rule was deleted.' }),
    }),
    { description: 'At most 100; `changesTotal` counts all.' },
  ),
  changesTotal: Type.Integer(),
})
export type PolicyVersion = Static<typeof PolicyVersion>

export const policyHistory = operation({
  id: 'policyHistory',
  method: 'GET',
  path: '/prime/webui/policy/history',
  tag: 'Policy',
  summary: 'Lists versions of the policy, newest first',
  permission: 'fleet:read',
  query: closed({
    PageNumber: listQuery.PageNumber,
    PageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 50 })),
  }),
  response: page(PolicyVersion),
})

/** Result of a return to earlier rules. */
const PolicyReturn = closed({
  version: Type.Integer({ description: 'Version in force after this call.' }),
  added: Type.Integer(),
  changed: Type.Integer(),
  deleted: Type.Integer(),
  jobId: nullable(Type.String()),
  worksAgain: nullable(WorksAgain, {
    description: 'With dryRun: blocked devices that would work again; otherwise null.',
  }),
  newlyAllowed: newlyAllowed('With dryRun: hosts on which devices are newly allowed, seen or not.'),
  prediction: Type.Optional(Prediction),
})

export const restorePolicy = operation({
  ...common,
  id: 'restorePolicy',
  method: 'POST',
  path: '/prime/webui/policy/restore',
  summary: 'Makes the rules what they were at a version',
  description:
    'To undo one change, see `undoPolicyVersion`. With dryRun nothing changes and the answer says what would.',
  body: closed({
    version: Type.Integer({
      minimum: 0,
      maximum: 2_147_483_647,
      description: 'The version to go back to; 0 is no rules.',
    }),
    dryRun: Type.Optional(Type.Boolean({ default: false })),
    reason: reasonGiven,
  }),
  errors: ['not_found'],
  response: PolicyReturn,
})

export const undoPolicyVersion = operation({
  ...common,
  id: 'undoPolicyVersion',
  method: 'POST',
  path: '/prime/webui/policy/history/{version}/undo',
  summary: 'Undoes the changes of one version',
  description:
    'Makes the rules that this version changed what they were before it, as a new version; other changes stay. If one of these rules was changed again since, nothing changes (409). An undo that newly allows devices on more hosts than the limit needs a second approver. With dryRun nothing changes and the answer says what would.',
  params: closed({
    version: Type.Integer({ minimum: 1, maximum: 2_147_483_647, description: 'The version to undo.' }),
  }),
  body: closed({
    dryRun: Type.Optional(Type.Boolean({ default: false })),
    reason: reasonGiven,
  }),
  errors: ['not_found', 'conflict'],
  response: PolicyReturn,
})

export const PolicySettings = closed({
  twoPersonHosts: nullable(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      description: 'Freeing or deleting more hosts than this needs a second person; null switches it off.',
    }),
  ),
  grantMaxHours: Type.Integer({ minimum: 1, maximum: 8_760, description: 'Longest life of a grant.' }),
  commandHours: Type.Integer({ minimum: 1, maximum: 8_760, description: 'Life of a command that no host takes.' }),
  contact: Type.String({ maxLength: 200, description: 'Whom the user of a host should ask about a blocked device.' }),
})
export type PolicySettings = Static<typeof PolicySettings>

/** The policy as a whole. */
export const getPolicy = operation({
  id: 'getPolicy',
  method: 'GET',
  path: '/prime/webui/policy',
  tag: 'Policy',
  summary: 'Says what is in force, and how two-person approval stands',
  permission: 'fleet:read',
  response: closed({
    version: Type.Integer(),
    rules: closed({ allow: Type.Integer(), deny: Type.Integer(), grants: Type.Integer(), inert: Type.Integer() }),
    agents: closed({ armed: Type.Integer(), free: Type.Integer() }),
    waiting: Type.Integer({ description: 'Attached devices of armed hosts that wait for an approval.' }),
    settings: PolicySettings,
    twoPerson: closed({
      active: Type.Boolean(),
      explanation: Type.String({ description: 'Why it is on or off, in a sentence.' }),
      liftedUntil: nullable(
        utcTime('Until when the command line of the server has lifted it; null when it is not lifted.'),
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
  fresh: 'it raises the number of hosts that one person may free, delete or open alone',
  permission: 'config:write',
  description: 'Asking a second person less often than now needs one: it is filed as a change request.',
  body: PolicySettings,
  response: PolicySettings,
  errors: ['second_person_required'],
})

/** Attachments and blocks by day, for the overview. */
export const policyActivity = operation({
  id: 'policyActivity',
  method: 'GET',
  path: '/prime/webui/policy/activity',
  tag: 'Policy',
  summary: 'Counts attachments and blocks per day (UTC), oldest first, without gaps',
  permission: 'fleet:read',
  query: closed({
    days: Type.Optional(Type.Integer({ minimum: 1, maximum: 90, default: 14, description: 'Days up to today.' })),
  }),
  response: closed({
    data: Type.Array(
      closed({
        day: Type.String({ format: 'date' }),
        attachments: Type.Integer({ description: 'Devices attached, each time.' }),
        blocked: Type.Integer({ description: 'Of these: kept from being used.' }),
      }),
    ),
  }),
})

// --- Approvals --------------------------------------------------------------------------------------------------------

/** Filters of devices that are waiting for an approval. */
export const approvalFilters = {
  vendor: vendorFilter('Vendor'),
  vid: textFilter('vid'),
  pid: textFilter('pid'),
  hostIdentifier: textFilter('hostIdentifier'),
  hashtags: tagsFilter('tags of the host'),
  isKnownAttackTool: booleanFilter('isKnownAttackTool'),
}

export const policyApprovals = operation({
  id: 'policyApprovals',
  method: 'GET',
  path: '/prime/webui/policy/approvals',
  tag: 'Policy',
  summary: 'Lists what waits for an approval, by model',
  description:
    'Devices of armed hosts that no rule covers, present or seen in the last seven days. Attack tools come first, then models with a device that is blocked now, then those on most hosts.',
  permission: 'fleet:read',
  query: closed({
    GlobalSearch: listQuery.GlobalSearch,
    ...approvalFilters,
    DevicesPerModel: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000,
        default: 20,
        description: 'Maximum number of devices listed per model.',
      }),
    ),
    PageNumber: listQuery.PageNumber,
    PageSize: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000, default: 50 })),
  }),
  response: page(
    closed({
      vid: Type.String(),
      pid: Type.String(),
      guiVid: Type.String(),
      guiPid: Type.String(),
      devIcon: Type.Integer(),
      devIconDescription: Type.String(),
      isKnownAttackTool: Type.Boolean(),
      isVulnerablePeripheral: Type.Boolean(),
      agentsCount: Type.Integer(),
      peripheralsCount: Type.Integer(),
      blockedCount: Type.Integer({
        description:
          'Of these, attached and blocked now; the others work since they were there when the host was armed, or are gone.',
      }),
      firstSeen: Type.String({ description: 'UTC without a zone.' }),
      lastSeen: Type.String({ description: 'UTC without a zone.' }),
      devices: Type.Array(
        closed({
          uuid: Type.String(),
          hostIdentifier: Type.String(),
          deviceID: Type.String(),
          serialNumber: Type.String(),
          present: Type.Boolean(),
          isBlocked: Type.Boolean({ description: 'Attached, and the kernel keeps it from being used.' }),
          caseNumber: Type.String(),
          hashtags: Type.String({ description: 'Tags of the host.' }),
          lastSeen: Type.String(),
        }),
        { description: 'At most DevicesPerModel devices: blocked ones first, then the newest.' },
      ),
    }),
  ),
})
