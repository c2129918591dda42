import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import type { EventsContext } from './context.ts'
import { createEventsRead } from './events.read.ts'
import { registerEventsRoutes } from './events.routes.ts'
import { createEventsService } from './events.service.ts'
import { createHistogramRead } from './histogram.read.ts'

export { type EventChoice, eventsSpec as eventsList, type FollowedEvent } from './events.read.ts'
export { deviceDetails, type EventOrigin, eventOrigin, type NewEvent, type OtherEventKind } from './new-event.ts'
export type EventsApi = ReturnType<typeof eventsFeature>

export const eventsFeature = (app: HttpApp, context: EventsContext) => {
  const read = createEventsRead(context)
  registerEventsRoutes(app, read, createHistogramRead(context.db, context.clock.now))
  return { ...createEventsService(context), ...read }
}
