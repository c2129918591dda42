import type { NoticeEntity, NoticeKind } from '@portcullis/contract'
import { cleanText } from '@portcullis/domain'
import { deviceOf, namesOf } from '#features/deliveries/index.ts'
import type { FollowedEvent } from '#features/events/index.ts'
import { kindOfCode, kindTexts } from './groups.ts'

/** Newest events that a notice remembers. */
export const eventsKept = 20
/** New subjects of one kind within a minute; more than that is a flood, told as one notice. */
const floodAfter = 10
/** A flood goes on while it is fed at least this often. */
export const floodMs = 10 * 60_000
/** One that was quiet for so long is news again, though nobody dismissed it. */
export const newsAgainMs = 24 * 3_600_000

/** What a run of events says of one subject. */
export interface Folded {
  kind: NoticeKind
  subject: string
  title: string
  description: string
  severity: number
  entityType: NoticeEntity
  entityId: string
  link: string
  /** Tags of the hosts it happened on. */
  tags: ReadonlySet<string>
  firstAt: Date
  lastAt: Date
  count: number
  /** Newest first. */
  events: number[]
}

/** A host on its own is the subject where a person has to go there; else the model, which may be on thousands. */
const byHost: ReadonlySet<NoticeKind> = new Set(['attackTool', 'keyClone', 'agentSilent'])

const tagsOf = (event: FollowedEvent): string[] => event.hashtags.split(',').filter((tag) => tag !== '')

/** Why, in the words of the list of events. */
const eventsLink = (kind: NoticeKind): string => `/events?globalSearch=${encodeURIComponent(descriptionOf[kind])}`
const descriptionOf: Readonly<Record<NoticeKind, string>> = {
  attackTool: 'Known attack tool',
  vulnerable: 'Vulnerable USB peripheral',
  uncommon: 'Uncommon USB peripheral',
  whitelistViolation: 'covered by no allow rule',
  blocked: 'USB peripheral blocked',
  keyClone: 'Agent key used from two places',
  agentSilent: 'Agent silent',
}

/** What an event is about: the subject that repeats are folded into. */
const subjectOf = (
  event: FollowedEvent,
  kind: NoticeKind,
): Omit<Folded, 'tags' | 'firstAt' | 'lastAt' | 'count' | 'events'> => {
  const { vid, pid } = deviceOf(event.details)
  const model = vid === '' ? '' : `${vid}:${pid}`
  const host = cleanText(event.entity, 200)
  const names = cleanText(namesOf(event.details), 120)
  const device = names === '' ? model : `${names} (${model})`
  const what = kindTexts[kind].name
  const shared = { kind, severity: event.severity, description: cleanText(`${event.entity}: ${event.details}`, 600) }
  if (byHost.has(kind) || model === '') {
    const agent = event.agent_id ?? ''
    return {
      ...shared,
      subject: `${agent === '' ? host : agent} ${kind === 'attackTool' ? model : ''}`.trim(),
      title: kind === 'attackTool' ? `${what} ${device} on ${host}` : `${what}: ${host}`,
      entityType: 'Agent',
      entityId: agent,
      link: agent === '' ? eventsLink(kind) : `/agents/${agent}`,
    }
  }
  return {
    ...shared,
    subject: model,
    title: `${what}: ${device}`,
    entityType: 'Model',
    entityId: model,
    link: `/peripherals?vid=${vid}&pid=${pid}`,
  }
}

const keyOf = ({ kind, subject }: Pick<Folded, 'kind' | 'subject'>): string => `${kind} ${subject}`

/** Adds what `more` says to what is known of the same subject; both in the order they happened. */
const join = (known: Folded, more: Folded): Folded => ({
  ...more,
  severity: Math.min(known.severity, more.severity),
  tags: new Set([...known.tags, ...more.tags]),
  firstAt: known.firstAt,
  count: known.count + more.count,
  events: [...more.events, ...known.events].slice(0, eventsKept),
})

/** Folds a run of events, in their order, by subject. Those that make no notice are left out. */
export const fold = (events: readonly FollowedEvent[]): Map<string, Folded> => {
  const folded = new Map<string, Folded>()
  for (const event of events) {
    const kind = kindOfCode.get(event.code)
    if (kind === undefined) continue
    const one: Folded = {
      ...subjectOf(event, kind),
      tags: new Set(tagsOf(event)),
      firstAt: event.created_at,
      lastAt: event.created_at,
      count: 1,
      events: [event.event_id],
    }
    const known = folded.get(keyOf(one))
    folded.set(keyOf(one), known === undefined ? one : join(known, one))
  }
  return folded
}

/** Subject of the notice that a flood of a kind is told by. */
export const floodSubject = 'many'

/** Many subjects of one kind as one. */
const floodOf = (kind: NoticeKind, parts: readonly Folded[]): Folded => {
  const [first, ...rest] = parts.map(
    (part): Folded => ({
      ...part,
      subject: floodSubject,
      title: `${kindTexts[kind].name}: many at once`,
      description: `Last: ${part.title}. So many came at once that they are told as one; the events have each.`,
      entityType: 'Many',
      entityId: '',
      link: eventsLink(kind),
    }),
  )
  return rest.reduce(join, first as Folded)
}

/** What is known before a run: which subjects have an open notice, and how busy each kind is. */
export interface Before {
  /** Keys of subjects that have a notice that is not dismissed. */
  isOpen(kind: NoticeKind, subject: string): boolean
  /** Notices of a kind that came up within the last minute. */
  recent(kind: NoticeKind): number
  /** A flood of this kind is going on. */
  isFlooding(kind: NoticeKind): boolean
}

/** Where a kind brings more new subjects than people can look at one by one, the new ones become one. */
export const tameFloods = (folded: ReadonlyMap<string, Folded>, before: Before): Folded[] => {
  const kept: Folded[] = []
  const fresh = new Map<NoticeKind, Folded[]>()
  for (const one of folded.values()) {
    if (before.isOpen(one.kind, one.subject)) kept.push(one)
    else fresh.set(one.kind, [...(fresh.get(one.kind) ?? []), one])
  }
  for (const [kind, parts] of fresh) {
    const isFlood = before.isFlooding(kind) || before.recent(kind) + parts.length > floodAfter
    if (isFlood) kept.push(floodOf(kind, parts))
    else kept.push(...parts)
  }
  return kept
}
