import { Button } from '@mantine/core'
import { policyActivity, type ResponseOf } from '@portcullis/contract'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Note, Panel, Quiet, Row, Skeleton, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { right, SmallTable } from '@portcullis/platform/console/ui/SmallTable.tsx'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { Link } from '@tanstack/react-router'
import { type CSSProperties, useEffect, useId, useState } from 'react'
import classes from './AttachmentsChart.module.css'
import { ticksOf } from './chart.ts'
import { strings } from './strings.ts'

type Day = ResponseOf<typeof policyActivity>['data'][number]

const days = 14
// One more device does not visibly change the bar of a day.
const chartGap = 30_000

const dayName = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short', timeZone: 'UTC' })
const monthName = new Intl.DateTimeFormat('en', { month: 'short', timeZone: 'UTC' })

/** Filters for the events of a day. Attachments count for the day on which they happened. */
const eventsOf = (day: string) => ({
  category: 'USB',
  occurredFrom: `${day}T00:00:00Z`,
  occurredTo: `${day}T23:59:59Z`,
})

const percent = (part: number, whole: number): string => `${(part / whole) * 100}%`

/** Hides the tooltip on Escape, without moving the pointer or the focus (WCAG 1.4.13). */
const useEscape = (isShown: boolean, hide: () => void) =>
  useEffect(() => {
    if (!isShown) return
    const onKey = (event: KeyboardEvent) => {
      if (event.key === 'Escape') hide()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [isShown, hide])

/** The bars: one link per day, with a tooltip on hover and on keyboard focus. */
const Plot = ({ bars }: { bars: readonly Day[] }) => {
  const [shown, setShown] = useState<number | null>(null)
  const hide = () => setShown(null)
  useEscape(shown !== null, hide)
  const ticks = ticksOf(Math.max(...bars.map(({ attachments }) => attachments)))
  const top = ticks.at(-1)!
  const tip = shown === null ? undefined : bars[shown]
  // The tooltip of the first day starts at the left edge, that of the last day ends at the right edge.
  const place = (index: number): CSSProperties => ({
    left: percent(index + 0.5, bars.length),
    transform: `translateX(-${percent(index, Math.max(1, bars.length - 1))})`,
  })
  return (
    <Stack gap={8}>
      <Quiet tiny style={{ lineHeight: '16px' }} aria-hidden="true">
        {strings.attachmentsAxis}
      </Quiet>
      <div className={classes.plot} onPointerLeave={hide}>
        {ticks.map((tick) => (
          <span key={tick} className={classes.tick} style={{ bottom: percent(tick, top) }} aria-hidden="true">
            <span>{tick.toLocaleString('en')}</span>
          </span>
        ))}
        <ul className={classes.bars}>
          {bars.map(({ day, attachments, blocked }, index) => (
            <li key={day}>
              <Link
                to="/events"
                search={eventsOf(day)}
                className={classes.day}
                aria-label={strings.activityOfDay({ day: dayName.format(new Date(day)), attachments, blocked })}
                onPointerEnter={() => setShown(index)}
                onFocus={() => setShown(index)}
                onBlur={hide}
              >
                {attachments === 0 ? null : (
                  <span className={classes.bar} style={{ height: percent(attachments, top) }}>
                    {blocked === 0 ? null : (
                      <span className={classes.blocked} style={{ height: percent(blocked, attachments) }} />
                    )}
                  </span>
                )}
                <span className={classes.name} aria-hidden="true">
                  {Number(day.slice(8))}
                  <span>{index === 0 || day.endsWith('-01') ? monthName.format(new Date(day)) : ''}</span>
                </span>
              </Link>
            </li>
          ))}
        </ul>
        {tip === undefined || shown === null ? null : (
          <div className={classes.tip} style={place(shown)} role="tooltip" aria-hidden="true">
            <strong>{dayName.format(new Date(tip.day))}</strong>
            <span>{strings.attachmentCount({ count: tip.attachments })}</span>
            <span>{strings.blockedCount({ count: tip.blocked })}</span>
          </div>
        )}
      </div>
      <Quiet tiny style={{ textAlign: 'center' }} aria-hidden="true">
        {strings.dayAxis}
      </Quiet>
    </Stack>
  )
}

const AsTable = ({ bars }: { bars: readonly Day[] }) => (
  <SmallTable
    label={strings.activity}
    head={[strings.dayAxis, right(strings.attachmentsAxis), right(strings.blocked)]}
    rows={bars.toReversed().map(({ day, attachments, blocked }) => ({
      key: day,
      cells: [
        <Link key="day" to="/events" search={eventsOf(day)}>
          {dayName.format(new Date(day))}
        </Link>,
        attachments.toLocaleString('en'),
        blocked.toLocaleString('en'),
      ],
    }))}
    empty=""
  />
)

/** The attachments of the last two weeks by day, and how many of them were blocked, as a chart or as a table. */
export const AttachmentsChart = () => {
  const [isTable, setIsTable] = useState(false)
  const titleId = useId()
  const activity = useRead(['overview', 'activity'], policyActivity, { query: { days } })
  useLiveRefresh(['events'], chartGap, () => void activity.refetch())
  const bars = activity.data?.data
  const isEmpty = bars?.every(({ attachments }) => attachments === 0) ?? false
  return (
    <Panel small className={classes.card} aria-labelledby={titleId} aria-busy={activity.isPending}>
      <Row as="header" wrap gap="4px 20px">
        <h2 id={titleId}>{strings.activity}</h2>
        <p className={classes.legend}>
          <span data-kind="attached">{strings.attachmentsAxis}</span>
          <span data-kind="blocked">{strings.blocked}</span>
        </p>
        {bars === undefined || isEmpty ? null : (
          <Button size="compact-xs" variant="subtle" aria-pressed={isTable} onClick={() => setIsTable(!isTable)}>
            {strings.showAsTable}
          </Button>
        )}
      </Row>
      {bars === undefined ? (
        activity.error === null ? (
          <Skeleton height={190} />
        ) : (
          <ErrorState query={activity} inline />
        )
      ) : isEmpty ? (
        <Note>{strings.noAttachments({ days })}</Note>
      ) : isTable ? (
        <AsTable bars={bars} />
      ) : (
        <Plot bars={bars} />
      )}
    </Panel>
  )
}
