import { type Agent, agentStatuses, licenseStatuses } from '@portcullis/contract'
import { agentAddress } from '../../lib/addresses.ts'
import type { ViewSpec } from '../../lib/view-state.ts'
import { DeviceText } from '../../ui/DeviceText.tsx'
import type { Filter } from '../../ui/filters/filter.ts'
import { findingOf, severityOptions } from '../../ui/findings.ts'
import { HostStatus } from '../../ui/HostStatus.tsx'
import { PlainLink } from '../../ui/PlainLink.tsx'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { TagList } from '../../ui/TagList.tsx'
import { Time } from '../../ui/Time.tsx'
import type { Column } from '../../ui/table/column.ts'

const options = (values: readonly string[]) => values.map((value) => ({ value, label: value }))

/** Filters of the agents list, by the interface's names. */
export const agentFilters = [
  { name: 'Status', label: 'Status', kind: 'choice', options: options(agentStatuses) },
  { name: 'Severity', label: 'Finding', kind: 'choice', options: severityOptions },
  { name: 'HasKnownAttackTools', label: 'Attack tools', kind: 'yesNo' },
  { name: 'HasVulnerablePeripherals', label: 'Vulnerable devices', kind: 'yesNo' },
  { name: 'HasUnapprovedPeripherals', label: 'Devices not approved', kind: 'yesNo' },
  { name: 'Hashtags', label: 'Tag', kind: 'tags' },
  { name: 'Vendor', label: 'Device vendor', kind: 'text' },
  { name: 'Model', label: 'Device model', kind: 'text' },
  { name: 'HostIdentifier', label: 'Host name', kind: 'text' },
  { name: 'IpAddress', label: 'Address', kind: 'text' },
  { name: 'OsVersion', label: 'Operating system', kind: 'text' },
  { name: 'Version', label: 'Agent version', kind: 'text' },
  { name: 'ReleaseKey', label: 'Release key', kind: 'text' },
  { name: 'LastUpdated', label: 'Last contact', kind: 'period' },
  { name: 'LastConfiguration', label: 'Last configured', kind: 'period' },
  { name: 'License', label: 'Licence', kind: 'choice', options: options(licenseStatuses) },
  { name: 'DeploymentMode', label: 'Deployment', kind: 'choice', options: options(['Agent', 'Agentless']) },
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
    title: 'Host',
    width: 170,
    grow: true,
    sortKey: 'hostIdentifier',
    cell: (agent) => <Host agent={agent} />,
  },
  {
    id: 'status',
    title: 'Status',
    width: 126,
    sortKey: 'displayStatusCombined',
    cell: (agent) => <HostStatus status={agent.displayStatusCombined} />,
  },
  {
    id: 'risk',
    title: 'Risk',
    width: 60,
    align: 'right',
    sortKey: 'riskScore',
    naturalSort: 'desc',
    cell: (agent) => <span>{agent.riskScore}</span>,
  },
  {
    id: 'findings',
    title: 'Findings',
    width: 184,
    sortKey: 'severity',
    exportKeys: ['severity', 'hasKnownAttackTools', 'hasVulnerablePeripherals', 'hasUnapprovedPeripherals'],
    naturalSort: 'desc',
    cell: (agent) => <Findings agent={agent} />,
  },
  {
    id: 'devices',
    title: 'Devices',
    width: 84,
    align: 'right',
    sortKey: 'approvedAndPresent',
    exportKeys: ['approvedAndPresent', 'notApproved'],
    naturalSort: 'desc',
    cell: (agent) => <span>{agent.approvedAndPresent + agent.notApproved}</span>,
  },
  {
    id: 'violating',
    title: 'Not approved',
    width: 116,
    align: 'right',
    sortKey: 'notApproved',
    naturalSort: 'desc',
    cell: (agent) => <span>{agent.notApproved === 0 ? '–' : agent.notApproved}</span>,
  },
  {
    id: 'tags',
    title: 'Tags',
    width: 140,
    sortKey: 'hashtags',
    cell: (agent) => <TagList oneLine tags={agent.hashtags} />,
  },
  {
    id: 'address',
    title: 'Address',
    width: 124,
    sortKey: 'localIpAddress',
    cell: (agent) => <DeviceText value={agent.localIpAddress} />,
  },
  {
    id: 'os',
    title: 'Operating system',
    width: 200,
    grow: true,
    sortKey: 'osVersion',
    cell: (agent) => <DeviceText value={agent.osVersion} />,
  },
  {
    id: 'seen',
    title: 'Last seen',
    width: 90,
    align: 'right',
    sortKey: 'lastUpdated',
    naturalSort: 'desc',
    cell: (agent) => <Time value={agent.lastUpdated} />,
  },
  {
    id: 'mode',
    title: 'Mode',
    width: 80,
    sortKey: 'operationalStatus',
    cell: (agent) => <span>{agent.operationalStatus}</span>,
  },
  {
    id: 'version',
    title: 'Agent version',
    width: 110,
    sortKey: 'serviceVersion',
    cell: (agent) => <DeviceText value={agent.serviceVersion} />,
  },
  {
    id: 'approved',
    title: 'Approved',
    width: 90,
    align: 'right',
    sortKey: 'approvedAndPresent',
    naturalSort: 'desc',
    cell: (agent) => <span>{agent.approvedAndPresent}</span>,
  },
  {
    id: 'licence',
    title: 'Licence',
    width: 96,
    sortKey: 'licenseStatus',
    cell: (agent) => <span>{agent.licenseStatus}</span>,
  },
  {
    id: 'deployment',
    title: 'Deployment',
    width: 100,
    sortKey: 'deploymentMode',
    cell: (agent) => <span>{agent.deploymentMode}</span>,
  },
  {
    id: 'event',
    title: 'Latest event',
    width: 320,
    exportKeys: ['latestEventText'],
    cell: (agent) => <DeviceText value={agent.latestEventText} />,
  },
  {
    id: 'first',
    title: 'First seen',
    width: 96,
    align: 'right',
    sortKey: 'firstSeen',
    naturalSort: 'desc',
    cell: (agent) => <Time value={agent.firstSeen} />,
  },
  { id: 'uuid', title: 'Id', width: 290, sortKey: 'uuid', cell: (agent) => <code>{agent.uuid}</code> },
]
