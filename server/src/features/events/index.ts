import type { Clock } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { Log } from '#platform/log.ts'
import { createEventsRead, type EventsRead } from './events.read.ts'
import { registerEventsRoutes } from './events.routes.ts'
import { createEventsService, type EventsService } from './events.service.ts'

export { type EventChoice, eventsSpec as eventsList, type FollowedEvent } from './events.read.ts'
export type { NewEvent } from './events.store.ts'
export { deviceDetails } from './events.texts.ts'
export type EventsApi = Pick<EventsService, 'append' | 'forget'> &
  Pick<EventsRead, 'recentOf' | 'head' | 'follow' | 'some'>

/** `exportDb` is the pool of long reads: large pages are streamed from it. */
export const eventsFeature = (
  app: HttpApp,
  { db, exportDb, clock, log }: { db: Db; exportDb: Db; clock: Clock; log: Log },
): EventsApi => {
  const read = createEventsRead({ db, exportDb, clock })
  const service = createEventsService({ db, clock, log })
  registerEventsRoutes(app, read)
  return {
    append: service.append,
    forget: service.forget,
    recentOf: read.recentOf,
    head: read.head,
    follow: read.follow,
    some: read.some,
  }
}
