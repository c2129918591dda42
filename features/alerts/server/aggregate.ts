import { cleanText } from '@portcullis/domain'
import { type AlertEntity, type AlertKind, alertCatalogue, eventCatalogue } from '#features/contract.ts'
import { deviceOf, namesOf } from '#features/deliveries/server/index.ts'
import type { FollowedEvent } from '#features/events/server/index.ts'
import { kindOfCode } from './groups.ts'
import { type TitleParts, titleOf } from './titles.ts'

/** Newest events kept per alert. */
export const eventsKept = 20
/** Tags kept per alert. */
const tagsKept = 200
/**
 * `hosts`: hosts that report new subjects of a kind within a minute; more are a flood, reported as one alert. `ofHost`:
 * new subjects of a kind that one host alone reports within a minute; more are a flood of this host.
 */
const limitsOf = (kind: AlertKind): { hosts: number; ofHost: number } =>
  alertCatalogue[kind].isBroad ? { hosts: 50, ofHost: 10 } : { hosts: 10, ofHost: 5 }
/** Returns why alerts of a kind were merged into one. */
export const floodReason = (kind: AlertKind, isOfHost: boolean): string => {
  const { hosts, ofHost } = limitsOf(kind)
  const { many = 'alerts' } = alertCatalogue[kind]
  return isOfHost
    ? `One host raised more than ${ofHost} alerts about ${many} within a minute, so they were merged.`
    : `More than ${hosts} hosts raised alerts about ${many} within a minute, so they were merged.`
}
/** Hosts that join an alert within a minute, each of them news; more are news once an hour. */
export const spreadAfter = 10
/** Time during which new subjects belong to a flood that began. */
export const floodMs = 10 * 60_000
/** Interval at which a lasting flood is reported again. */
export const floodAgainMs = 3_600_000
/** Quiet time after which an alert is news again, even if it was not closed. */
export const newsAgainMs = 24 * 3_600_000

/** A run of events about one subject. */
export interface Aggregated extends TitleParts {
  subject: string
  description: string
  severity: number
  entityType: AlertEntity
  entityId: string
  link: string
  /** UUID of the host of the first event, or the name of what has no UUID. */
  agent: string
  /** Names of the affected hosts by UUID. */
  hosts: Map<string, string>
  /** Tags of the affected hosts. */
  tags: Set<string>
  firstAt: Date
  lastAt: Date
  count: number
  /** Newest first. */
  events: number[]
}

const tagsOf = (event: FollowedEvent): string[] => event.hashtags.split(',').filter((tag) => tag !== '')

/** Returns the link to the list of events, filtered by their description. */
const eventsLink = (kind: AlertKind): string =>
  `/events?globalSearch=${encodeURIComponent(eventCatalogue[alertCatalogue[kind].event].name)}`

/** Subject of the alert about a flood of a kind; with a host appended, about the flood of one host. */
export const floodSubject = 'many'

/** Returns the name of a host without its address, from the entity of an event. */
const hostNameOf = (entity: string): string => cleanText(entity.replace(/ \([^()]*\)$/, ''), 200)

type Subject = Omit<Aggregated, 'agent' | 'hosts' | 'tags' | 'firstAt' | 'lastAt' | 'count' | 'events'>

const likeFlood = new RegExp(`^=*${floodSubject}(?: |$)`)
/** Returns a name, which a person may have chosen, as a subject. It is never the subject of a flood. */
const namedSubject = (name: string): string => {
  const subject = cleanText(name, 200)
  return likeFlood.test(subject) ? `=${subject}` : subject
}

/** Returns the subject of an event, under which repetitions are aggregated. */
const subjectOf = (event: FollowedEvent, kind: AlertKind): Subject => {
  const { vid, pid } = deviceOf(event.details)
  const model = vid === '' ? '' : `${vid}:${pid}`
  const agent = event.agent_id ?? ''
  const entity = hostNameOf(event.entity)
  const shared = {
    kind,
    device: cleanText(namesOf(event.details), 120) || model,
    entity,
    isFlood: false,
    severity: event.severity,
    description: cleanText(`${event.entity}: ${event.details}`, 600),
  }
  const alert = alertCatalogue[kind]
  if (alert.subject === 'account')
    return {
      ...shared,
      subject: namedSubject(event.entity),
      entityType: 'Account',
      entityId: '',
      link: alert.page ?? '',
    }
  if (alert.subject === 'host' || model === '')
    return {
      ...shared,
      subject: agent === '' ? namedSubject(event.entity) : agent,
      entityType: 'Agent',
      entityId: agent,
      link: agent === '' ? eventsLink(kind) : `/agents/${agent}`,
    }
  return {
    ...shared,
    subject: model,
    entityType: 'Model',
    entityId: model,
    link: `/peripherals?vid=${vid}&pid=${pid}`,
  }
}

const keyOf = ({ kind, subject }: Pick<Aggregated, 'kind' | 'subject'>): string => `${kind} ${subject}`

/** Merges two runs about the same subject, in their order. Changes `known.tags` and `known.hosts`. */
const join = (known: Aggregated, more: Aggregated): Aggregated => {
  for (const tag of more.tags) if (known.tags.size < tagsKept) known.tags.add(tag)
  for (const [agent, name] of more.hosts) known.hosts.set(agent, name)
  return {
    ...more,
    severity: Math.min(known.severity, more.severity),
    hosts: known.hosts,
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
      hosts: new Map(event.agent_id === null ? [] : [[event.agent_id, hostNameOf(event.entity)]]),
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

/** Returns the hosts that one run of events names. */
export const hostsIn = ({ hosts }: Pick<Aggregated, 'hosts'>) => ({
  count: hosts.size,
  name: [...hosts.values()].at(-1) ?? '',
})

/** Merges many subjects of one kind; `of` is the host if all are from one. */
const floodOf = (kind: AlertKind, parts: readonly Aggregated[], of: Aggregated | null): Aggregated => {
  const agent = of !== null && isId(of.agent) ? of.agent : ''
  const [first, ...rest] = parts.map(
    (part): Aggregated => ({
      ...part,
      subject: of === null ? floodSubject : `${floodSubject} ${of.agent}`,
      isFlood: true,
      entity: of === null ? '' : of.entity,
      description: `Latest: ${titleOf(part, hostsIn(part))}. There were too many for single alerts. The list of events has each of them.`,
      entityType: of === null ? 'Many' : 'Agent',
      entityId: agent,
      link: agent === '' ? eventsLink(kind) : `/agents/${agent}`,
    }),
  )
  return rest.reduce(join, first as Aggregated)
}

const isId = (agent: string): boolean => /^[0-9a-f-]{36}$/.test(agent)

/** The state before a run: open alerts, and recent activity of kinds and hosts. */
export interface Before {
  /** Returns whether a subject has an open alert that takes more events without being news. */
  isOpen(one: Aggregated): boolean
  /** Returns the hosts that caused alerts of a kind within the last minute. */
  recentHosts(kind: AlertKind): ReadonlySet<string>
  /** Returns the number of alerts of a kind that a host caused within the last minute. */
  recentOf(kind: AlertKind, agent: string): number
  /** Returns whether a flood of this kind, or of this kind on a host, began within the last ten minutes. */
  isFlooding(kind: AlertKind, agent: string | null): boolean
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
 * Merges new subjects when there are too many for single alerts. It first merges those of one host, so that a host
 * floods only itself, then those of a kind on many hosts.
 */
export const tameFloods = (aggregated: ReadonlyMap<string, Aggregated>, before: Before): Aggregated[] => {
  const kept: Aggregated[] = []
  const fresh: Aggregated[] = []
  for (const one of aggregated.values()) (before.isOpen(one) ? kept : fresh).push(one)
  for (const [kind, parts] of grouped(fresh, (one) => one.kind)) {
    const limits = limitsOf(kind)
    // A model that several hosts report together is not made up by one of them.
    const [shared, single] = [parts.filter(({ hosts }) => hosts.size > 1), parts.filter(({ hosts }) => hosts.size <= 1)]
    const tamed: Aggregated[] = [...shared]
    for (const [agent, own] of grouped(single, (one) => one.agent)) {
      const isFlood = before.isFlooding(kind, agent) || before.recentOf(kind, agent) + own.length > limits.ofHost
      if (isFlood) tamed.push(floodOf(kind, own, own[0] ?? null))
      else tamed.push(...own)
    }
    const hosts = new Set([...before.recentHosts(kind), ...tamed.map((one) => one.agent)])
    if (before.isFlooding(kind, null) || hosts.size > limits.hosts) kept.push(floodOf(kind, tamed, null))
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
