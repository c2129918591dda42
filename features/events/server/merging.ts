import { hash } from 'node:crypto'
import { eventCatalogue } from '#features/contract.ts'
import type { NewEvent } from './new-event.ts'

/** Events of a host that are stored individually in each hour. */
const mostEvents = 500
/** In the rest of the hour: identities of a kind whose first event is stored. */
const mostIdentities = 200

const hourMs = 3_600_000
export const hourOf = (now: number): number => now - (now % hourMs)

export type HostEvent = NewEvent & { agentId: string }

/** Events of one host, kind and identity in an hour. */
export interface MergedEvents {
  /** The first one. A summary has its details. */
  event: HostEvent
  /** Digest of the device or the details; empty for all further identities. */
  identity: string
  /** Number of events that were not stored. */
  count: number
  first: number
  last: number
}

/** Identities that a host has in the current hour beyond its limit. */
export interface KnownIdentity {
  agent_id: string
  code: number
  identity: string
}

/** Counts the events of each host per hour in this process, so each replica has its own limit. */
export const createEventLimit = () => {
  let hour = 0
  const counts = new Map<string, number>()
  return {
    /** Returns the events over the limit of their host, and the hosts that exceed it with them for the first time in this hour. */
    over: (events: readonly NewEvent[], now: number): { over: Set<NewEvent>; hosts: string[] } => {
      if (hourOf(now) !== hour) counts.clear()
      hour = hourOf(now)
      const over = new Set<NewEvent>()
      const hosts: string[] = []
      for (const event of events) {
        if (event.agentId === null) continue
        const count = (counts.get(event.agentId) ?? 0) + 1
        counts.set(event.agentId, count)
        if (count > mostEvents) over.add(event)
        if (count === mostEvents + 1) hosts.push(event.agentId)
      }
      return { over, hosts }
    },
  }
}

const codeOf = ({ kind }: NewEvent): number => Number(eventCatalogue[kind].code)

/**
 * Splits events over the limit: the first of each identity is stored, all others are merged. Pure. The result is in the
 * order in which all writers lock the rows.
 */
export const mergeEvents = (events: readonly HostEvent[], known: readonly KnownIdentity[], now: number) => {
  const seen = Map.groupBy(known, ({ agent_id, code }) => `${agent_id} ${code}`)
  const identities = new Map([...seen].map(([key, rows]) => [key, new Set(rows.map(({ identity }) => identity))]))
  const first = new Set<NewEvent>()
  const merged = new Map<string, MergedEvents>()
  for (const event of events) {
    const key = `${event.agentId} ${codeOf(event)}`
    const of = identities.get(key) ?? new Set()
    identities.set(key, of)
    const digest = hash('sha256', event.deviceId ?? event.details)
    const isNew = !of.has(digest) && of.size < mostIdentities
    if (isNew) first.add(event)
    if (isNew) of.add(digest)
    const identity = of.has(digest) ? digest : ''
    const at = event.occurred?.at ?? now
    const count = isNew ? 0 : (event.times ?? 1)
    const one = merged.get(`${key} ${identity}`)
    if (one === undefined) merged.set(`${key} ${identity}`, { event, identity, count, first: at, last: at })
    else {
      one.count += count
      one.first = Math.min(one.first, at)
      one.last = Math.max(one.last, at)
    }
  }
  return { first, merged: [...merged].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one) }
}

/** A stored summary of merged events. */
export interface MergedRow {
  agent_id: string
  code: number
  /** False if it covers several identities. */
  is_one: boolean
  n: number
  first_at: Date
  last_at: Date
  severity: number
  icon: number
  entity: string
  hashtags: string
  details: string
  device_id: string | null
}

const descriptions: ReadonlyMap<number, string> = new Map(
  Object.values(eventCatalogue).map(({ code, name }) => [Number(code), name]),
)

/** Returns the event that summarises merged events of a host. */
export const summaryOf = (row: MergedRow): NewEvent => {
  const times = `${row.n.toLocaleString('en')} more ${row.n === 1 ? 'time' : 'times'}`
  const [first, last] = [row.first_at, row.last_at].map((at) => `${at.toISOString().slice(0, 19)}Z`)
  const what = row.is_one ? row.details : 'several devices or causes'
  return {
    kind: 'eventsMerged',
    agentId: row.agent_id,
    severity: row.severity,
    entity: row.entity,
    hashtags: row.hashtags,
    ...(row.is_one ? { icon: row.icon, deviceId: row.device_id } : {}),
    details: `${descriptions.get(row.code) ?? ''}: ${times} between ${first} and ${last}${what === '' ? '' : `: ${what}`}`,
  }
}
