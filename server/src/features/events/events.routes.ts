import { getEvents, getEventsIntegration } from '@portcullis/contract'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { EventsRead } from './events.read.ts'

export const registerEventsRoutes = (app: HttpApp, read: EventsRead): void => {
  app.register(getEvents, ({ query }) => read.page(query, query.fromEventId !== undefined))
  app.register(getEventsIntegration, ({ query }) =>
    read.page(
      {
        PageSize: query.PageSize,
        minimumSeverity: query.MinimumSeverity,
        fromDate: query.FromDate,
        toDate: query.ToDate,
        fromEventId: query.FromEventId,
      },
      query.FromEventId !== undefined || query.FromDate !== undefined,
    ),
  )
}
