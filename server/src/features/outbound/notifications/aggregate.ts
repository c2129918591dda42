import type { NoticeEntity, NoticeKind } from '@portcullis/contract'
import { cleanText } from '@portcullis/domain'
import { deviceOf, namesOf } from '#features/outbound/deliveries/index.ts'
import type { FollowedEvent } from '#features/system/events/index.ts'
import { kindOfCode, kindTexts } from './groups.ts'

/** Newest events kept per alert. */
export const eventsKept = 20
/** Tags kept per alert. */
const tagsKept = 200
/** Hosts that report new subjects of one kind within a minute; more are a flood, reported as one alert. */
const floodAfter = 10
/** New subjects of one kind that one host reports within a minute; more are a flood of this host. */
const floodOfHostAfter = 5
/** Time during which new subjects belong to a flood that began. */
export const floodMs = 10 * 60_000
/** Interval at which a lasting flood is reported again. */
export const floodAgainMs = 3_600_000
/** Quiet time after which an alert is news again, even if it was not dismissed. */
export const newsAgainMs = 24 * 3_600_000

/** A run of events about one subject. */
export interface Aggregated {
  kind: NoticeKind
  subject: string
  title: string
  description: string
  severity: number
  entityType: NoticeEntity
  entityId: string
  link: string
  /** UUID of the host of the first event, or the name of what has no UUID. */
  agent: string
  /** Tags of the affected hosts. */
  tags: Set<string>
  firstAt: Date
  lastAt: Date
  count: number
  /** Newest first. */
  events: number[]
}

/** Kinds whose subject is the host, because a person must go there; else it is the model, which may be on thousands. */
const byHost: ReadonlySet<NoticeKind> = new Set(['attackTool', 'driverMismatch', 'keyClone', 'agentSilent'])

const tagsOf = (event: FollowedEvent): string[] => event.hashtags.split(',').filter((tag) => tag !== '')

/** Console pages for alerts about accounts. */
const accountLinks: Readonly<Partial<Record<NoticeKind, string>>> = {
  tokenExpiring: '/settings/tokens',
  accountSuspended: '/settings/accounts',
  accountDisabled: '/settings/accounts',
}

/** Returns the link to the list of events, filtered by their description. */
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

/** Returns the subject of an event, under which repetitions are aggregated. */
const subjectOf = (
  event: FollowedEvent,
  kind: NoticeKind,
): Omit<Aggregated, 'agent' | 'tags' | 'firstAt' | 'lastAt' | 'count' | 'events'> => {
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

const keyOf = ({ kind, subject }: Pick<Aggregated, 'kind' | 'subject'>): string => `${kind} ${subject}`

/** Merges two runs about the same subject, in their order. Changes `known.tags`. */
const join = (known: Aggregated, more: Aggregated): Aggregated => {
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

/** Aggregates events by subject, in their order. Events that make no alert are left out. */
export const aggregate = (events: readonly FollowedEvent[]): Map<string, Aggregated> => {
  const aggregated = new Map<string, Aggregated>()
  for (const event of events) {
    const kind = kindOfCode.get(event.code)
    if (kind === undefined) continue
    const one: Aggregated = {
      ...subjectOf(event, kind),
      agent: event.agent_id ?? event.entity,
      tags: new Set(tagsOf(event)),
      firstAt: event.created_at,
      lastAt: event.created_at,
      count: 1,
      events: [event.event_id],
    }
    const known = aggregated.get(keyOf(one))
    aggregated.set(keyOf(one), known === undefined ? one : join(known, one))
  }
  return aggregated
}

/** Subject of the alert about a flood of a kind; with a host appended, about the flood of one host. */
export const floodSubject = 'many'

/** Merges many subjects of one kind; `of` is the host if all are from one. */
const floodOf = (kind: NoticeKind, parts: readonly Aggregated[], of: Aggregated | null): Aggregated => {
  const what = kindTexts[kind].name
  const host = of === null ? '' : hostOf(of)
  const [first, ...rest] = parts.map(
    (part): Aggregated => ({
      ...part,
      subject: of === null ? floodSubject : `${floodSubject} ${of.agent}`,
      title: of === null ? `${what}: many at once` : `${what}: many on ${host}`,
      description: `Latest: ${part.title}. There were too many for single alerts. The list of events has each of them.`,
      entityType: of === null ? 'Many' : 'Agent',
      entityId: of === null || !isId(of.agent) ? '' : of.agent,
      link: of === null || !isId(of.agent) ? eventsLink(kind) : `/agents/${of.agent}`,
    }),
  )
  return rest.reduce(join, first as Aggregated)
}

const isId = (agent: string): boolean => /^[0-9a-f-]{36}$/.test(agent)
/** Returns the host from a description, as `subjectOf` wrote it. */
const hostOf = ({ description }: Aggregated): string => description.split(': ')[0] ?? ''

/** The state before a run: open alerts, and recent activity of kinds and hosts. */
export interface Before {
  /** Returns whether a subject has an open alert that takes more events without being news. */
  isOpen(one: Aggregated): boolean
  /** Returns the hosts that caused alerts of a kind within the last minute. */
  recentHosts(kind: NoticeKind): ReadonlySet<string>
  /** Returns the number of alerts of a kind that a host caused within the last minute. */
  recentOf(kind: NoticeKind, agent: string): number
  /** Returns whether a flood of this kind, or of this kind on a host, began within the last ten minutes. */
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
 * Merges new subjects when there are too many for single alerts: first those of one host, so that a host floods only
 * itself, then those of a kind on many hosts.
 */
export const tameFloods = (aggregated: ReadonlyMap<string, Aggregated>, before: Before): Aggregated[] => {
  const kept: Aggregated[] = []
  const fresh: Aggregated[] = []
  for (const one of aggregated.values()) (before.isOpen(one) ? kept : fresh).push(one)
  for (const [kind, parts] of grouped(fresh, (one) => one.kind)) {
    const tamed: Aggregated[] = []
    for (const [agent, own] of grouped(parts, (one) => one.agent)) {
      const isFlood = before.isFlooding(kind, agent) || before.recentOf(kind, agent) + own.length > floodOfHostAfter
      if (isFlood) tamed.push(floodOf(kind, own, own[0] ?? null))
      else tamed.push(...own)
    }
    const hosts = new Set([...before.recentHosts(kind), ...tamed.map((one) => one.agent)])
    if (before.isFlooding(kind, null) || hosts.size > floodAfter) kept.push(floodOf(kind, tamed, null))
    else kept.push(...tamed)
  }
  // Events of a known flood of one host join its alert.
  const whole = new Map<string, Aggregated>()
  for (const one of kept) {
    const known = whole.get(keyOf(one))
    whole.set(keyOf(one), known === undefined ? one : join(known, one))
  }
  return [...whole.values()]
}
