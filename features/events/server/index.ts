import type { Db } from '@portcullis/platform/server/db/db.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createEventsRead, type EventsRead } from './events.read.ts'
import { registerEventsRoutes } from './events.routes.ts'
import { createEventsService, type EventsService, type EventsServiceDeps } from './events.service.ts'

export { type EventChoice, eventsSpec as eventsList, type FollowedEvent } from './events.read.ts'
export { deviceDetails, type EventOrigin, eventOrigin, type NewEvent, type OtherEventKind } from './new-event.ts'
export type EventsApi = Pick<EventsService, 'append' | 'forget' | 'summarise'> &
  Pick<EventsRead, 'recentOf' | 'head' | 'follow' | 'some'>

/** `exportDb` is the pool of long reads, from which large pages are streamed. */
export const eventsFeature = (app: HttpApp, { exportDb, ...deps }: EventsServiceDeps & { exportDb: Db }): EventsApi => {
  const read = createEventsRead({ db: deps.db, exportDb, clock: deps.clock })
  const service = createEventsService(deps)
  registerEventsRoutes(app, read)
  return {
    append: service.append,
    forget: service.forget,
    summarise: service.summarise,
    recentOf: read.recentOf,
    head: read.head,
    follow: read.follow,
    some: read.some,
  }
}
