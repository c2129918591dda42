import { vendorFilter } from '@portcullis/platform/contract/filters.ts'
import { closed, listQuery, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { findingLabels, kindCodes, Vulnerability } from './peripherals.ts'

/** A host with a finding. */
export const InsightAgent = closed({
  uuid: Type.String(),
  hostIdentifier: Type.String(),
  localIpAddress: Type.String(),
})

const devices = {
  vid: Type.String({
    'x-label': 'Vendor ID',
    'x-form': 'hex',
    description: 'Vendor ID (VID), four upper-case hex digits.',
  }),
  pid: Type.String({
    'x-label': 'Product ID',
    'x-form': 'hex',
    description: 'Product ID (PID), four upper-case hex digits.',
  }),
  guiVid: Type.String({ 'x-label': 'Vendor', description: 'Vendor name.' }),
  guiPid: Type.String({ 'x-label': 'Product', description: 'Product name.' }),
  devIcon: Type.Integer(),
  devIconDescription: Type.String({ 'x-label': 'Kind', 'x-labels': kindCodes }),
}

const found = {
  ...devices,
  agentsCount: Type.Integer({
    'x-label': 'Hosts',
    minimum: 0,
    description: 'Number of hosts that the device is attached to.',
  }),
  share: Type.Number({
    'x-label': 'Share of hosts',
    'x-form': 'share',
    minimum: 0,
    maximum: 1,
    description: '`agentsCount` divided by the population, 0 to 1.',
  }),
  firstSeen: utcTime('First attachment on any host.'),
  lastSeen: utcTime('Last attachment on any host.'),
  agents: Type.Array(InsightAgent, { maxItems: 20, description: 'Up to 20 of these hosts, sorted by name.' }),
}

const interfaces = Type.String({ description: 'USB interfaces of the device, each as class:subclass:protocol.' })
const peripheralsCount = Type.Integer({ 'x-label': 'Devices', minimum: 0, description: 'Number of attached devices.' })

export const UncommonPeripheral = closed({
  ...found,
  interfaces,
  peripheralsCount,
  isKnownAttackTool: Type.Boolean({
    'x-label': 'Attack tool',
    description: 'True if at least one fingerprint is a suspected or confirmed attack tool.',
  }),
})
export type UncommonPeripheral = Static<typeof UncommonPeripheral>

export const VulnerablePeripheral = closed({
  ...found,
  vulnerabilities: Type.Array(Vulnerability, { 'x-label': 'Advisories' }),
  isKnownAttackTool: Type.Boolean({
    'x-label': 'Attack tool',
    description: 'True if at least one fingerprint is a suspected or confirmed attack tool.',
  }),
  severity: Type.Integer({
    'x-label': 'Finding',
    'x-labels': findingLabels,
    description: 'Highest severity of its fingerprints.',
  }),
  peripheralsCount,
})
export type VulnerablePeripheral = Static<typeof VulnerablePeripheral>

const insight = <T extends Parameters<typeof Type.Array>[0]>(item: T) =>
  closed({
    computedAt: utcTime('Time of the computation, at most a second ago.'),
    population: Type.Integer({
      minimum: 0,
      description: 'Number of active hosts: hosts that were seen in the last 30 days.',
    }),
    insufficientPopulation: Type.Boolean({
      description: 'True if there are too few active hosts to decide what is uncommon.',
    }),
    recordsTotal: Type.Integer({ minimum: 0, description: 'Number of all rows. `data` contains at most 5,000.' }),
    data: Type.Array(item),
  })

const query = closed({ vendor: vendorFilter('Vendor') })

const uncommonText =
  'Grouped by VID, PID and set of interfaces. A device is uncommon if it is attached to at most 3 hosts and at most 1 % of the active hosts, but at least one host. There must be at least 20 active hosts. The settings VENDORA_UNCOMMON_MAX_HOSTS, VENDORA_UNCOMMON_MAX_SHARE and VENDORA_UNCOMMON_MIN_POPULATION change these limits. Attack tools come first, then the rarest devices, then the newest.'
const common = { method: 'GET', tag: 'Agents' } as const

export const uncommonPeripherals = operation({
  ...common,
  id: 'uncommonPeripherals',
  path: '/prime/webui/agents/RiskInsights/UncommonPeripherals',
  summary: 'Lists uncommon devices',
  description: uncommonText,
  permission: 'fleet:read',
  query,
  response: insight(UncommonPeripheral),
})

export const reloadUncommonPeripherals = operation({
  ...common,
  id: 'reloadUncommonPeripherals',
  path: '/prime/webui/agents/RiskInsights/UncommonPeripherals/Reload',
  summary: 'Recalculates uncommon devices',
  description: 'Changes no data. If a calculation is already running, the call waits for it.',
  permission: 'fleet:reload',
  response: insight(UncommonPeripheral),
})

export const vulnerablePeripherals = operation({
  ...common,
  id: 'vulnerablePeripherals',
  path: '/prime/webui/agents/RiskInsights/VulnerablePeripherals',
  summary: 'Lists attached devices with published vulnerabilities',
  description:
    'Grouped by VID and PID. Vulnerabilities are known by firmware version or by model. The most severe come first, then the devices on the most hosts. `insufficientPopulation` is always false.',
  permission: 'fleet:read',
  query,
  response: insight(VulnerablePeripheral),
})

export const reloadVulnerablePeripherals = operation({
  ...common,
  id: 'reloadVulnerablePeripherals',
  path: '/prime/webui/agents/RiskInsights/VulnerablePeripherals/Reload',
  summary: 'Recalculates vulnerable devices',
  description: 'Changes no data. If a calculation is already running, the call waits for it.',
  permission: 'fleet:reload',
  response: insight(VulnerablePeripheral),
})

export const WhitelistViolation = closed({
  vid: devices.vid,
  pid: devices.pid,
  serialNumber: Type.String({ description: 'Empty if the device has none.' }),
  guiVid: devices.guiVid,
  guiPid: devices.guiPid,
  devIcon: devices.devIcon,
  devIconDescription: devices.devIconDescription,
  agentsCount: Type.Integer({ 'x-label': 'Hosts', minimum: 0 }),
  peripheralsCount: Type.Integer({ 'x-label': 'Devices', minimum: 0 }),
  firstSeen: utcTime('First attachment on one of these hosts.'),
  lastSeen: utcTime('Last attachment on one of these hosts.'),
  enforced: Type.Boolean({ 'x-label': 'Blocked', description: 'True if at least one of the hosts is Armed.' }),
  isKnownAttackTool: Type.Boolean({
    'x-label': 'Attack tool',
    description: 'True if one of the devices is a known attack tool.',
  }),
})
export type WhitelistViolation = Static<typeof WhitelistViolation>

export const uniqueWhitelistViolation = operation({
  ...common,
  id: 'uniqueWhitelistViolation',
  path: '/prime/webui/agents/UniqueWhitelistViolation',
  summary: 'Lists attached devices that are not on the allowlist',
  description:
    'Lists the distinct devices (by VID, PID and serial number) that are not on the allowlist of their hosts. Attack tools come first, then devices on armed hosts, then the devices on the most hosts.',
  permission: 'fleet:read',
  query,
  response: Type.Array(WhitelistViolation),
})

/** Errors of one host in a period. */
const errorsOfHost = {
  errorsCount: Type.Integer({ minimum: 1 }),
  lastErrorTime: utcTime('Time at which the server received the last error.', { 'x-label': 'Last error at' }),
  lastError: Type.String(),
}

/** The errors of a host in a file. */
export const AgentErrors = closed({
  uuid: Type.String({ 'x-label': 'Host ID' }),
  hostIdentifier: Type.String({ 'x-label': 'Host' }),
  localIpAddress: Type.String({ 'x-label': 'Address' }),
  ...errorsOfHost,
})

export const errorTotal = operation({
  ...common,
  id: 'errorTotal',
  path: '/prime/webui/agents/errorTotal',
  summary: 'Counts errors of hosts in a period',
  description:
    'Counts errors that agents reported, failed commands and failed polls. Hosts with the most errors come first. Agentless hosts that were never polled successfully are included. Without dates, the period is the last 7 days. Both ends are inclusive.',
  permission: 'fleet:read',
  query: closed({
    FromDate: Type.Optional(
      Type.String({ maxLength: 64, description: 'Start of the period. A date means the start of that day.' }),
    ),
    ToDate: Type.Optional(
      Type.String({
        maxLength: 64,
        description: 'End of the period, inclusive. A date means the end of that day.',
      }),
    ),
    PageNumber: listQuery.PageNumber,
    PageSize: listQuery.PageSize,
  }),
  response: closed({
    total: Type.Integer({ minimum: 0, description: 'Sum of `errorsCount` over all hosts.' }),
    recordsTotal: Type.Integer({ minimum: 0, description: 'Number of hosts with errors, including agentless hosts.' }),
    recordsFiltered: Type.Integer({ minimum: 0 }),
    data: Type.Array(
      closed({
        uuid: Type.String({
          description: 'UUID of the host. Empty for an agentless host that was never polled successfully.',
        }),
        hostIdentifier: Type.String({ description: 'Host name, or `computerName` of the connection.' }),
        localIpAddress: Type.String({ description: 'Empty if unknown.' }),
        ...errorsOfHost,
      }),
    ),
  }),
})

/** Compares one field of a device with the expected value. */
export const IdentityDifference = closed({
  field: Type.String({ description: 'Display name of the field.' }),
  device: Type.String({ description: 'Value of this device.' }),
  expected: Type.String({
    description: 'Value of the genuine product, or of the other devices with the same VID and PID.',
  }),
  differs: Type.Boolean(),
})
export type IdentityDifference = Static<typeof IdentityDifference>

export const SpoofedIdentity = closed({
  level: Type.Enum(['suspected', 'confirmed'], {
    'x-labels': { suspected: 'Suspected', confirmed: 'Confirmed' },
    description:
      '`confirmed`: the device cannot be the product that its VID and PID name. `suspected`: it only differs from the other devices in the fleet.',
  }),
  basis: Type.Enum(['genuine', 'consensus'], {
    'x-labels': { genuine: 'Genuine product', consensus: 'Other devices in the fleet' },
    description:
      '`genuine`: compared with the descriptors of the genuine product. `consensus`: compared with the devices in the fleet that have the same VID and PID.',
  }),
  ...devices,
  fingerprint: Type.String({ description: 'Exact fingerprint. Use it to filter the list of peripherals.' }),
  interfaces,
  evidence: Type.Array(Type.String(), { description: 'The differences, as text.' }),
  diff: Type.Array(IdentityDifference, { description: 'Comparison of the fields. Fields that differ come first.' }),
  consensus: nullable(
    closed({
      devices: Type.Integer({ description: 'Number of attached devices with this VID and PID.' }),
      share: Type.Number({ description: 'Share of these devices that have the common set of interfaces, 0 to 1.' }),
    }),
    { description: '`null` if `basis` is `genuine`.' },
  ),
  agentsCount: Type.Integer({ 'x-label': 'Hosts', minimum: 0 }),
  peripheralsCount: Type.Integer({ 'x-label': 'Devices', minimum: 0 }),
  firstSeen: utcTime('First attachment on any host.'),
  lastSeen: utcTime('Last attachment on any host.'),
  agents: Type.Array(InsightAgent, { maxItems: 20 }),
})
export type SpoofedIdentity = Static<typeof SpoofedIdentity>

export const spoofedIdentities = operation({
  ...common,
  id: 'spoofedIdentities',
  path: '/prime/webui/agents/RiskInsights/SpoofedIdentities',
  summary: 'Lists attached devices that probably spoof their VID and PID',
  description:
    'The server compares each device with the genuine product. It also compares the device with others in the fleet if there are at least 20 with the same VID and PID, and 95 % share one set of interfaces. Confirmed devices come first. A spoofed identity does not change the severity of a host.',
  permission: 'fleet:read',
  query,
  response: insight(SpoofedIdentity),
})
