import { Button } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Note, Row, Skeleton, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useLive } from '@portcullis/platform/console/ui/useLive.ts'
import { keepPreviousData } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { getHostTimeline, type TimelineLane } from '#features/contract.ts'
import { EntryLines } from './EntryLines.tsx'
import { LaneStrip } from './LaneStrip.tsx'
import { RangeFields } from './RangeFields.tsx'
import { isReversed } from './range.ts'
import { strings } from './strings.ts'

interface TimelineSearch {
  from?: string | undefined
  to?: string | undefined
  /** The chosen lanes, separated by commas. Absent: all. */
  lanes?: string | undefined
}

/** The range and the lanes in the address. */
const useTimelineSearch = () => {
  const { from, to, lanes }: TimelineSearch = useSearch({ strict: false })
  const navigate = useNavigate()
  const set = (change: TimelineSearch): void =>
    void navigate({ to: '.', search: (before: object) => ({ ...before, ...change }) as never, replace: true })
  return { range: { from, to }, lanes: lanes?.split(',') ?? [], set }
}

/** What happened on a host in a range of time, by lanes. */
export const HostTimeline = ({ agentId }: { agentId: string }) => {
  const { range, lanes, set } = useTimelineSearch()
  const now = useServices().clock.now()
  const isValid = !isReversed(range, now)
  const timeline = useRead(['agent', agentId, 'timeline', range], getHostTimeline, {
    params: { agentId },
    query: range,
    enabled: isValid,
    placeholderData: keepPreviousData,
  })
  useLive('agents', ({ changed }) => {
    if (isValid && (changed === null || changed.includes(agentId))) void timeline.refetch()
  })
  const toggle = (lane: TimelineLane): void => {
    const next = lanes.includes(lane) ? lanes.filter((one) => one !== lane) : [...lanes, lane]
    set({ lanes: next.length === 0 ? undefined : next.join(',') })
  }
  const { data } = timeline
  const entries = data?.entries ?? []
  const shown = lanes.length === 0 ? entries : entries.filter(({ lane }) => lanes.includes(lane))
  return (
    <Stack gap={14}>
      <RangeFields range={range} now={now} set={({ from, to }) => set({ from, to })} />
      {timeline.error !== null ? <ErrorState query={timeline} inline /> : null}
      {data === undefined ? (
        timeline.error === null && isValid ? (
          <Skeleton height={190} />
        ) : null
      ) : (
        <>
          <LaneStrip
            entries={entries}
            from={Date.parse(data.from)}
            to={Date.parse(data.to)}
            hidden={data.hiddenLanes}
            chosen={lanes}
            toggle={toggle}
          />
          {shown.length > 0 ? (
            <EntryLines entries={shown} agentId={agentId} />
          ) : entries.length === 0 ? (
            <Note>{strings.empty}</Note>
          ) : (
            <Row wrap gap={8}>
              <Note>{strings.emptyLanes({ count: entries.length })}</Note>
              <Button size="compact-xs" variant="subtle" onClick={() => set({ lanes: undefined })}>
                {strings.showAllLanes}
              </Button>
            </Row>
          )}
          {data.earlierFrom === null ? null : (
            <Row wrap gap={8}>
              <Note>{strings.newest({ count: entries.length })}</Note>
              <Button
                size="compact-xs"
                variant="default"
                onClick={() => set({ from: data.from, to: data.earlierFrom ?? undefined })}
              >
                {strings.earlier}
              </Button>
            </Row>
          )}
        </>
      )}
    </Stack>
  )
}
