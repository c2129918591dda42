import type { Clock } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { Log } from '#platform/log.ts'
import { createEventsService, type EventsService } from './events.service.ts'

export type { NewEvent } from './events.store.ts'
export { type DeviceDetails, deviceDetails } from './events.texts.ts'
export type EventsApi = Pick<EventsService, 'append'>

export const eventsFeature = (
  _app: HttpApp,
  { db, clock, log }: { db: Db; exportDb: Db; clock: Clock; log: Log },
): EventsApi => createEventsService({ db, clock, log })
