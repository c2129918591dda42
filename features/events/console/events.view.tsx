import { eventCategories, type FleetEvent, icons, readableEvent, severityNames } from '@portcullis/contract'
import { durationText, parseTime } from '@portcullis/platform/console/lib/time.ts'
import type { ViewSpec } from '@portcullis/platform/console/lib/view-state.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import type { Filter } from '@portcullis/platform/console/ui/filters/filter.ts'
import { eventSeverity } from '@portcullis/platform/console/ui/findings.ts'
import { Icon, kindIcon } from '@portcullis/platform/console/ui/icons.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { TagList } from '@portcullis/platform/console/ui/TagList.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import type { Column } from '@portcullis/platform/console/ui/table/column.ts'
import { strings } from './strings.ts'

/** Filters of the event list, by their API names. */
export const eventFilters = [
  {
    name: 'minimumSeverity',
    label: strings.minimumSeverity,
    kind: 'choice',
    single: true,
    options: severityNames.map((name) => ({ value: name, label: name })),
  },
  {
    name: 'category',
    label: strings.category,
    kind: 'choice',
    options: eventCategories.map((name) => ({ value: name, label: name })),
  },
  { name: 'fromDate', label: strings.from, kind: 'instant' },
  { name: 'toDate', label: strings.until, kind: 'instant' },
  { name: 'occurredFrom', label: strings.happenedFrom, kind: 'instant' },
  { name: 'occurredTo', label: strings.happenedUntil, kind: 'instant' },
  { name: 'source', label: strings.host, kind: 'text' },
  {
    name: 'peripheralIcon',
    label: strings.kind,
    kind: 'choice',
    options: Object.entries(icons)
      .filter(([number]) => number !== '0')
      .map(([value, label]) => ({ value, label })),
  },
] as const satisfies readonly Filter[]

export const eventsView: ViewSpec = {
  filters: eventFilters.map(({ name }) => name),
  defaultSort: 'eventID_desc',
  defaultColumns: ['time', 'severity', 'what', 'host', 'details'],
}

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

export const eventColumns: readonly Column<FleetEvent>[] = [
  {
    id: 'time',
    title: strings.received,
    width: 132,
    exportKeys: ['creationTime'],
    sortKey: 'eventID',
    naturalSort: 'desc',
    align: 'right',
    cell: (event) => <EventTime event={event} />,
  },
  {
    id: 'happened',
    title: strings.happened,
    width: 212,
    exportKeys: ['occurredAt'],
    sortKey: 'occurredAt',
    naturalSort: 'desc',
    cell: (event) => <Time value={event.occurredAt} form="local" />,
  },
  {
    id: 'severity',
    title: strings.severity,
    width: 118,
    exportKeys: ['severityString'],
    sortKey: 'severity',
    cell: (event) => <SeverityTag severity={eventSeverity(event.severity)} word={event.severityString} />,
  },
  { id: 'what', title: strings.event, width: 280, sortKey: 'description', cell: (event) => <What event={event} /> },
  {
    id: 'host',
    title: strings.host,
    width: 204,
    sortKey: 'eventEntityID',
    cell: (event) => <DeviceText value={event.eventEntityID} />,
  },
  {
    id: 'details',
    title: strings.details,
    width: 360,
    grow: true,
    sortKey: 'details',
    cell: (event) => <DeviceText value={readableEvent(event.details)} />,
  },
  {
    id: 'category',
    title: strings.category,
    width: 90,
    sortKey: 'category',
    cell: (event) => <span>{event.category}</span>,
  },
  { id: 'code', title: strings.code, width: 90, sortKey: 'eventCode', cell: (event) => <code>{event.eventCode}</code> },
  {
    id: 'tags',
    title: strings.tags,
    width: 140,
    sortKey: 'hashtags',
    cell: (event) => <TagList oneLine tags={event.hashtags} />,
  },
  {
    id: 'exact',
    title: strings.dateAndTime,
    width: 212,
    sortKey: 'creationTime',
    naturalSort: 'desc',
    cell: (event) => <Time value={event.creationTime} form="local" />,
  },
  {
    id: 'id',
    title: strings.id,
    width: 90,
    align: 'right',
    sortKey: 'eventID',
    naturalSort: 'desc',
    cell: (event) => <span>{event.eventID}</span>,
  },
]
