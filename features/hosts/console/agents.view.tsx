import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { listTable } from '@portcullis/platform/console/ui/list/list-table.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { HostStatus } from '#features/agents/console/shared/HostStatus.tsx'
import { type Agent, agentList, deploymentLabels } from '#features/contract.ts'
import { findingOf } from '#features/devices/console/shared/findings.ts'

const Findings = ({ agent }: { agent: Agent }) => {
  const finding = findingOf(agent.severity)
  return finding === null ? <span>–</span> : <SeverityTag severity={finding.severity} word={finding.word} />
}

export const agentsTable = listTable<Agent>(agentList, {
  host: (agent) => (
    <PlainLink href={agentAddress(agent.uuid)}>
      <DeviceText value={agent.hostIdentifier} />
    </PlainLink>
  ),
  status: (agent) => <HostStatus host={agent} />,
  findings: (agent) => <Findings agent={agent} />,
  devices: (agent) => agent.approvedAndPresent + agent.notApproved,
  violating: (agent) => (agent.notApproved === 0 ? '–' : agent.notApproved),
  deployment: (agent) => deploymentLabels[agent.deploymentMode],
})
