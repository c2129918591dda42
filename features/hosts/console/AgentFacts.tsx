import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { Note, Stack, Table } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { ReactNode } from 'react'
import { gradeLabels } from '#features/commands/console/shared/arming/grade.ts'
import { type AgentDetail, deploymentLabels } from '#features/contract.ts'
import { FeedFacts } from './FeedFacts.tsx'
import { strings } from './strings.ts'

const skewText = (seconds: number): string => {
  if (Math.abs(seconds) < 2) return strings.clockInSync
  return seconds > 0 ? strings.clockAhead({ seconds }) : strings.clockBehind({ seconds: -seconds })
}

/** The release key of the agent, or why it has none. */
const releaseKeyRow = (releaseKey: string | undefined): [string, ReactNode] => [
  strings.releaseKey,
  releaseKey === undefined ? strings.releaseKeyUnknown : releaseKey === '' ? strings.releaseKeyMissing : releaseKey,
]

/** The grade, and why the host has no higher one. */
const Grade = ({ agent: { policy, facts } }: { agent: AgentDetail }) => {
  const { short, long } = gradeLabels(policy.enforcement, facts.osName)
  const { enforcementReason = '' } = facts
  return (
    <>
      {short}. {long} {enforcementReason === '' ? null : <DeviceText value={enforcementReason} />}
    </>
  )
}

/** Shows the properties that the host reports. */
export const AgentFacts = ({ agent }: { agent: AgentDetail }) => {
  const { facts } = agent
  return (
    <Stack gap={8}>
      {agent.deploymentMode === 'Feed' ? <FeedFacts uuid={agent.uuid} /> : null}
      <Facts
        rows={[
          [
            strings.systemColumn,
            <DeviceText
              key="os"
              value={facts.osBuild === undefined ? facts.osName : `${facts.osName} (${facts.osBuild})`}
            />,
          ],
          ...(agent.deploymentMode === 'Agent'
            ? [[strings.enforcement, <Grade key="grade" agent={agent} />] satisfies [string, ReactNode]]
            : []),
          [
            strings.kernel,
            <DeviceText key="k" value={[facts.kernel, facts.architecture].filter(Boolean).join(', ')} />,
          ],
          [strings.model, <DeviceText key="m" value={[facts.vendor, facts.model].filter(Boolean).join(' ')} />],
          [strings.chassis, <DeviceText key="c" value={[facts.chassis, facts.sku].filter(Boolean).join(', ')} />],
          [strings.address, <DeviceText key="a" value={agent.localIpAddress} />],
          [strings.deployment, deploymentLabels[agent.deploymentMode]],
          [strings.agentVersion, <DeviceText key="v" value={agent.serviceVersion} />],
          ...(agent.deploymentMode === 'Agent' ? [releaseKeyRow(facts.releaseKey)] : []),
          [strings.clock, skewText(agent.clockSkewSeconds)],
          [strings.firstSeen, <Time key="f" value={agent.firstSeen} form="local" />],
          [strings.lastSeen, <Time key="l" value={agent.lastUpdated} form="local" />],
          [strings.lastConfigured, <Time key="lc" value={agent.lastConfiguered} form="local" />],
          [
            strings.licence,
            agent.expirationDate === ''
              ? agent.licenseStatus
              : strings.licenceUntil({ status: agent.licenseStatus, date: agent.expirationDate }),
          ],
          [strings.id, <code key="id">{agent.uuid}</code>],
        ]}
      />
      <h3>{strings.networkInterfaces}</h3>
      {agent.nics.length === 0 ? (
        <Note>{strings.noInterfaces}</Note>
      ) : (
        <Table>
          <thead>
            <tr>
              <th scope="col">{strings.name}</th>
              <th scope="col">{strings.mac}</th>
              <th scope="col">{strings.addresses}</th>
              <th scope="col">{strings.state}</th>
            </tr>
          </thead>
          <tbody>
            {agent.nics.map((nic) => (
              <tr key={`${nic.name}${nic.mac}`}>
                <td>
                  <DeviceText value={nic.name} />
                </td>
                <td>
                  <code>{nic.mac}</code>
                </td>
                <td>
                  <DeviceText value={nic.addresses.join(', ')} />
                </td>
                <td>{nic.isUp ? strings.up : strings.down}</td>
              </tr>
            ))}
          </tbody>
        </Table>
      )}
    </Stack>
  )
}
