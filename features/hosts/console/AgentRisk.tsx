import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Note, Stack, Table, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import type { AgentDetail } from '#features/contract.ts'
import { HostFindings } from '#features/devices/console/shared/findings/HostFindings.tsx'
import { strings } from './strings.ts'

/** The risk score with its factors, points and evidence. */
export const AgentRisk = ({ agent }: { agent: AgentDetail }) => (
  <Stack gap={8}>
    {agent.riskFactors.length === 0 ? (
      <Note>{strings.noRisk}</Note>
    ) : (
      <Table>
        <thead>
          <tr>
            <th scope="col">{strings.points}</th>
            <th scope="col">{strings.factor}</th>
            <th scope="col">{strings.evidence}</th>
          </tr>
        </thead>
        <tbody>
          {agent.riskFactors.map(({ factor, points, evidence }) => (
            <tr key={`${factor}${evidence}`}>
              <Text as="td" num style={{ width: 64 }}>
                +{points}
              </Text>
              <td>{factor}</td>
              <td>
                <DeviceText value={evidence} />
              </td>
            </tr>
          ))}
        </tbody>
        <tfoot>
          <tr>
            <Text as="td" num style={{ width: 64 }}>
              {agent.riskScore}
            </Text>
            <td colSpan={2}>{strings.of100}</td>
          </tr>
        </tfoot>
      </Table>
    )}
    <HostFindings agentId={agent.uuid} />
  </Stack>
)
