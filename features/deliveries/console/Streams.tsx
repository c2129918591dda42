import { Button } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Note, Panel, Quiet, Row, Skeleton, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { tell, tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { Link } from '@tanstack/react-router'
import { channelLabels } from '#features/alerts/console/shared/labels.ts'
import { type EventOutput, listEventOutputs, retryEventOutput, skipEventOutput } from '#features/contract.ts'
import { streamState } from './stream-state.ts'
import { strings } from './strings.ts'

// A busy stream moves with every batch; figures that change faster are unreadable.
const refreshGap = 2_000

/** Shows how far a stream is, and when it is tried next. */
const Progress = ({ stream }: { stream: EventOutput }) => (
  <Note>
    {(stream.behind === 0 ? strings.upToDate : strings.behind)({
      sent: stream.sent,
      position: stream.position,
      behind: stream.behind,
    })}{' '}
    {stream.succeededAt === null ? null : strings.lastSuccess({ time: <Time value={stream.succeededAt} /> })}{' '}
    {stream.nextAt === null ? null : strings.nextAttemptAt({ time: <Time value={stream.nextAt} form="until" /> })}
  </Note>
)

/** The event streams to SIEMs and webhooks, with their progress and errors. */
export const Streams = () => {
  const { api, session, queries } = useServices()
  const queryKey = ['event-outputs']
  const streams = useRead(queryKey, listEventOutputs)
  // Each stored event puts a stream behind for a moment.
  useLiveRefresh(['deliveries', 'events'], refreshGap, () => void streams.refetch())
  const answered = (message: string) => (fresh: EventOutput[]) => {
    queries.setQueryData(queryKey, fresh)
    tell(message)
  }
  const retry = ({ groupId, channel, groupName }: EventOutput) =>
    void api
      .call(retryEventOutput, { body: { groupId, channel } })
      .then(answered(strings.streamRetried({ group: groupName, channel: channelLabels[channel] })), tellFailure)
  const skip = ({ groupId, channel, groupName, behind, destination }: EventOutput) =>
    confirm({
      title: strings.skipTitle,
      names: [`${groupName}, ${channelLabels[channel]}: ${destination}`],
      count: behind,
      kind: strings.eventCount,
      consequence: strings.skipConsequence,
      action: strings.skip,
      run: async () =>
        answered(strings.skipped({ group: groupName }))(
          await api.call(skipEventOutput, { body: { groupId, channel } }),
        ),
    })

  if (streams.data === undefined)
    return streams.error === null ? <Skeleton height={48} /> : <ErrorState query={streams} inline />
  return (
    <Stack as="section" fixed gap={6} scroll style={{ maxHeight: '38%' }} aria-label={strings.streams}>
      <h2>{strings.streams}</h2>
      {streams.data.length === 0 ? (
        <Note>
          {strings.noStreams({
            em: (text) => <em>{text}</em>,
            link: (text) => <Link to="/settings/notifications">{text}</Link>,
          })}
        </Note>
      ) : (
        <ul>
          {streams.data.map((stream) => {
            const state = streamState(stream)
            return (
              <Panel key={`${stream.groupId} ${stream.channel}`} as="li" gap={2} dense num>
                <Row wrap gap="4px 12px">
                  <strong>{stream.groupName}</strong>
                  <Quiet breaks>
                    {channelLabels[stream.channel]} <DeviceText value={stream.destination} />
                  </Quiet>
                  {state.severity === null ? (
                    <span>{state.word}</span>
                  ) : (
                    <SeverityTag severity={state.severity} word={state.word} />
                  )}
                  <Row as="span" align="start" gap={6} end>
                    {stream.failures > 0 && session.may('notices:dismiss') ? (
                      <Button size="compact-xs" variant="default" onClick={() => retry(stream)}>
                        {strings.tryNow}
                      </Button>
                    ) : null}
                    {stream.behind > 0 && stream.failures > 0 && session.may('config:write') ? (
                      <Button size="compact-xs" variant="default" onClick={() => skip(stream)}>
                        {strings.skipMenu}
                      </Button>
                    ) : null}
                  </Row>
                </Row>
                <Progress stream={stream} />
                {stream.error === '' ? null : (
                  <Panel as="p" tone="sunken" top={4} dense breaks role="note">
                    <DeviceText value={stream.error} />
                  </Panel>
                )}
              </Panel>
            )
          })}
        </ul>
      )}
    </Stack>
  )
}
