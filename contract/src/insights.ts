import { type Static, Type } from 'typebox'
import { vendorFilter } from './filters.ts'
import { closed, listQuery, nullable, operation, utcTime } from './operation.ts'
import { Vulnerability } from './peripherals.ts'

/** A host on which something was found. */
export const InsightAgent = closed({
  uuid: Type.String(),
  hostIdentifier: Type.String(),
  localIpAddress: Type.String(),
})

const devices = {
  vid: Type.String({ description: 'Vendor id, four upper-case hex digits.' }),
  pid: Type.String({ description: 'Product id, four upper-case hex digits.' }),
  guiVid: Type.String({ description: 'Vendor name.' }),
  guiPid: Type.String({ description: 'Product name.' }),
  devIcon: Type.Integer(),
  devIconDescription: Type.String(),
}

const found = {
  ...devices,
  agentsCount: Type.Integer({ minimum: 0, description: 'Hosts it is present on.' }),
  share: Type.Number({ minimum: 0, maximum: 1, description: 'agentsCount of the population, 0 to 1.' }),
  firstSeen: utcTime('First attachment anywhere.'),
  lastSeen: utcTime('Last attachment anywhere.'),
  agents: Type.Array(InsightAgent, { maxItems: 20, description: 'At most 20 of them, by host name.' }),
}

const interfaces = Type.String({ description: 'Its set of interfaces, class:subclass:protocol each.' })
const peripheralsCount = Type.Integer({ minimum: 0, description: 'Present devices.' })

export const UncommonPeripheral = closed({
  ...found,
  interfaces,
  peripheralsCount,
  isKnownAttackTool: Type.Boolean({ description: 'Suspected or confirmed, in one of its designs at least.' }),
})
export type UncommonPeripheral = Static<typeof UncommonPeripheral>

export const VulnerablePeripheral = closed({
  ...found,
  vulnerabilities: Type.Array(Vulnerability),
  isKnownAttackTool: Type.Boolean({ description: 'Suspected or confirmed, in one of its designs at least.' }),
  severity: Type.Integer({ description: 'The highest of its designs.' }),
  peripheralsCount,
})
export type VulnerablePeripheral = Static<typeof VulnerablePeripheral>

const insight = <T extends Parameters<typeof Type.Array>[0]>(item: T) =>
  closed({
    computedAt: utcTime('When this was computed; at most a second ago.'),
    population: Type.Integer({ minimum: 0, description: 'Active hosts: those seen in the last 30 days.' }),
    insufficientPopulation: Type.Boolean({ description: 'Too few active hosts to tell what is uncommon.' }),
    recordsTotal: Type.Integer({ minimum: 0, description: 'Rows there are; `data` holds 5,000 at most.' }),
    data: Type.Array(item),
  })

const query = closed({ vendor: vendorFilter('Vendor') })

const uncommonText =
  'By vid, pid and set of interfaces: present on at most 3 hosts and at most 1 % of the active hosts (at least one host), in a population of at least 20. VENDORA_UNCOMMON_MAX_HOSTS, _MAX_SHARE and _MIN_POPULATION change these. Attack tools first, then the rarest, then the newest.'
const common = { method: 'GET', tag: 'Agents' } as const

export const uncommonPeripherals = operation({
  ...common,
  id: 'uncommonPeripherals',
  path: '/prime/webui/agents/RiskInsights/UncommonPeripherals',
  summary: 'Lists peripherals that hardly any host has',
  description: uncommonText,
  permission: 'fleet:read',
  query,
  response: insight(UncommonPeripheral),
})

export const reloadUncommonPeripherals = operation({
  ...common,
  id: 'reloadUncommonPeripherals',
  path: '/prime/webui/agents/RiskInsights/UncommonPeripherals/Reload',
  summary: 'Computes uncommon peripherals anew',
  description: 'Changes nothing. A second caller waits for the run under way.',
  permission: 'fleet:reload',
  response: insight(UncommonPeripheral),
})

export const vulnerablePeripherals = operation({
  ...common,
  id: 'vulnerablePeripherals',
  path: '/prime/webui/agents/RiskInsights/VulnerablePeripherals',
  summary: 'Lists present peripherals with a published weakness',
  description:
    'By vid and pid: what is known by firmware or model. The severest first, then those of most hosts. insufficientPopulation is always false here.',
  permission: 'fleet:read',
  query,
  response: insight(VulnerablePeripheral),
})

export const reloadVulnerablePeripherals = operation({
  ...common,
  id: 'reloadVulnerablePeripherals',
  path: '/prime/webui/agents/RiskInsights/VulnerablePeripherals/Reload',
  summary: 'Computes vulnerable peripherals anew',
  description: 'Changes nothing. A second caller waits for the run under way.',
  permission: 'fleet:reload',
  response: insight(VulnerablePeripheral),
})

export const WhitelistViolation = closed({
  vid: devices.vid,
  pid: devices.pid,
  serialNumber: Type.String({ description: 'Empty when the device has none.' }),
  guiVid: devices.guiVid,
  guiPid: devices.guiPid,
  devIcon: devices.devIcon,
  devIconDescription: devices.devIconDescription,
  agentsCount: Type.Integer({ minimum: 0 }),
  peripheralsCount: Type.Integer({ minimum: 0 }),
  firstSeen: utcTime('First attachment on one of these hosts.'),
  lastSeen: utcTime('Last attachment on one of these hosts.'),
  enforced: Type.Boolean({ description: 'One of its hosts is Armed at least.' }),
  isKnownAttackTool: Type.Boolean({ description: 'One of its devices is a known attack tool.' }),
})
export type WhitelistViolation = Static<typeof WhitelistViolation>

export const uniqueWhitelistViolation = operation({
  ...common,
  id: 'uniqueWhitelistViolation',
  path: '/prime/webui/agents/UniqueWhitelistViolation',
  summary: 'Lists distinct present devices that no allow rule covers, where a whitelist applies',
  description:
    'Distinct by vid, pid and serial number. Attack tools come first, then devices on armed hosts, then the devices on the most hosts.',
  permission: 'fleet:read',
  query,
  response: Type.Array(WhitelistViolation),
})

export const errorTotal = operation({
  ...common,
  id: 'errorTotal',
  path: '/prime/webui/agents/errorTotal',
  summary: 'Counts errors of agents over a time',
  description:
    'Errors that agents reported, commands that failed and polls that failed, most first; also of polled computers that never became hosts. Without dates the last 7 days; both ends count.',
  permission: 'fleet:read',
  query: closed({
    FromDate: Type.Optional(Type.String({ maxLength: 64, description: 'Start; a date begins with its first moment.' })),
    ToDate: Type.Optional(
      Type.String({ maxLength: 64, description: 'End, included; a date ends with its last moment.' }),
    ),
    PageNumber: listQuery.PageNumber,
    PageSize: listQuery.PageSize,
  }),
  response: closed({
    total: Type.Integer({ minimum: 0, description: 'Sum of errorsCount over all agents.' }),
    recordsTotal: Type.Integer({ minimum: 0, description: 'Hosts and polled computers with errors.' }),
    recordsFiltered: Type.Integer({ minimum: 0 }),
    data: Type.Array(
      closed({
        uuid: Type.String({ description: 'Empty for a polled computer that never became a host.' }),
        hostIdentifier: Type.String({ description: 'Host name, or computerName of the connection.' }),
        localIpAddress: Type.String({ description: 'Empty when unknown.' }),
        errorsCount: Type.Integer({ minimum: 1 }),
        lastErrorTime: utcTime('When the last one reached the server.'),
        lastError: Type.String(),
      }),
    ),
  }),
})

/** One member of a device beside what others of its ids have. */
export const IdentityDifference = closed({
  field: Type.String({ description: 'Name of the member, for people.' }),
  device: Type.String({ description: 'What this device has.' }),
  expected: Type.String({ description: 'What the others, or the genuine product, have.' }),
  differs: Type.Boolean(),
})
export type IdentityDifference = Static<typeof IdentityDifference>

export const SpoofedIdentity = closed({
  level: Type.Enum(['suspected', 'confirmed'], {
    description: 'Confirmed: it cannot be the product of its ids. Out of line with the fleet alone is suspected.',
  }),
  basis: Type.Enum(['genuine', 'consensus'], {
    description: 'Compared with facts of the genuine product, or with the other devices of its ids in this fleet.',
  }),
  ...devices,
  fingerprint: Type.String({ description: 'Exact fingerprint of the device, for the list of peripherals.' }),
  interfaces,
  evidence: Type.Array(Type.String(), { description: 'What is out of line, in words.' }),
  diff: Type.Array(IdentityDifference, { description: 'Side by side; members that differ first.' }),
  consensus: nullable(
    closed({
      devices: Type.Integer({ description: 'Present devices of these ids.' }),
      share: Type.Number({ description: 'Of them, how many have the common set of interfaces; 0 to 1.' }),
    }),
    { description: 'null where the basis is the genuine product.' },
  ),
  agentsCount: Type.Integer({ minimum: 0 }),
  peripheralsCount: Type.Integer({ minimum: 0 }),
  firstSeen: utcTime('First attachment anywhere.'),
  lastSeen: utcTime('Last attachment anywhere.'),
  agents: Type.Array(InsightAgent, { maxItems: 20 }),
})
export type SpoofedIdentity = Static<typeof SpoofedIdentity>

export const spoofedIdentities = operation({
  ...common,
  id: 'spoofedIdentities',
  path: '/prime/webui/agents/RiskInsights/SpoofedIdentities',
  summary: 'Lists present devices that are hardly what their ids say',
  description:
    'Against genuine products, and against the fleet: of 20 or more devices of the same ids at least 95 % share one set of interfaces, and this one has another. Confirmed ones first. It colours no host.',
  permission: 'fleet:read',
  query,
  response: insight(SpoofedIdentity),
})
