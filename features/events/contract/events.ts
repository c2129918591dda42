import {
  endFilter,
  enumFilter,
  minimumSeverityFilter,
  numberFilter,
  textFilter,
} from '@portcullis/platform/contract/filters.ts'
import {
  closed,
  ignoredPageNumber,
  listQuery,
  operation,
  page,
  zonelessTime,
} from '@portcullis/platform/contract/operation.ts'
import { severityNames } from '@portcullis/platform/contract/severities.ts'
import { type Static, Type } from 'typebox'
import { icons } from '#features/devices/contract/peripherals.ts'
import { eventCategories } from './event-definition.ts'

/** An event. Existing members never change. */
export const FleetEvent = closed({
  eventID: Type.Integer({
    'x-label': 'Event',
    description: 'Number of the event. Increases without gaps, and events become visible in this order.',
  }),
  category: Type.Enum(eventCategories),
  creationTime: zonelessTime('Time at which the server stored the event.', { 'x-label': 'Time' }),
  occurredAt: zonelessTime(
    'Time of the event on the host, by the clock of the server. Equals `creationTime` if the host did not report the time.',
    { 'x-label': 'Happened' },
  ),
  occurredUncertaintyMs: Type.Union([Type.Null(), Type.Integer({ minimum: 0 })], {
    'x-label': 'Uncertainty (ms)',
    'x-form': 'number',
    description:
      'Uncertainty of `occurredAt` in either direction, in milliseconds. Null if `occurredAt` is the time of receipt.',
  }),
  eventCode: Type.String({ 'x-label': 'Code', pattern: '^0x[0-9A-Fa-f]{6}$' }),
  severity: Type.Integer({
    'x-label': 'Severity (number)',
    description: 'Syslog severity, 0 (Emergency) to 7 (Debug).',
  }),
  severityString: Type.String({ 'x-label': 'Severity' }),
  eventEntityID: Type.String({ 'x-label': 'About', description: '`HOST (IP)`.' }),
  description: Type.String(),
  hashtags: Type.String({
    'x-label': 'Tags',
    'x-form': 'tags',
    description: 'Tags of the host at the time of the event, separated by commas.',
  }),
  peripheralIcon: Type.String({
    'x-label': 'Kind (number)',
    'x-form': 'number',
    description: 'Icon number as text. `-1` if the event is not about a device.',
  }),
  details: Type.String({ 'x-form': 'eventText', description: 'Details as text. Never `null`.' }),
})
export type FleetEvent = Static<typeof FleetEvent>

const start = {
  FromDate: Type.Optional(Type.String({ maxLength: 64, description: 'Start time, inclusive.' })),
  ToDate: Type.Optional(Type.String({ maxLength: 64, description: 'End time, inclusive.' })),
  FromEventId: Type.Optional(
    Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'First event, inclusive.' }),
  ),
}

export const eventFilters = {
  category: enumFilter('category', eventCategories),
  minimumSeverity: minimumSeverityFilter(severityNames),
  fromDate: endFilter('Start time, inclusive.', 'From', { until: 'toDate', label: 'Received' }),
  toDate: endFilter('End time, inclusive.', 'Until'),
  occurredFrom: endFilter(
    'Start of `occurredAt`, inclusive. `fromDate` compares the time of receipt.',
    'Happened from',
    { until: 'occurredTo', label: 'Happened' },
  ),
  occurredTo: endFilter('End of `occurredAt`, inclusive. `toDate` compares the time of receipt.', 'Happened until'),
  fromEventId: start.FromEventId,
  source: textFilter('eventEntityID', { label: 'Host' }),
  peripheralIcon: numberFilter('peripheralIcon', {
    label: 'Device kind',
    values: Object.keys(icons).filter((icon) => icon !== '0'),
    labels: icons,
  }),
}

export const getEvents = operation({
  id: 'getEvents',
  method: 'GET',
  path: '/prime/webui/events/getevents',
  tag: 'Events',
  summary: 'Lists events, newest first',
  description:
    'With `fromEventId` or `SortBy=date_asc`, returns the oldest `PageSize` matching rows, sorted newest first, for clients that poll: use the `eventID` of the first row plus one as the next start. `fromEventId` overrides `SortBy`. `creationTime_asc` and `eventID_asc` sort in ascending order.',
  permission: 'fleet:read',
  query: closed({
    ...eventFilters,
    PageNumber: listQuery.PageNumber,
    PageSize: listQuery.PageSize,
    SortBy: listQuery.SortBy,
    globalSearch: listQuery.GlobalSearch,
    query: listQuery.Query,
  }),
  response: page(FleetEvent),
  responseKind: 'list',
})

export const getEventsIntegration = operation({
  id: 'getEventsIntegration',
  method: 'GET',
  path: '/prime/webui/events/GetEventsIntegration',
  tag: 'Events',
  summary: 'Lists events for SIEM connectors',
  description:
    'Without a start, returns the newest rows. With `FromEventId` or `FromDate`, returns the oldest `PageSize` rows from there, sorted newest first. To continue, use the `eventID` of the first row plus one as the next start.',
  permission: 'fleet:read',
  query: closed({
    PageSize: listQuery.PageSize,
    PageNumber: ignoredPageNumber,
    MinimumSeverity: Type.Optional(
      Type.String({ maxLength: 20, description: 'Lowest severity to return, as a name or number.' }),
    ),
    ...start,
  }),
  response: page(FleetEvent),
  responseKind: 'list',
})
