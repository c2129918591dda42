import type { NoticeEntity, NoticeKind } from '@portcullis/contract'
import { cleanText } from '@portcullis/domain'
import { deviceOf, namesOf } from '#features/outbound/deliveries/index.ts'
import type { FollowedEvent } from '#features/system/events/index.ts'
import { kindOfCode, kindTexts } from './groups.ts'

/** Newest events that a notice remembers. */
export const eventsKept = 20
/** Tags that a notice remembers. */
const tagsKept = 200
/** Hosts that bring new subjects of one kind within a minute; more than that is a flood, told as one notice. */
const floodAfter = 10
/** New subjects of one kind that one host brings within a minute. */
const floodOfHostAfter = 5
/** So long what is new belongs to a flood that began; then it has to show again that it is one. */
export const floodMs = 10 * 60_000
/** A flood that lasts is told again so often. */
export const floodAgainMs = 3_600_000
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
  /** Host of the first event: its uuid, or the name of what has none. */
  agent: string
  /** Tags of the hosts it happened on. */
  tags: Set<string>
  firstAt: Date
  lastAt: Date
  count: number
  /** Newest first. */
  events: number[]
}

/** A host on its own is the subject where a person has to go there; else the model, which may be on thousands. */
const byHost: ReadonlySet<NoticeKind> = new Set(['attackTool', 'driverMismatch', 'keyClone', 'agentSilent'])

const tagsOf = (event: FollowedEvent): string[] => event.hashtags.split(',').filter((tag) => tag !== '')

/** Notices about accounts, and where the console shows these. */
const accountLinks: Readonly<Partial<Record<NoticeKind, string>>> = {
  tokenExpiring: '/settings/tokens',
  accountSuspended: '/settings/accounts',
  accountDisabled: '/settings/accounts',
}

/** Why, in the words of the list of events. */
const eventsLink = (kind: NoticeKind): string => `/events?globalSearch=${encodeURIComponent(descriptionOf[kind])}`
const descriptionOf: Readonly<Record<NoticeKind, string>> = {
  attackTool: 'Known attack tool',
  driverMismatch: 'USB peripheral is not what it claims to be',
  vulnerable: 'Vulnerable USB peripheral',
  uncommon: 'Uncommon USB peripheral',
  whitelistViolation: 'covered by no allow rule',
  blocked: 'USB peripheral blocked',
  keyClone: 'Agent key used from two places',
  agentSilent: 'Agent silent',
  tokenExpiring: 'API token expires soon',
  accountSuspended: 'Account suspended',
  accountDisabled: 'Account disabled, demoted or deleted',
}

/** What an event is about: the subject that repeats are folded into. */
const subjectOf = (
  event: FollowedEvent,
  kind: NoticeKind,
): Omit<Folded, 'agent' | 'tags' | 'firstAt' | 'lastAt' | 'count' | 'events'> => {
  const { vid, pid } = deviceOf(event.details)
  const model = vid === '' ? '' : `${vid}:${pid}`
  const host = cleanText(event.entity, 200)
  const names = cleanText(namesOf(event.details), 120)
  const device = names === '' ? model : `${names} (${model})`
  const what = kindTexts[kind].name
  const shared = { kind, severity: event.severity, description: cleanText(`${event.entity}: ${event.details}`, 600) }
  const accountLink = accountLinks[kind]
  if (accountLink !== undefined)
    return {
      ...shared,
      subject: host,
      title: `${what}: ${host}`,
      entityType: 'Account',
      entityId: '',
      link: accountLink,
    }
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

/** Adds what `more` says to what is known of the same subject; both in the order they happened. Changes `known.tags`. */
const join = (known: Folded, more: Folded): Folded => {
  for (const tag of more.tags) if (known.tags.size < tagsKept) known.tags.add(tag)
  return {
    ...more,
    severity: Math.min(known.severity, more.severity),
    tags: known.tags,
    agent: known.agent,
    firstAt: known.firstAt,
    count: known.count + more.count,
    events: [...more.events, ...known.events].slice(0, eventsKept),
  }
}

/** Folds a run of events, in their order, by subject. Those that make no notice are left out. */
export const fold = (events: readonly FollowedEvent[]): Map<string, Folded> => {
  const folded = new Map<string, Folded>()
  for (const event of events) {
    const kind = kindOfCode.get(event.code)
    if (kind === undefined) continue
    const one: Folded = {
      ...subjectOf(event, kind),
      agent: event.agent_id ?? event.entity,
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

/** Subject of the notice that a flood of a kind is told by; with a host behind it, the flood of one host. */
export const floodSubject = 'many'

/** Many subjects of one kind as one; `of` is the host when they are of one only. */
const floodOf = (kind: NoticeKind, parts: readonly Folded[], of: Folded | null): Folded => {
  const what = kindTexts[kind].name
  const host = of === null ? '' : hostOf(of)
  const [first, ...rest] = parts.map(
    (part): Folded => ({
      ...part,
      subject: of === null ? floodSubject : `${floodSubject} ${of.agent}`,
      title: of === null ? `${what}: many at once` : `${what}: many on ${host}`,
      description: `Last: ${part.title}. So many came at once that they are told as one; the events have each.`,
      entityType: of === null ? 'Many' : 'Agent',
      entityId: of === null || !isId(of.agent) ? '' : of.agent,
      link: of === null || !isId(of.agent) ? eventsLink(kind) : `/agents/${of.agent}`,
    }),
  )
  return rest.reduce(join, first as Folded)
}

const isId = (agent: string): boolean => /^[0-9a-f-]{36}$/.test(agent)
/** The host of a description, as `subjectOf` began it. */
const hostOf = ({ description }: Folded): string => description.split(': ')[0] ?? ''

/** What is known before a run: which subjects have an open notice, and how busy kinds and hosts are. */
export interface Before {
  /** True for a subject whose notice is not dismissed and takes more without being news. */
  isOpen(one: Folded): boolean
  /** Hosts that brought notices of a kind within the last minute. */
  recentHosts(kind: NoticeKind): ReadonlySet<string>
  /** Notices of a kind that a host brought within the last minute. */
  recentOf(kind: NoticeKind, agent: string): number
  /** A flood of this kind, or of this kind on a host, began within the last ten minutes. */
  isFlooding(kind: NoticeKind, agent: string | null): boolean
}

const grouped = <T, K>(all: readonly T[], keyOfOne: (one: T) => K): Map<K, T[]> => {
  const groups = new Map<K, T[]>()
  for (const one of all) {
    const key = keyOfOne(one)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [one])
    else group.push(one)
  }
  return groups
}

/**
 * Where more new subjects come than people can look at one by one, they become one: first those of one host, so that a host
 * can flood nobody but itself, then those of a kind, when they are of many hosts.
 */
export const tameFloods = (folded: ReadonlyMap<string, Folded>, before: Before): Folded[] => {
  const kept: Folded[] = []
  const fresh: Folded[] = []
  for (const one of folded.values()) (before.isOpen(one) ? kept : fresh).push(one)
  for (const [kind, parts] of grouped(fresh, (one) => one.kind)) {
    const tamed: Folded[] = []
    for (const [agent, own] of grouped(parts, (one) => one.agent)) {
      const isFlood = before.isFlooding(kind, agent) || before.recentOf(kind, agent) + own.length > floodOfHostAfter
      if (isFlood) tamed.push(floodOf(kind, own, own[0] as Folded))
      else tamed.push(...own)
    }
    const hosts = new Set([...before.recentHosts(kind), ...tamed.map((one) => one.agent)])
    if (before.isFlooding(kind, null) || hosts.size > floodAfter) kept.push(floodOf(kind, tamed, null))
    else kept.push(...tamed)
  }
  // A host may have been told as a flood before: what belongs together stays one.
  const whole = new Map<string, Folded>()
  for (const one of kept) {
    const known = whole.get(keyOf(one))
    whole.set(keyOf(one), known === undefined ? one : join(known, one))
  }
  return [...whole.values()]
}
