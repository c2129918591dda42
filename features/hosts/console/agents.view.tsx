import { type Agent, agentStatuses, deploymentModes, licenseStatuses, readableEvent } from '@portcullis/contract'
import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import type { ViewSpec } from '@portcullis/platform/console/lib/view-state.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import type { Filter } from '@portcullis/platform/console/ui/filters/filter.ts'
import { findingOf, severityOptions } from '@portcullis/platform/console/ui/findings.ts'
import { HostStatus } from '@portcullis/platform/console/ui/HostStatus.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { TagList } from '@portcullis/platform/console/ui/TagList.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { Column } from '@portcullis/platform/console/ui/table/column.ts'
import { deploymentLabels, strings } from './strings.ts'

const options = (values: readonly string[]) => values.map((value) => ({ value, label: value }))

const deploymentOptions = deploymentModes.map((value) => ({ value, label: deploymentLabels[value] }))

/** Filters of the host list, by their API names. */
export const agentFilters = [
  { name: 'Status', label: strings.status, kind: 'choice', options: options(agentStatuses) },
  { name: 'Severity', label: strings.finding, kind: 'choice', options: severityOptions },
  { name: 'HasKnownAttackTools', label: strings.attackTools, kind: 'yesNo' },
  { name: 'HasVulnerablePeripherals', label: strings.vulnerableDevices, kind: 'yesNo' },
  { name: 'HasUnapprovedPeripherals', label: strings.notAllowedDevices, kind: 'yesNo' },
  { name: 'PossibleDuplicate', label: strings.possibleDuplicate, kind: 'yesNo' },
  { name: 'Hashtags', label: strings.tag, kind: 'tags' },
  { name: 'Vendor', label: strings.deviceVendor, kind: 'text' },
  { name: 'Model', label: strings.deviceModel, kind: 'text' },
  { name: 'Alert', label: strings.ofAlert, kind: 'text' },
  { name: 'HostIdentifier', label: strings.hostName, kind: 'text' },
  { name: 'IpAddress', label: strings.address, kind: 'text' },
  { name: 'OsVersion', label: strings.operatingSystem, kind: 'text' },
  { name: 'Version', label: strings.agentVersion, kind: 'text' },
  { name: 'ReleaseKey', label: strings.releaseKey, kind: 'text' },
  { name: 'LastUpdated', label: strings.lastSeen, kind: 'period' },
  { name: 'LastConfiguration', label: strings.lastConfigured, kind: 'period' },
  { name: 'License', label: strings.licence, kind: 'choice', options: options(licenseStatuses) },
  { name: 'DeploymentMode', label: strings.deployment, kind: 'choice', options: deploymentOptions },
] as const satisfies readonly Filter[]

export const agentsView: ViewSpec = {
  filters: agentFilters.map(({ name }) => name),
  defaultSort: 'severity_desc',
  defaultColumns: ['host', 'status', 'risk', 'findings', 'devices', 'tags', 'address', 'os', 'seen'],
}

const Host = ({ agent }: { agent: Agent }) => (
  <PlainLink href={agentAddress(agent.uuid)}>
    <DeviceText value={agent.hostIdentifier} />
  </PlainLink>
)

const Findings = ({ agent }: { agent: Agent }) => {
  const finding = findingOf(agent.severity)
  return finding === null ? <span>–</span> : <SeverityTag severity={finding.severity} word={finding.word} />
}

export const agentColumns: readonly Column<Agent>[] = [
  {
    id: 'host',
    hasLink: true,
    title: strings.host,
    width: 170,
    grow: true,
    sortKey: 'hostIdentifier',
    cell: (agent) => <Host agent={agent} />,
  },
  {
    id: 'status',
    title: strings.status,
    width: 162,
    sortKey: 'displayStatusCombined',
    exportKeys: ['displayStatusCombined', 'operationalStatus'],
    cell: (agent) => <HostStatus host={agent} />,
  },
  {
    id: 'risk',
    title: strings.risk,
    width: 60,
    align: 'right',
    sortKey: 'riskScore',
    naturalSort: 'desc',
    cell: (agent) => <span>{agent.riskScore}</span>,
  },
  {
    id: 'findings',
    title: strings.findings,
    width: 216,
    sortKey: 'severity',
    exportKeys: ['severity', 'hasKnownAttackTools', 'hasVulnerablePeripherals', 'hasUnapprovedPeripherals'],
    naturalSort: 'desc',
    cell: (agent) => <Findings agent={agent} />,
  },
  {
    id: 'devices',
    title: strings.devices,
    width: 84,
    align: 'right',
    sortKey: 'approvedAndPresent',
    exportKeys: ['approvedAndPresent', 'notApproved'],
    naturalSort: 'desc',
    cell: (agent) => <span>{agent.approvedAndPresent + agent.notApproved}</span>,
  },
  {
    id: 'violating',
    title: strings.notAllowed,
    width: 150,
    align: 'right',
    sortKey: 'notApproved',
    naturalSort: 'desc',
    cell: (agent) => <span>{agent.notApproved === 0 ? '–' : agent.notApproved}</span>,
  },
  {
    id: 'tags',
    title: strings.tags,
    width: 140,
    sortKey: 'hashtags',
    cell: (agent) => <TagList oneLine tags={agent.hashtags} />,
  },
  {
    id: 'address',
    title: strings.address,
    width: 124,
    sortKey: 'localIpAddress',
    cell: (agent) => <DeviceText value={agent.localIpAddress} />,
  },
  {
    id: 'os',
    title: strings.operatingSystem,
    width: 200,
    grow: true,
    sortKey: 'osVersion',
    cell: (agent) => <DeviceText value={agent.osVersion} />,
  },
  {
    id: 'seen',
    title: strings.lastSeen,
    width: 108,
    align: 'right',
    sortKey: 'lastUpdated',
    naturalSort: 'desc',
    cell: (agent) => <Time value={agent.lastUpdated} />,
  },
  {
    id: 'mode',
    title: strings.mode,
    width: 80,
    sortKey: 'operationalStatus',
    cell: (agent) => <span>{agent.operationalStatus}</span>,
  },
  {
    id: 'version',
    title: strings.agentVersion,
    width: 110,
    sortKey: 'serviceVersion',
    cell: (agent) => <DeviceText value={agent.serviceVersion} />,
  },
  {
    id: 'approved',
    title: strings.allowed,
    width: 90,
    align: 'right',
    sortKey: 'approvedAndPresent',
    naturalSort: 'desc',
    cell: (agent) => <span>{agent.approvedAndPresent}</span>,
  },
  {
    id: 'licence',
    title: strings.licence,
    width: 96,
    sortKey: 'licenseStatus',
    cell: (agent) => <span>{agent.licenseStatus}</span>,
  },
  {
    id: 'deployment',
    title: strings.deployment,
    width: 100,
    sortKey: 'deploymentMode',
    cell: (agent) => <span>{deploymentLabels[agent.deploymentMode]}</span>,
  },
  {
    id: 'event',
    title: strings.latestEvent,
    width: 320,
    exportKeys: ['latestEventText'],
    cell: (agent) => <DeviceText value={readableEvent(agent.latestEventText)} />,
  },
  {
    id: 'first',
    title: strings.firstSeen,
    width: 108,
    align: 'right',
    sortKey: 'firstSeen',
    naturalSort: 'desc',
    cell: (agent) => <Time value={agent.firstSeen} />,
  },
  { id: 'uuid', title: strings.id, width: 290, sortKey: 'uuid', cell: (agent) => <code>{agent.uuid}</code> },
]
