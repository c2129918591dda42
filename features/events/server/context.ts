import type { Context } from '@portcullis/platform/server/context.ts'
import type { LatestEventsPort } from './ports.ts'

export interface EventsContext extends Context {
  hosts: LatestEventsPort
}
