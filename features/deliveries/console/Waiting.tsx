import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Panel, Quiet, Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { channelLabels } from '#features/alerts/console/shared/labels.ts'
import { listWaitingNotices } from '#features/contract.ts'
import { strings } from './strings.ts'

// During a flood, alerts are combined about once a second.
const refreshGap = 2_000

/** Shows the notifications that groups hold back until a batch or quiet hours end. */
export const Waiting = () => {
  const waiting = useRead(['waiting-notices'], listWaitingNotices, {
    // Some wait for seconds only, and only a delivery reports that they were sent.
    refetchInterval: 15_000,
  })
  useLiveRefresh(['notices', 'deliveries'], refreshGap, () => void waiting.refetch())
  if (waiting.data === undefined) return waiting.error === null ? null : <ErrorState query={waiting} inline />
  if (waiting.data.length === 0) return null
  return (
    <Stack as="section" fixed gap={6} scroll style={{ maxHeight: '38%' }} aria-label={strings.pendingTitle}>
      <h2>{strings.pendingTitle}</h2>
      <ul>
        {waiting.data.map(({ groupId, groupName, channel, notices, isForQuietHours, nextAt }) => (
          <Panel key={`${groupId} ${channel}`} as="li" gap={2} dense num>
            <Row wrap gap="4px 12px">
              <strong>{groupName}</strong>
              <Quiet breaks>{channelLabels[channel]}</Quiet>
              <span>
                {(isForQuietHours ? strings.pendingQuiet : strings.pendingBatch)({
                  count: notices,
                  time: <Time value={nextAt} form="local" />,
                })}
              </span>
            </Row>
          </Panel>
        ))}
      </ul>
    </Stack>
  )
}
