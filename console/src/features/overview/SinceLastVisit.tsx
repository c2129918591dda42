import { eventCodes, getEvents } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useServices } from '../../lib/services.tsx'
import { exactUtc } from '../../lib/time.ts'
import { EventLines } from '../../ui/EventLines.tsx'
import { useNoticeCounts } from '../../ui/notices/useNotices.ts'
import { useLiveRefresh } from '../../ui/useLive.ts'
import classes from './OverviewPage.module.css'
import { strings } from './strings.ts'

const day = 86_400_000
// Five searches over the events of days: not for every event.
const countsGap = 10_000

const kinds = [
  { one: strings.attackToolDetected, title: strings.attackToolsDetected, search: eventCodes.attackTool.description },
  {
    one: strings.vulnerableDeviceDetected,
    title: strings.vulnerableDevicesDetected,
    search: eventCodes.vulnerable.description,
  },
  { one: strings.deviceAttached, title: strings.devicesAttached, search: eventCodes.attached.description },
  { one: strings.hostEnrolled, title: strings.hostsEnrolled, search: eventCodes.enrolled.description },
] as const

/** What happened since the last visit, or in the last day at a first one. */
export const SinceLastVisit = ({ since }: { since: number | null }) => {
  const { api, clock } = useServices()
  const [start] = useState(() => clock.now())
  const from = new Date(since ?? start - day).toISOString()
  const counts = useQuery({
    queryKey: ['overview', 'since', from],
    queryFn: ({ signal }) =>
      Promise.all(
        kinds.map(async ({ search }) => {
          const page = await api.call(getEvents, {
            query: { globalSearch: search, fromDate: from, PageSize: 1 },
            signal,
          })
          return page.recordsFiltered
        }),
      ),
  })
  const serious = useQuery({
    queryKey: ['overview', 'serious', from],
    queryFn: ({ signal }) =>
      api.call(getEvents, { query: { minimumSeverity: strings.error, fromDate: from, PageSize: 6 }, signal }),
  })
  const unread = useNoticeCounts().data?.unread
  useLiveRefresh(['events'], countsGap, () => {
    void counts.refetch()
    void serious.refetch()
  })
  return (
    <section className={classes.card}>
      <h2 title={exactUtc(since ?? start - day)}>
        {since === null ? strings.inTheLast24Hours : strings.sinceYouWereHere}
      </h2>
      <ul className={classes.counts}>
        {kinds.map(({ one, title, search }, index) => (
          <li key={title}>
            <Link to="/events" search={{ q: search, fromDate: from }}>
              <strong>{counts.data?.[index]?.toLocaleString('en') ?? '…'}</strong>{' '}
              {counts.data?.[index] === 1 ? one : title}
            </Link>
          </li>
        ))}
        {unread === undefined ? null : (
          <li>
            <Link to="/notices">
              {strings.strongUnreadOtherNoticesNotRead({
                strong: <strong>{unread.toLocaleString('en')}</strong>,
                unread,
              })}
            </Link>
          </li>
        )}
      </ul>
      {serious.data === undefined ? null : serious.data.data.length === 0 ? (
        <p className={classes.quiet}>{strings.nothingSeriousAmongIt}</p>
      ) : (
        <>
          <EventLines events={serious.data.data} withHost />
          {serious.data.recordsFiltered > serious.data.data.length ? (
            <Link to="/events" search={{ minimumSeverity: 'Error', fromDate: from }}>
              {strings.allRecordsfilteredSeriousEvents({ recordsFiltered: serious.data.recordsFiltered })}
            </Link>
          ) : null}
        </>
      )}
    </section>
  )
}
