import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { exactUtc } from '@portcullis/platform/console/lib/time.ts'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { Columns, Note, Panel } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useAlertCounts } from '#features/alerts/console/shared/useAlerts.ts'
import { eventCatalogue, getEvents, getPeripherals } from '#features/contract.ts'
import { EventLines } from '#features/events/console/shared/EventLines.tsx'
import { strings } from './strings.ts'

const hour = 3_600_000
const day = 24 * hour
// Limits the rate of these five searches over days of events.
const countsGap = 10_000

/** Counts devices: one that is attached ten times counts once. */
const deviceKinds = [
  { label: strings.newAttackTools, finding: 'isKnownAttackTool' },
  { label: strings.newVulnerable, finding: 'isVulnerablePeripheral' },
] as const
/** Counts events. */
const eventKinds = [
  { label: strings.attachedEvents, search: eventCatalogue.attached.name },
  { label: strings.enrolledEvents, search: eventCatalogue.enrolled.name },
] as const

const numberOf = (count: number | undefined) => ({
  number: <strong key="number">{count?.toLocaleString('en') ?? '…'}</strong>,
  count: count ?? 0,
})

/** Shows what happened in the last 24 hours. */
export const LastDay = () => {
  const { api, clock } = useServices()
  const [start, setStart] = useState(() => clock.now() - day)
  const from = new Date(start).toISOString()
  const firstSeen = `${from}..`
  const devices = useQuery({
    queryKey: ['overview', 'devices-since', from],
    queryFn: ({ signal }) =>
      Promise.all(
        deviceKinds.map(async ({ finding }) => {
          const query = { [finding]: 'true', firstSeen, PageSize: 1 }
          return (await api.call(getPeripherals, { query, signal })).recordsFiltered
        }),
      ),
  })
  const events = useQuery({
    queryKey: ['overview', 'since', from],
    queryFn: ({ signal }) =>
      Promise.all(
        eventKinds.map(async ({ search }) => {
          const page = await api.call(getEvents, {
            query: { globalSearch: search, fromDate: from, PageSize: 1 },
            signal,
          })
          return page.recordsFiltered
        }),
      ),
  })
  const serious = useRead(['overview', 'serious', from], getEvents, {
    query: { minimumSeverity: 'Error', fromDate: from, PageSize: 6 },
  })
  const unread = useAlertCounts().data?.unread
  useLiveRefresh(['events'], countsGap, () => {
    // A page that stays open follows the time, in steps that keep the numbers of one query comparable.
    if (clock.now() - day - start > hour) return setStart(clock.now() - day)
    void devices.refetch()
    void events.refetch()
    void serious.refetch()
  })
  return (
    <Panel small>
      <h2 title={strings.since({ time: exactUtc(start) })}>{strings.lastDay}</h2>
      <Columns as="ul" template="repeat(auto-fit, minmax(160px, 1fr))" gap="4px 16px">
        {deviceKinds.map(({ label, finding }, index) => (
          <li key={finding}>
            <Link to="/peripherals" search={{ [finding]: 'true', firstSeen }}>
              {label(numberOf(devices.data?.[index]))}
            </Link>
          </li>
        ))}
        {eventKinds.map(({ label, search }, index) => (
          <li key={search}>
            <Link to="/events" search={{ q: search, fromDate: from }}>
              {label(numberOf(events.data?.[index]))}
            </Link>
          </li>
        ))}
        {unread === undefined ? null : (
          <li>
            <Link to="/alerts">
              {strings.unreadAlerts({
                number: <strong key="number">{unread.toLocaleString('en')}</strong>,
                count: unread,
              })}
            </Link>
          </li>
        )}
      </Columns>
      {serious.data === undefined ? null : serious.data.data.length === 0 ? (
        <Note>{strings.noSeriousEvents}</Note>
      ) : (
        <>
          <EventLines events={serious.data.data} withHost />
          {serious.data.recordsFiltered > serious.data.data.length ? (
            <Link to="/events" search={{ minimumSeverity: 'Error', fromDate: from }}>
              {strings.allSeriousEvents({ count: serious.data.recordsFiltered })}
            </Link>
          ) : null}
        </>
      )}
    </Panel>
  )
}
