import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Note, Panel, Quiet, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { TagList } from '@portcullis/platform/console/ui/TagList.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { Link } from '@tanstack/react-router'
import type { getAgents, ResponseOf } from '#features/contract.ts'
import { findingOf } from '#features/devices/console/shared/findings.ts'
import { strings } from './strings.ts'

export const worstCount = 8

/** Lists the hosts with the most severe findings, with a link to all of them. */
export const WorstHosts = ({ worst }: { worst: ResponseOf<typeof getAgents> | undefined }) => (
  <Panel small>
    <h2>{strings.needsAttention}</h2>
    {worst?.data.length === 0 ? (
      <Note>{strings.noFindings}</Note>
    ) : (
      <Stack as="ul" gap={0} lined>
        {(worst?.data ?? []).map((agent) => {
          const finding = findingOf(agent.severity)
          return (
            <Row as="li" key={agent.uuid} wrap gap="4px 10px" style={{ minHeight: 32 }}>
              <Link
                to="/agents/$agentId"
                params={{ agentId: agent.uuid }}
                style={{ flex: '1 1 140px', overflowWrap: 'anywhere' }}
              >
                <DeviceText value={agent.hostIdentifier} />
              </Link>
              <TagList tags={agent.hashtags} />
              {finding === null ? null : <SeverityTag severity={finding.severity} word={finding.word} />}
              <Quiet style={{ minWidth: 48, textAlign: 'right' }}>
                <Time value={agent.lastUpdated} />
              </Quiet>
            </Row>
          )
        })}
      </Stack>
    )}
    {(worst?.recordsFiltered ?? 0) > worstCount ? (
      <Link to="/agents" search={{ Severity: '30,40,50' }}>
        {strings.showAllHosts({ count: worst!.recordsFiltered })}
      </Link>
    ) : null}
  </Panel>
)
