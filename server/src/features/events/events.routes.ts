import { getEvents, getEventsIntegration } from '@portcullis/contract'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { EventsRead } from './events.read.ts'

export const registerEventsRoutes = (app: HttpApp, read: EventsRead): void => {
  app.register(getEvents, ({ query }) => (query.fromEventId === undefined ? read.page(query) : read.fromStart(query)))
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
