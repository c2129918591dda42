import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { eventHistogram, getEvents, getEventsIntegration } from '#features/contract.ts'
import type { EventsRead } from './events.read.ts'
import type { HistogramRead } from './histogram.read.ts'

/** `date_asc` is not a column: clients that poll with it start next at the eventID of row 0 plus one. */
const isPollOrder = (sortBy: string | undefined): boolean => /^date(_asc)?$/i.test(sortBy?.trim() ?? '')

export const registerEventsRoutes = (app: HttpApp, read: EventsRead, histogram: HistogramRead): void => {
  app.register(eventHistogram, ({ query }) => histogram(query))
  app.register(getEvents, ({ query }) =>
    query.fromEventId === undefined && !isPollOrder(query.SortBy) ? read.page(query) : read.fromStart(query),
  )
  app.register(getEventsIntegration, ({ query }) => {
    const named = {
      PageSize: query.PageSize,
      minimumSeverity: query.MinimumSeverity,
      fromDate: query.FromDate,
      toDate: query.ToDate,
      fromEventId: query.FromEventId,
    }
    return query.FromEventId === undefined && query.FromDate === undefined ? read.page(named) : read.fromStart(named)
  })
}
