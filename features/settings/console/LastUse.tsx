import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Row, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityShape } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { type ConfigGroupName, integrationUses } from '#features/contract.ts'
import { strings } from './strings.ts'

/** Shows when an integration last worked, and when and why it last failed. */
export const LastUse = ({ group }: { group: ConfigGroupName }) => {
  const uses = useRead(['integrations'], integrationUses, { refetchInterval: 15_000 })
  // Nobody counts uses of a domain name.
  if (group === 'domain') return <Row as="span" align="start" grow wrap gap="0 12px" quiet small />
  const use = uses.data?.data.find(({ name }) => name === group)
  if (use === undefined || (use.succeededAt === null && use.failedAt === null))
    return (
      <Row as="span" align="start" grow wrap gap="0 12px" quiet small>
        {uses.data === undefined ? '' : strings.notUsedYet}
      </Row>
    )
  const isFailing = use.failedAt !== null && (use.succeededAt === null || use.failedAt > use.succeededAt)
  return (
    <Row as="span" align="start" grow wrap gap="0 12px" quiet small>
      {use.succeededAt === null ? strings.neverWorked : strings.lastWorked({ time: <Time value={use.succeededAt} /> })}
      {use.failedAt === null ? null : (
        <Text breaks>
          {isFailing ? <SeverityShape severity="amber" /> : null}{' '}
          {strings.lastFailed({
            time: <Time value={use.failedAt} />,
            failure: <DeviceText value={use.failure} />,
          })}
        </Text>
      )}
    </Row>
  )
}
