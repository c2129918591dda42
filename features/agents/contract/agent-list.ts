import {
  booleanFilter,
  enumFilter,
  idFilter,
  modelFilter,
  numberFilter,
  tagsFilter,
  textFilter,
  timeFilter,
  vendorFilter,
} from '@portcullis/platform/contract/filters.ts'
import { list } from '@portcullis/platform/contract/list.ts'
import { closed, nullable, zonelessTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { findingLabels } from '#features/devices/contract/peripherals.ts'

/** Values of `displayStatusCombined`, `operationalStatus` and `connectionStatus` that Status filters by. */
export const agentStatuses = ['Free', 'Armed', 'Connected', 'Disconnected', 'Pending', 'Expired', 'Invalid'] as const
/** Sources of the data about a host. */
export const deploymentModes = ['Agent', 'Agentless', 'Feed'] as const
export const deploymentLabels: Readonly<Record<(typeof deploymentModes)[number], string>> = {
  Agent: 'Agent',
  Agentless: 'Agentless',
  Feed: 'Observed by feed',
}
export const licenseStatuses = ['Pending', 'Expired', 'Invalid', 'Activated'] as const
export const severities = { none: 10, unapproved: 20, vulnerable: 30, suspected: 40, confirmed: 50 } as const

/** A host with an agent, or an agentless host. Existing clients depend on the spelling and presence of every key. */
export const Agent = closed({
  hostIdentifier: Type.String({ 'x-label': 'Host', description: 'Name that the host reports.' }),
  localIpAddress: Type.String({
    'x-label': 'Address',
    description: 'Address from which the host connects to the server.',
  }),
  uuid: Type.String({ 'x-label': 'Host ID', maxLength: 128, description: 'Opaque ID of the agent.' }),
  operationalStatus: Type.Enum(['Free', 'Armed'], {
    'x-label': 'Mode',
    description: '`Free`: the host only reports. `Armed`: the host enforces the policy.',
  }),
  connectionStatus: Type.Enum(['Connected', 'Disconnected'], {
    description: '`Connected`: the last check-in or successful poll was within three intervals.',
  }),
  approvedAndPresent: Type.Integer({
    'x-label': 'Approved, attached',
    minimum: 0,
    description: 'Number of attached devices that are approved.',
  }),
  approvedAndDisconnected: Type.Integer({
    'x-label': 'Approved, detached',
    minimum: 0,
    description: 'Number of approved devices that are detached.',
  }),
  notApproved: Type.Integer({
    'x-label': 'Not on the allowlist',
    minimum: 0,
    description: 'Number of attached devices that are not on the allowlist, if one applies to the host.',
  }),
  latestEventText: Type.String({
    'x-label': 'Latest event',
    'x-form': 'timedText',
    description: 'Newest event as `yyyy-MM-dd HH:mm:ss text`. Empty: none.',
  }),
  latestMinus1EventText: Type.String({
    'x-label': 'Previous event',
    'x-form': 'timedText',
    description: 'Second newest event.',
  }),
  latestMinus2EventText: Type.String({
    'x-label': 'Second previous event',
    'x-form': 'timedText',
    description: 'Third newest event.',
  }),
  serviceVersion: Type.String({
    'x-label': 'Agent version',
    description: 'Version of the agent. Empty for an agentless host.',
  }),
  lastUpdated: zonelessTime('Time of the last check-in or successful poll.', { 'x-label': 'Last seen' }),
  licenseStatus: Type.Enum(licenseStatuses, { 'x-label': 'Licence' }),
  expirationDate: Type.String({
    'x-label': 'Licence expires',
    'x-form': 'date',
    description: 'Expiry of the licence as MM/dd/yyyy. Empty: none.',
  }),
  lastConfiguered: zonelessTime(
    'Time of the last confirmed configuration, initially of the enrolment. The spelling is fixed.',
    { 'x-label': 'Last configured' },
  ),
  kbDriverVersion: Type.String({ 'x-label': 'Driver version' }),
  licenseAccountId: Type.String({ 'x-label': 'Licence account ID' }),
  licenseAccountName: Type.String({
    'x-label': 'Licence account',
    description: 'Account name in the licence. `Community` if there is no licence.',
  }),
  severity: Type.Integer({
    'x-label': 'Finding',
    'x-labels': findingLabels,
    description:
      'Highest severity of the attached devices: 10 no finding, 20 not on the allowlist, 30 vulnerable, 40 suspected attack tool, 50 confirmed attack tool.',
  }),
  hasUnapprovedPeripherals: Type.Boolean({ 'x-label': 'Has devices not on the allowlist' }),
  hasVulnerablePeripherals: Type.Boolean({ 'x-label': 'Has vulnerable devices' }),
  hasKnownAttackTools: Type.Boolean({
    'x-label': 'Has attack tools',
    description: 'True if a suspected or confirmed attack tool is attached.',
  }),
  displayStatusCombined: Type.String({
    'x-label': 'Status',
    description: '`Disconnected`, otherwise the licence problem, otherwise `operationalStatus`.',
  }),
  inAction: Type.Boolean({ 'x-label': 'Command pending', description: 'True if a command is pending.' }),
  pcModel: Type.String({ 'x-label': 'Computer', 'x-form': 'parts', description: '`vendor model||chassis||sku`.' }),
  nicsText: nullable(Type.String(), {
    'x-label': 'Network interfaces',
    'x-form': 'items',
    description: '`MAC||vendor||name` of each network interface, separated by `**`.',
  }),
  modelToolTip: Type.String({
    'x-label': 'Model',
    description: 'Vendor and model for display. Empty if both are unknown.',
  }),
  containsVulnerablePeripheralOrWLV: Type.String({
    'x-label': 'Findings',
    'x-labels': { WLV: 'Not on the allowlist', 'Vulnerable,WLV': 'Vulnerable, not on the allowlist' },
    description: 'Empty, `Vulnerable`, `WLV` or `Vulnerable,WLV`.',
  }),
  osVersion: Type.String({ 'x-label': 'Operating system', description: 'Operating system with version, for display.' }),
  runningMode: Type.String({ description: 'Always `R`.' }),
  connectedSwitchIp: Type.String({ 'x-label': 'Switch address' }),
  connectedSwitchName: Type.String({ 'x-label': 'Switch' }),
  connectedPortId: Type.String({ 'x-label': 'Switch port' }),
  connectedPortName: Type.String({ 'x-label': 'Switch port name' }),
  ethernetsCount: Type.Integer({ 'x-label': 'Network interface count', minimum: 0 }),
  hashtags: Type.String({ 'x-label': 'Tags', 'x-form': 'tags', description: 'Names of tags, separated by commas.' }),
  deploymentMode: Type.Enum(deploymentModes, {
    'x-label': 'Deployment',
    description:
      '`Agentless`: a worker polls the host. `Feed`: only events of other systems describe the host, so it can never be armed.',
  }),
  riskScore: Type.Integer({
    'x-label': 'Risk',
    minimum: 0,
    maximum: 100,
    description: 'Sum of the risk factors, at most 100.',
  }),
  clockSkewSeconds: Type.Integer({
    'x-label': 'Clock skew (s)',
    description: 'Host clock minus server clock at the last check-in. Positive if the host is ahead.',
  }),
  firstSeen: zonelessTime('Time of the enrolment or first poll.'),
  canBlock: Type.Boolean({
    'x-label': 'Can block',
    description:
      'True if the host can keep devices from working once it is armed. False: agentless hosts, hosts of feeds, and agents with the grade `observe`.',
  }),
  policyPending: Type.Boolean({
    'x-label': 'Policy pending',
    description: 'True if the host is armed and has not fetched the newest rules yet.',
  }),
  owner: Type.String({
    description: 'Person or team that the host belongs to, as entered with `updateHostOwner`. Empty if unknown.',
  }),
})
export type Agent = Static<typeof Agent>

export const agentFilters = {
  Uuid: textFilter('uuid'),
  HostIdentifier: textFilter('hostIdentifier', { label: 'Host name' }),
  IpAddress: textFilter('localIpAddress'),
  Status: enumFilter('displayStatusCombined, operationalStatus or connectionStatus', agentStatuses, {
    of: 'displayStatusCombined',
  }),
  ContainsVulnerablePeripheralOrWLV: enumFilter('findings', ['Vulnerable', 'WLV']),
  LastConfiguration: timeFilter('lastConfiguered'),
  Version: textFilter('serviceVersion'),
  License: enumFilter('licenseStatus', licenseStatuses),
  OsVersion: textFilter('osVersion'),
  LastUpdated: timeFilter('lastUpdated'),
  Hashtags: tagsFilter('hashtags', { label: 'Tag' }),
  ExpirationDate: timeFilter('expirationDate'),
  Severity: numberFilter('severity', { values: ['50', '40', '30', '20', '10'] }),
  HasUnapprovedPeripherals: booleanFilter('hasUnapprovedPeripherals', { label: 'Devices not on the allowlist' }),
  HasVulnerablePeripherals: booleanFilter('hasVulnerablePeripherals', { label: 'Vulnerable devices' }),
  HasKnownAttackTools: booleanFilter('hasKnownAttackTools', { label: 'Attack tools' }),
  DeploymentMode: enumFilter('deploymentMode', deploymentModes, { labels: deploymentLabels }),
  CanBlock: booleanFilter('canBlock'),
  PolicyPending: booleanFilter('policyPending'),
  Owner: textFilter('owner'),
  ReleaseKey: textFilter('releaseKey'),
  PossibleDuplicate: booleanFilter('possibleDuplicates of the host, true if there are any'),
  Vendor: vendorFilter('Vendor of an attached device', { label: 'Device vendor' }),
  Model: modelFilter('Model of an attached device', { label: 'Device model' }),
  Alert: idFilter('ID of an alert: lists the hosts of this alert.', 10, {
    label: 'Hosts of alert',
    choices: 'alert',
    accepts: { form: '^\\d{1,10}$', hint: 'Enter the number of an alert. The page of an alert links here.' },
  }),
}

/** The list of hosts. */
export const agentList = list({
  title: 'Hosts',
  row: Agent,
  filters: agentFilters,
  file: {
    pdf: [
      'hostIdentifier',
      'localIpAddress',
      'displayStatusCombined',
      'severity',
      'riskScore',
      'notApproved',
      'osVersion',
      'serviceVersion',
      'lastUpdated',
      'hashtags',
    ],
    summary: ['displayStatusCombined', 'severity'],
    time: 'lastUpdated',
    permission: 'export:read',
  },
  table: {
    defaultSort: 'severity_desc',
    filters: [
      'Status',
      'CanBlock',
      'PolicyPending',
      'Severity',
      'HasKnownAttackTools',
      'HasVulnerablePeripherals',
      'HasUnapprovedPeripherals',
      'PossibleDuplicate',
      'Hashtags',
      'Owner',
      'Vendor',
      'Model',
      'Alert',
      'HostIdentifier',
      'IpAddress',
      'OsVersion',
      'Version',
      'ReleaseKey',
      'LastUpdated',
      'LastConfiguration',
      'License',
      'DeploymentMode',
    ],
    columns: [
      { id: 'host', of: 'hostIdentifier', width: 170, grow: true, shown: true, hasLink: true },
      {
        id: 'status',
        of: 'displayStatusCombined',
        width: 162,
        shown: true,
        exports: ['displayStatusCombined', 'operationalStatus'],
      },
      { id: 'risk', of: 'riskScore', width: 60, shown: true },
      {
        id: 'findings',
        of: 'severity',
        width: 216,
        shown: true,
        title: 'Findings',
        first: 'desc',
        exports: ['severity', 'hasKnownAttackTools', 'hasVulnerablePeripherals', 'hasUnapprovedPeripherals'],
      },
      {
        id: 'devices',
        of: 'approvedAndPresent',
        width: 84,
        shown: true,
        title: 'Devices',
        exports: ['approvedAndPresent', 'notApproved'],
      },
      { id: 'violating', of: 'notApproved', width: 150 },
      { id: 'tags', of: 'hashtags', width: 140, shown: true },
      { id: 'address', of: 'localIpAddress', width: 124, shown: true },
      { id: 'os', of: 'osVersion', width: 200, grow: true, shown: true },
      { id: 'seen', of: 'lastUpdated', width: 108, shown: true },
      { id: 'mode', of: 'operationalStatus', width: 80 },
      { id: 'canBlock', width: 90 },
      { id: 'policyPending', width: 110 },
      { id: 'owner', width: 140 },
      { id: 'version', of: 'serviceVersion', width: 110 },
      { id: 'approved', of: 'approvedAndPresent', width: 90, title: 'Allowed' },
      { id: 'licence', of: 'licenseStatus', width: 96 },
      { id: 'deployment', of: 'deploymentMode', width: 100 },
      { id: 'event', of: 'latestEventText', width: 320, sort: null },
      { id: 'first', of: 'firstSeen', width: 108 },
      { id: 'uuid', width: 290, title: 'ID', show: 'code' },
    ],
  },
})
