import { Type } from 'typebox'
import { apiPrefix, operation } from './operation.ts'

/** Events without content: each makes the console reload a view. */
export const liveHints = ['notices', 'deliveries', 'health', 'assets', 'reports', 'backups'] as const
export type LiveHint = (typeof liveHints)[number]

/** The events of the live stream. They say which rows changed and never contain their content. */
export interface LiveEvents {
  /** UUIDs of hosts whose row changed. `null`: many hosts. */
  agents: { changed: string[] | null }
  /** UUIDs of hosts whose devices changed. `null`: many hosts. */
  peripherals: { changed: string[] | null }
  /** New events were stored. */
  events: Record<string, never>
  /** Counts may have changed. */
  summary: Record<string, never>
  notices: Record<string, never>
  deliveries: Record<string, never>
  health: Record<string, never>
  assets: Record<string, never>
  reports: Record<string, never>
  backups: Record<string, never>
  /** Sent every 15 seconds, so that clients detect a dead connection. */
  ping: Record<string, never>
}

export const live = operation({
  id: 'live',
  method: 'GET',
  path: `${apiPrefix}/live`,
  tag: 'Live',
  summary: 'Streams changes as server-sent events',
  description:
    'Events are agents (hosts), peripherals (devices), events, summary, notices (alerts), deliveries, health, assets, reports, backups and ping. They say what changed, without content. Each is sent at most four times per second. An account can have 20 streams per server; further ones get 429.',
  permission: 'fleet:read',
  errors: ['too_many_requests'],
  response: Type.String(),
  responseKind: 'stream',
})
