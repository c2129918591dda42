import { invalid, notFound } from '@portcullis/platform/server/app-error.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { isId } from '@portcullis/platform/server/ids.ts'
import { requireTime } from '@portcullis/platform/server/time.ts'
import {
  auditActions,
  eventCatalogue,
  getHostTimeline,
  type QueryOf,
  type ResponseOf,
  readableEvent,
  type TimelineEntry,
  type TimelineLane,
  timelineLimit,
} from '#features/contract.ts'
import type { HostsContext } from '../context.ts'
import {
  createTimelineRead,
  type TimelineAlert,
  type TimelineAudit,
  type TimelineCommand,
  type TimelineEvent,
} from './timeline.read.ts'

const dayMs = 24 * 3_600_000
const notice = 5
const informational = 6

type EventName = keyof typeof eventCatalogue
/** The lanes of events. Events without an entry are about the host. */
const laneOf: Readonly<Partial<Record<EventName, TimelineLane>>> = {
  attached: 'attachment',
  attachedAgain: 'attachment',
  moved: 'attachment',
  gone: 'attachment',
  changesDropped: 'attachment',
  inventory: 'attachment',
  blocked: 'decision',
  attackTool: 'finding',
  vulnerable: 'finding',
  uncommon: 'finding',
  findingClosed: 'finding',
  findingReopened: 'finding',
  violation: 'finding',
  driverMismatch: 'finding',
  unknownDriver: 'finding',
  armed: 'mode',
  freed: 'mode',
  reverted: 'mode',
}
const laneByCode = new Map(
  Object.entries(eventCatalogue).map(
    ([name, { code }]) => [Number(code), laneOf[name as EventName] ?? 'host'] as const,
  ),
)
/** The command itself states its failure. */
const statedElsewhere = [Number(eventCatalogue.commandFailed.code)]

const entry = (
  lane: TimelineLane,
  id: string | number,
  at: Date,
  rest: Pick<TimelineEntry, 'title'> & Partial<TimelineEntry>,
): TimelineEntry => ({
  lane,
  at: at.toISOString(),
  uncertaintyMs: null,
  details: '',
  severity: informational,
  by: '',
  deviceID: null,
  id: String(id),
  ...rest,
})

const ofEvent = (event: TimelineEvent): TimelineEntry =>
  entry(laneByCode.get(event.code) ?? 'host', event.event_id, event.at, {
    uncertaintyMs: event.uncertainty,
    title: event.description,
    details: readableEvent(event.details),
    severity: event.severity,
    deviceID: event.device_id,
  })

const endings: Readonly<Record<string, string>> = {
  confirmed: 'Confirmed',
  failed: 'Failed',
  expired: 'Expired',
  cancelled: 'Cancelled',
}

const ofCommand = ({ command_id: id, title, state, ...command }: TimelineCommand): TimelineEntry[] => [
  entry('command', id, command.created_at, { title, details: 'Queued', by: command.created_by }),
  ...(command.ended_at === null
    ? []
    : [
        entry('command', id, command.ended_at, {
          title,
          details: [endings[state], command.message].filter(Boolean).join(': '),
          severity: state === 'failed' || state === 'expired' ? 4 : informational,
        }),
      ]),
]

const ofAlert = ({ notice_id: id, title, description, severity, ...alert }: TimelineAlert): TimelineEntry[] => [
  entry('alert', id, alert.since, { title, details: readableEvent(description), severity }),
  ...(alert.dismissed_at === null
    ? []
    : [
        entry('alert', id, alert.dismissed_at, {
          title: `Closed: ${title}`,
          severity: notice,
          by: alert.dismissed_by,
        }),
      ]),
]

const ofAudit = ({ audit_id: id, action, created_at: at, actor: by, ...record }: TimelineAudit): TimelineEntry =>
  entry('audit', id, at, {
    title: action in auditActions ? auditActions[action as keyof typeof auditActions].name : action,
    details: record.details,
    severity: record.severity,
    by,
  })

/** Reads the range of a query; `to` covers the whole unit that it names. */
const rangeOf = (query: QueryOf<typeof getHostTimeline>, now: number): { from: Date; to: Date } => {
  const to = query.to === undefined ? new Date(now + 1) : requireTime('query.to', query.to).to
  const from = query.from === undefined ? new Date(to.getTime() - dayMs) : requireTime('query.from', query.from).from
  if (from >= to) throw invalid('query.to', 'must be later than `from`')
  return { from, to }
}

/**
 * Returns the end of the range for the entries before these. If all have one time, a host reported more changes of a moment
 * than a response has, and repeating that moment would never reach earlier ones.
 */
const earlierThan = (entries: readonly TimelineEntry[], from: string): string | null => {
  const [newest, oldest] = [entries[0]?.at, entries.at(-1)?.at]
  if (oldest === undefined || oldest !== newest) return oldest ?? null
  const before = new Date(Date.parse(oldest) - 1).toISOString()
  return before < from ? null : before
}

/** Serves the history of one host. */
export const timelineFeature = (app: HttpApp, { db, clock }: HostsContext): void => {
  const read = createTimelineRead(db)

  async function timeline(
    actor: Actor,
    agentId: string,
    query: QueryOf<typeof getHostTimeline>,
  ): Promise<ResponseOf<typeof getHostTimeline>> {
    const { from, to } = rangeOf(query, clock.now())
    if (!isId(agentId) || !(await read.exists(agentId))) throw notFound('No agent has this uuid.')
    const range = { agentId, from, to, limit: timelineLimit + 1 }
    const mayReadAudit = actor.permissions.has('audit:read')
    const mayReadAlerts = actor.permissions.has('notices:read')
    const [events, commands, alerts, audit] = await Promise.all([
      read.events(range, statedElsewhere),
      read.commands(range),
      mayReadAlerts ? read.alerts(range) : [],
      mayReadAudit ? read.audit(range) : [],
    ])
    const [first, last] = [from.toISOString(), to.toISOString()]
    const found = [
      ...events.map(ofEvent),
      ...commands.flatMap(ofCommand),
      ...alerts.flatMap(ofAlert),
      ...audit.map(ofAudit),
    ]
      .filter(({ at }) => at >= first && at < last)
      .sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0))
    const entries = found.slice(0, timelineLimit)
    return {
      from: first,
      to: last,
      entries,
      earlierFrom: found.length > timelineLimit ? earlierThan(entries, first) : null,
      hiddenLanes: [...(mayReadAlerts ? [] : (['alert'] as const)), ...(mayReadAudit ? [] : (['audit'] as const))],
    }
  }

  app.register(getHostTimeline, ({ actor, params, query }) => timeline(actor, params.agentId, query))
}
