import type { Clock } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { Log } from '#platform/log.ts'
import { createEventsRead, type EventsRead } from './events.read.ts'
import { registerEventsRoutes } from './events.routes.ts'
import { createEventsService, type EventsService } from './events.service.ts'
import type { LatestEventsPort } from './ports.ts'

export { type EventChoice, eventsSpec as eventsList, type FollowedEvent } from './events.read.ts'
export type { NewEvent } from './events.store.ts'
export { deviceDetails } from './events.texts.ts'
export type EventsApi = Pick<EventsService, 'append' | 'forget'> &
  Pick<EventsRead, 'recentOf' | 'head' | 'follow' | 'some'>

/** `exportDb` is the pool of long reads, from which large pages are streamed. */
export const eventsFeature = (
  app: HttpApp,
  { db, exportDb, clock, log, hosts }: { db: Db; exportDb: Db; clock: Clock; log: Log; hosts: LatestEventsPort },
): EventsApi => {
  const read = createEventsRead({ db, exportDb, clock })
  const service = createEventsService({ db, clock, log, hosts })
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
