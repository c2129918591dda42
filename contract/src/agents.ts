import { type Static, Type } from 'typebox'
import { FleetEvent } from './events.ts'
import { booleanFilter, enumFilter, numberFilter, tagsFilter, textFilter, timeFilter, vendorFilter } from './filters.ts'
import { BulkResult, closed, listQuery, nullable, operation, page, utcTime, zonelessTime } from './operation.ts'
import { Peripheral, RiskFactor } from './peripherals.ts'

/** Values of `displayStatusCombined`, `operationalStatus` and `connectionStatus` that Status filters by. */
export const agentStatuses = ['Free', 'Armed', 'Connected', 'Disconnected', 'Pending', 'Expired', 'Invalid'] as const
export const licenseStatuses = ['Pending', 'Expired', 'Invalid', 'Activated'] as const
export const severities = { none: 10, unapproved: 20, vulnerable: 30, suspected: 40, confirmed: 50 } as const

/** A host with an agent, or one polled without. Spelling and presence of every key are fixed: clients in the field read them. */
export const Agent = closed({
  hostIdentifier: Type.String({ description: 'Host name as the host calls itself.' }),
  localIpAddress: Type.String({ description: 'Address the host reaches the server from.' }),
  uuid: Type.String({ maxLength: 128, description: 'Id of the agent; opaque.' }),
  operationalStatus: Type.Enum(['Free', 'Armed'], { description: 'Free observes, Armed enforces.' }),
  connectionStatus: Type.Enum(['Connected', 'Disconnected'], {
    description: 'Connected: a check-in or successful poll within three intervals.',
  }),
  approvedAndPresent: Type.Integer({ minimum: 0, description: 'Present peripherals that are approved.' }),
  approvedAndDisconnected: Type.Integer({ minimum: 0, description: 'Approved peripherals seen before and now gone.' }),
  notApproved: Type.Integer({
    minimum: 0,
    description: 'Present peripherals that are not approved, where a whitelist applies.',
  }),
  latestEventText: Type.String({ description: 'Newest event as `yyyy-MM-dd HH:mm:ss text`, or empty.' }),
  latestMinus1EventText: Type.String({ description: 'The event before.' }),
  latestMinus2EventText: Type.String({ description: 'The event before that.' }),
  serviceVersion: Type.String({ description: 'Version of the agent; empty without one.' }),
  lastUpdated: zonelessTime('Last check-in or successful poll.'),
  licenseStatus: Type.Enum(licenseStatuses),
  expirationDate: Type.String({ description: 'Licence expiry as MM/dd/yyyy, empty without one.' }),
  lastConfiguered: zonelessTime('Last confirmed configuration; the enrolment at first. The spelling is fixed.'),
  kbDriverVersion: Type.String(),
  licenseAccountId: Type.String(),
  licenseAccountName: Type.String({ description: '`Community` without a licence.' }),
  severity: Type.Integer({
    description:
      'Maximum over present peripherals: 10 nothing to see, 20 unapproved, 30 vulnerable, 40 suspected attack tool, 50 confirmed.',
  }),
  hasUnapprovedPeripherals: Type.Boolean(),
  hasVulnerablePeripherals: Type.Boolean(),
  hasKnownAttackTools: Type.Boolean({ description: 'A suspected or confirmed attack tool is attached now.' }),
  displayStatusCombined: Type.String({
    description: '`Disconnected`, else the licence problem, else operationalStatus.',
  }),
  inAction: Type.Boolean({ description: 'A command is pending.' }),
  pcModel: Type.String({ description: '`vendor model||chassis||sku`.' }),
  nicsText: nullable(Type.String(), { description: '`MAC||vendor||name` of each interface, joined by `**`.' }),
  modelToolTip: Type.String({ description: 'Vendor and model, for people; empty when both are unknown.' }),
  containsVulnerablePeripheralOrWLV: Type.String({ description: 'Empty, `Vulnerable`, `WLV` or `Vulnerable,WLV`.' }),
  osVersion: Type.String({ description: 'Operating system with version, for people.' }),
  runningMode: Type.String({ description: 'Always `R`.' }),
  connectedSwitchIp: Type.String(),
  connectedSwitchName: Type.String(),
  connectedPortId: Type.String(),
  connectedPortName: Type.String(),
  ethernetsCount: Type.Integer({ minimum: 0 }),
  hashtags: Type.String({ description: 'Tag names joined by commas.' }),
  deploymentMode: Type.Enum(['Agent', 'Agentless']),
  riskScore: Type.Integer({ minimum: 0, maximum: 100, description: 'Sum of the risk factors, at most 100.' }),
  clockSkewSeconds: Type.Integer({
    description: 'Host clock minus server clock at the last check-in, positive when the host is ahead.',
  }),
  firstSeen: zonelessTime('Enrolment or first poll.'),
})
export type Agent = Static<typeof Agent>

/** Filters of the agents list, by the specification's names. */
const modelFilter = Type.Optional(
  Type.String({
    maxLength: 9,
    description: 'Hosts with an attached device of this model: `VID:PID` in hex digits, any case.',
    'x-filter': 'text',
  }),
)

export const agentFilters = {
  Uuid: textFilter('uuid'),
  HostIdentifier: textFilter('hostIdentifier'),
  IpAddress: textFilter('localIpAddress'),
  Status: enumFilter('displayStatusCombined, operationalStatus or connectionStatus', agentStatuses),
  ContainsVulnerablePeripheralOrWLV: enumFilter('findings', ['Vulnerable', 'WLV']),
  LastConfiguration: timeFilter('lastConfiguered'),
  Version: textFilter('serviceVersion'),
  License: enumFilter('licenseStatus', licenseStatuses),
  OsVersion: textFilter('osVersion'),
  LastUpdated: timeFilter('lastUpdated'),
  Hashtags: tagsFilter('hashtags'),
  ExpirationDate: timeFilter('expirationDate'),
  Severity: numberFilter('severity'),
  HasUnapprovedPeripherals: booleanFilter('hasUnapprovedPeripherals'),
  HasVulnerablePeripherals: booleanFilter('hasVulnerablePeripherals'),
  HasKnownAttackTools: booleanFilter('hasKnownAttackTools'),
  DeploymentMode: enumFilter('deploymentMode', ['Agent', 'Agentless']),
  ReleaseKey: textFilter('releaseKey'),
  Vendor: vendorFilter('Hosts with an attached device of a vendor'),
  Model: modelFilter,
}

export const AgentsPage = page(Agent)

export const getAgents = operation({
  id: 'getAgents',
  method: 'GET',
  path: '/prime/webui/agents',
  tag: 'Agents',
  summary: 'Lists agents, filtered, sorted and paged',
  description:
    'Default order: severity_desc, then hostIdentifier, then uuid. Pages up to 1,000,000 rows are streamed with flat memory.',
  permission: 'fleet:read',
  query: closed({ ...agentFilters, ...listQuery }),
  response: AgentsPage,
  responseKind: 'list',
})

/** A network interface in the detail of an agent. */
const AgentNic = closed({
  name: Type.String(),
  mac: Type.String({ description: 'Lower case with colons.' }),
  addresses: Type.Array(Type.String()),
  isUp: Type.Boolean(),
})

export const AgentDetail = closed({
  ...Agent.properties,
  peripherals: Type.Array(Peripheral, { description: 'Present ones and gone ones.' }),
  pendingCommands: Type.Array(
    closed({ id: Type.String(), kind: Type.String(), state: Type.String(), createdAt: Type.String() }),
  ),
  recentEvents: Type.Array(FleetEvent, { description: 'The newest 50.' }),
  policy: closed({
    mode: Type.Enum(['Free', 'Armed']),
    version: Type.Integer({ description: 'Version of the policy in force; 0 before any rule.' }),
    summary: Type.String({ description: 'What is in force, and why, in a sentence.' }),
    enforcement: Type.String({ description: 'Grade of this host: before-driver, after-attach or observe.' }),
    heldVersion: Type.Integer({ description: 'Version of the policy the host says it holds; 0 before the first.' }),
    reason: Type.String({ description: 'Why the host went back to Free by itself; else empty.' }),
    whitelist: Type.Boolean({ description: 'A whitelist applies: what no rule allows counts as unapproved.' }),
    rules: Type.Array(
      closed({
        id: Type.String(),
        effect: Type.Enum(['allow', 'deny']),
        level: Type.Enum(['grant', 'host', 'tag', 'global']),
        sentence: Type.String({ description: 'The rule for people.' }),
      }),
      { description: 'Rules that speak to this host, in the order in which they decide; the first 200.' },
    ),
  }),
  riskFactors: Type.Array(RiskFactor),
  nics: Type.Array(AgentNic),
  debugLogs: Type.Array(closed({ id: Type.String(), collectedAt: Type.String(), size: Type.Integer() })),
  facts: closed({
    osName: Type.String(),
    osVersion: Type.String(),
    kernel: Type.String(),
    architecture: Type.String(),
    vendor: Type.String(),
    model: Type.String(),
    chassis: Type.String(),
    sku: Type.String(),
    releaseKey: Type.Optional(
      Type.String({
        description:
          'Fingerprint of the release key whose builds the agent installs. Empty: the agent was built without one and refuses updates. Absent: an older agent, or no agent.',
      }),
    ),
  }),
  possibleDuplicates: Type.Array(closed({ uuid: Type.String(), hostIdentifier: Type.String() }), {
    description: 'Other agents of what looks like the same machine, or copies of its key.',
  }),
})
export type AgentDetail = Static<typeof AgentDetail>

export const agentParams = closed({
  agentId: Type.String({ minLength: 1, maxLength: 128, description: 'uuid of the agent, compared exactly.' }),
})

export const getAgent = operation({
  id: 'getAgent',
  method: 'GET',
  path: '/prime/webui/agents/agent/{agentId}',
  tag: 'Agents',
  summary: 'Reads one agent with its peripherals, events and facts',
  permission: 'fleet:read',
  params: agentParams,
  response: AgentDetail,
})

const KeyCount = closed({ key: Type.String(), count: Type.Integer({ minimum: 0 }) })

export const agentsClassificationSummary = operation({
  id: 'agentsClassificationSummary',
  method: 'GET',
  path: '/prime/webui/agents/AgentsClassificationSummary',
  tag: 'Agents',
  summary: 'Counts agents by what matters',
  description: "Takes the list's filters; equal to what the list counts under the same filters.",
  permission: 'fleet:read',
  query: closed({ ...agentFilters, GlobalSearch: listQuery.GlobalSearch }),
  response: closed({
    total: Type.Integer(),
    connected: Type.Integer(),
    disconnected: Type.Integer(),
    armed: Type.Integer(),
    free: Type.Integer(),
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
    deploymentMode: closed({ agent: Type.Integer(), agentless: Type.Integer() }),
    computedAt: Type.String({ format: 'date-time' }),
  }),
})

export const deleteAgents = operation({
  id: 'deleteAgents',
  method: 'POST',
  path: '/prime/webui/agents/deleteAgents',
  tag: 'Agents',
  summary: 'Removes agents and revokes their keys',
  fresh: 'it deletes more hosts than one person may delete alone',
  description:
    'A removed agent is refused within a second and never comes back without a new enrolment. Events and audit stay. More hosts than a second person is needed for: 403, and a request is filed.',
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
    description: 'A known host whose agent is silent and not armed may take its agent id over.',
  }),
  status: Type.Enum(['Active', 'Expired', 'Used up', 'Revoked']),
  hosts: Type.Array(
    closed({
      uuid: Type.String(),
      hostIdentifier: Type.String(),
      enrolledAt: utcTime('When the host enrolled.'),
    }),
    { maxItems: 5, description: 'The newest hosts that enrolled with this token and still exist, at most 5.' },
  ),
})
export type EnrollmentToken = Static<typeof EnrollmentToken>

export const listEnrollmentTokens = operation({
  id: 'listEnrollmentTokens',
  method: 'GET',
  path: '/prime/webui/agents/enrollmenttokens',
  tag: 'Agents',
  summary: 'Lists enrolment tokens, newest first, never their secret',
  permission: 'enrolment:manage',
  response: closed({ data: Type.Array(EnrollmentToken) }),
})

export const createEnrollmentToken = operation({
  id: 'createEnrollmentToken',
  method: 'POST',
  path: '/prime/webui/agents/enrollmenttokens',
  tag: 'Agents',
  summary: 'Makes an enrolment token; its secret is shown this once',
  permission: 'enrolment:manage',
  body: closed({
    name: Type.String({ minLength: 1, maxLength: 120, description: 'What it is for.' }),
    expiresInHours: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 8_760, default: 24, description: 'Life in hours; 24 when absent.' }),
    ),
    maxUses: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        default: 100,
        description: 'Hosts it may enrol; 100 when absent.',
      }),
    ),
    hashtags: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 64 }), {
        maxItems: 50,
        description: 'Tags every host enrolled with it gets.',
      }),
    ),
    allowTakeOver: Type.Optional(
      Type.Boolean({ default: true, description: 'See EnrollmentToken; true when absent.' }),
    ),
  }),
  response: closed({
    ...EnrollmentToken.properties,
    token: Type.String({
      description: 'The secret itself, shown once; carries the hash of the CA key when the server made its own.',
    }),
    command: Type.String({
      description:
        'One line to run as root on a Linux host. It does not contain the token. It asks for the token, or reads it from standard input.',
    }),
    reachableFromElsewhere: Type.Boolean({
      description: 'False when the server listens on loopback only: other hosts cannot reach it.',
    }),
  }),
})

export const deleteEnrollmentToken = operation({
  id: 'deleteEnrollmentToken',
  method: 'DELETE',
  path: '/prime/webui/agents/enrollmenttokens/{id}',
  tag: 'Agents',
  summary: 'Revokes an enrolment token; hosts enrolled with it stay',
  permission: 'enrolment:manage',
  params: closed({ id: Type.String({ maxLength: 64 }) }),
  response: closed({ deleted: Type.Boolean() }),
})
