import { closed, listQuery, nullable, operation, utcTime } from '@portcullis/platform/contract/operation.ts'
import { type Static, Type } from 'typebox'
import { eventFilters } from './events.ts'

/** Maximum number of parts of a range. */
export const mostBars = 60
/** Maximum number of events that one request reads, newest first. */
export const histogramReads = 100_000

const { fromEventId: _fromEventId, ...filters } = eventFilters

export const eventHistogram = operation({
  id: 'eventHistogram',
  method: 'GET',
  path: '/prime/webui/events/histogram',
  tag: 'Events',
  summary: 'Counts events by the time of receipt',
  description: `Takes the filters of the list of events. Without \`fromDate\` and \`occurredFrom\`, the range begins 24 hours before its end. A range of more than 24 hours begins at the oldest stored event at the earliest. The server divides it into at most ${mostBars} equal parts that begin at full minutes, hours or days (UTC).`,
  permission: 'fleet:read',
  query: closed({ ...filters, globalSearch: listQuery.GlobalSearch, query: listQuery.Query }),
  response: closed({
    stepSeconds: Type.Integer({ minimum: 60, description: 'Length of each part, in seconds.' }),
    end: utcTime('End of the last part.'),
    isExact: Type.Boolean({
      description:
        'False: the counts are approximate. Without filters, the server counts large ranges by event IDs. Events that were stored within the same second can count for the neighbouring part.',
    }),
    data: Type.Array(
      closed({
        start: utcTime('Start of the part. It ends where the next one starts.'),
        count: nullable(Type.Integer({ minimum: 0, description: 'Number of events.' }), {
          description: `Null: not counted, because the server reads only the newest ${histogramReads.toLocaleString('en')} events of a range with filters.`,
        }),
      }),
      {
        maxItems: mostBars,
        description: 'Oldest first. Empty if no events are stored, or the range ends before it begins.',
      },
    ),
  }),
  examples: {
    response: {
      stepSeconds: 1_800,
      end: '2031-05-04T11:00:00.000Z',
      isExact: true,
      data: [
        { start: '2031-05-04T10:00:00.000Z', count: 14 },
        { start: '2031-05-04T10:30:00.000Z', count: 3 },
      ],
    },
  },
})
export type EventHistogram = Static<typeof eventHistogram.response>
