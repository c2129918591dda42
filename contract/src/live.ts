import { Type } from 'typebox'
import { apiPrefix, operation } from './operation.ts'

/** What else changes while somebody looks: each is only a hint to read again. */
export const liveHints = ['notices', 'deliveries', 'health', 'assets', 'reports'] as const
export type LiveHint = (typeof liveHints)[number]

/** What the live stream tells the console: which rows changed, never their content. */
export interface LiveEvents {
  /** uuids of agents whose row changed; null means many. */
  agents: { changed: string[] | null }
  /** uuids of agents whose peripherals changed; null means many. */
  peripherals: { changed: string[] | null }
  /** Events were stored. */
  events: Record<string, never>
  /** Counts may have changed. */
  summary: Record<string, never>
  notices: Record<string, never>
  deliveries: Record<string, never>
  health: Record<string, never>
  assets: Record<string, never>
  reports: Record<string, never>
  /** Every 15 seconds, so that a dead connection shows. */
  ping: Record<string, never>
}

export const live = operation({
  id: 'live',
  method: 'GET',
  path: `${apiPrefix}/live`,
  tag: 'Live',
  summary: 'Server-sent events that tell the console what changed',
  description:
    'Events: agents, peripherals, events, summary, notices, deliveries, health, assets, reports, ping; at most four of each per second. One account has at most 20 streams per server; one more is refused with 429.',
  permission: 'fleet:read',
  errors: ['too_many_requests'],
  response: Type.String(),
  responseKind: 'stream',
})
