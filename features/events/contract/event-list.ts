/** The list of events. */
import { list } from '@portcullis/platform/contract/list.ts'
import { eventFilters, FleetEvent } from './events.ts'

export const eventList = list({
  title: 'Events',
  row: FleetEvent,
  filters: eventFilters,
  table: {
    defaultSort: 'eventID_desc',
    filters: ['minimumSeverity', 'category', 'fromDate', 'occurredFrom', 'source', 'peripheralIcon'],
    columns: [
      { id: 'time', of: 'creationTime', width: 132, shown: true, title: 'Received', sort: 'eventID' },
      { id: 'happened', of: 'occurredAt', width: 212, align: 'left', show: 'local' },
      { id: 'severity', of: 'severityString', width: 118, shown: true, sort: 'severity' },
      { id: 'what', of: 'description', width: 280, shown: true, title: 'Event', isTitle: true },
      { id: 'host', of: 'eventEntityID', width: 204, shown: true, title: 'Host' },
      { id: 'details', width: 360, grow: true, shown: true },
      { id: 'category', width: 90 },
      { id: 'code', of: 'eventCode', width: 90, show: 'code' },
      { id: 'tags', of: 'hashtags', width: 140 },
      {
        id: 'exact',
        of: 'creationTime',
        width: 212,
        title: 'Date and time received',
        align: 'left',
        show: 'local',
      },
      { id: 'id', of: 'eventID', width: 90, title: 'ID' },
    ],
  },
})

const { fromEventId: _fromEventId, ...fileFilters } = eventFilters

export const eventFileList = list({
  title: eventList.title,
  row: FleetEvent,
  filters: fileFilters,
  file: {
    pdf: ['creationTime', 'occurredAt', 'severityString', 'eventEntityID', 'description', 'details', 'hashtags'],
    summary: ['severityString', 'category'],
    time: 'creationTime',
    permission: 'export:read',
  },
})
