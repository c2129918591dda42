import { durationText, parseTime } from '@portcullis/platform/console/lib/time.ts'
import { Icon, kindIcon } from '@portcullis/platform/console/ui/icons.tsx'
import { listTable } from '@portcullis/platform/console/ui/list/list-table.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { eventList, type FleetEvent } from '#features/contract.ts'
import { eventSeverity } from '#features/devices/console/shared/findings.ts'
import { strings } from './strings.ts'

/** Delay above which an event is marked as late. Agents check in every minute. */
const lateFromSeconds = 120

const secondsLate = ({ occurredAt, creationTime }: FleetEvent): number =>
  ((parseTime(creationTime) ?? 0) - (parseTime(occurredAt) ?? 0)) / 1_000

/** Shows when the server received an event, and marks events that happened much earlier. */
const EventTime = ({ event }: { event: FleetEvent }) => {
  const late = secondsLate(event)
  if (late < lateFromSeconds) return <Time value={event.creationTime} />
  return (
    <>
      <Icon name="clock" />
      <span title={strings.receivedLate({ age: durationText(late) })}>
        <Time value={event.creationTime} />
      </span>
    </>
  )
}

const What = ({ event }: { event: FleetEvent }) => (
  <>
    {event.peripheralIcon === '-1' ? null : <Icon name={kindIcon(event.peripheralIcon)} />}
    <span>{event.description}</span>
  </>
)

export const eventsTable = listTable<FleetEvent>(eventList, {
  time: (event) => <EventTime event={event} />,
  severity: (event) => <SeverityTag severity={eventSeverity(event.severity)} word={event.severityString} />,
  what: (event) => <What event={event} />,
})
