import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { durationText } from '@portcullis/platform/console/lib/time.ts'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { DrawerBody, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { TagList } from '@portcullis/platform/console/ui/TagList.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { skipToken, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type FleetEvent, getEvents, readableEvent } from '#features/contract.ts'
import { eventSeverity } from '#features/devices/console/shared/findings.ts'
import { EventLines } from './shared/EventLines.tsx'
import { strings } from './strings.ts'

const aroundCount = 12

/** Returns the host name from `HOST (address)`. */
const hostOf = (entity: string): string => entity.replace(/ \([^()]*\)$/, '')

/** The time of the event on the host, with its uncertainty. */
const Happened = ({ event }: { event: FleetEvent }) => (
  <>
    <Time value={event.occurredAt} form="local" />{' '}
    <Text nowrap>
      {strings.exactTo({ amount: durationText(Math.ceil((event.occurredUncertaintyMs ?? 0) / 1_000)) })}
    </Text>
  </>
)

/** One event, with earlier and later events on the same host. */
export const EventDetail = ({ eventId }: { eventId: string }) => {
  const { api } = useServices()
  const id = Number(eventId)
  const one = useRead(['event', id], getEvents, {
    query: { fromEventId: id, PageSize: 1 },
    enabled: Number.isSafeInteger(id) && id >= 0,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const event = one.data?.data.find((row) => row.eventID === id)
  const entity = event?.eventEntityID ?? ''
  // The address of a host can change, so the search matches the name only.
  const atHost = `${hostOf(entity)} (`
  const before = useQuery({
    queryKey: ['event-around', id, 'before'],
    queryFn:
      event === undefined || entity === ''
        ? skipToken
        : ({ signal }) =>
            api.call(getEvents, {
              query: { source: atHost, toDate: event.creationTime, PageSize: aroundCount },
              signal,
            }),
  })
  const after = useRead(['event-around', id, 'after'], getEvents, {
    query: { source: atHost, fromEventId: id + 1, PageSize: aroundCount },
    enabled: event !== undefined && entity !== '',
  })
  if (one.error !== null) return <ErrorState query={one} />
  if (one.isLoading) return <DetailSkeleton />
  if (event === undefined) {
    return (
      <EmptyState icon="events" title={strings.notFound}>
        <p>{strings.notFoundHint}</p>
      </EmptyState>
    )
  }
  const ids = /VID\/PID are ([0-9A-F]{4})\/([0-9A-F]{4})/.exec(event.details)
  const led = (before.data?.data ?? []).filter((row) => row.eventID < id)
  const followed = (after.data?.data ?? []).filter((row) => row.eventID > id)
  return (
    <DrawerBody>
      <h2>{event.description}</h2>
      <Facts
        rows={[
          [
            strings.severity,
            <SeverityTag key="s" severity={eventSeverity(event.severity)} word={event.severityString} />,
          ],
          ...(event.occurredUncertaintyMs === null
            ? []
            : [[strings.happened, <Happened key="o" event={event} />] as [string, ReactNode]]),
          [strings.received, <Time key="t" value={event.creationTime} form="local" />],
          [
            strings.hostName,
            <Link key="h" to="/agents" search={{ HostIdentifier: hostOf(entity) }}>
              <DeviceText value={entity} />
            </Link>,
          ],
          [strings.details, <DeviceText key="d" value={readableEvent(event.details)} />],
          ...(ids === null
            ? []
            : [
                [
                  strings.device,
                  <Link key="p" to="/peripherals" search={{ vid: ids[1], pid: ids[2], hostIdentifier: hostOf(entity) }}>
                    {strings.deviceLink({ vid: ids[1], pid: ids[2] })}
                  </Link>,
                ] as [string, ReactNode],
              ]),
          [strings.tagsThen, event.hashtags === '' ? '–' : <TagList key="tags" tags={event.hashtags} />],
          [strings.category, event.category],
          [strings.code, <code key="c">{event.eventCode}</code>],
          [strings.id, String(event.eventID)],
        ]}
      />
      {followed.length === 0 ? null : (
        <section>
          <h3>{strings.later}</h3>
          <EventLines events={followed} />
        </section>
      )}
      {led.length === 0 ? null : (
        <section>
          <h3>{strings.earlier}</h3>
          <EventLines events={led} />
        </section>
      )}
    </DrawerBody>
  )
}
