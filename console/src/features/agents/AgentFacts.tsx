import type { AgentDetail } from '@portcullis/contract'
import type { ReactNode } from 'react'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { Facts } from '../../ui/Facts.tsx'
import { Time } from '../../ui/Time.tsx'
import classes from './AgentDetail.module.css'

const skewText = (seconds: number): string =>
  Math.abs(seconds) < 2
    ? 'in step with the server'
    : `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the server`

/** The release key of the agent, or why the agent has none. */
const releaseKeyRow = (releaseKey: string | undefined): [string, ReactNode] => [
  'Release key',
  releaseKey === undefined
    ? 'No pinned release key. This agent is older: update it or install it again.'
    : releaseKey === ''
      ? 'No release key, so the agent refuses updates. Install it again from a build with a key.'
      : releaseKey,
]

/** What the host says of itself. */
export const AgentFacts = ({ agent }: { agent: AgentDetail }) => {
  const { facts } = agent
  return (
    <div className={classes.facts}>
      <Facts
        rows={[
          ['System', <DeviceText key="os" value={facts.osName} />],
          ['Kernel', <DeviceText key="k" value={[facts.kernel, facts.architecture].filter(Boolean).join(', ')} />],
          ['Machine', <DeviceText key="m" value={[facts.vendor, facts.model].filter(Boolean).join(' ')} />],
          ['Chassis', <DeviceText key="c" value={[facts.chassis, facts.sku].filter(Boolean).join(', ')} />],
          ['Address', <DeviceText key="a" value={agent.localIpAddress} />],
          ['Deployment', agent.deploymentMode],
          ['Agent version', <DeviceText key="v" value={agent.serviceVersion} />],
          ...(agent.deploymentMode === 'Agent' ? [releaseKeyRow(facts.releaseKey)] : []),
          ['Clock', skewText(agent.clockSkewSeconds)],
          ['First seen', <Time key="f" value={agent.firstSeen} form="local" />],
          ['Last contact', <Time key="l" value={agent.lastUpdated} form="local" />],
          ['Last configured', <Time key="lc" value={agent.lastConfiguered} form="local" />],
          ['Licence', `${agent.licenseStatus}${agent.expirationDate === '' ? '' : `, until ${agent.expirationDate}`}`],
          ['Id', <code key="id">{agent.uuid}</code>],
        ]}
      />
      <h3>Network interfaces</h3>
      {agent.nics.length === 0 ? (
        <p className={classes.quiet}>None were reported.</p>
      ) : (
        <table className={classes.table}>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">MAC</th>
              <th scope="col">Addresses</th>
              <th scope="col">State</th>
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
                <td>{nic.isUp ? 'up' : 'down'}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </div>
  )
}
