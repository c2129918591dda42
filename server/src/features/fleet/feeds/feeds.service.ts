import { hash } from 'node:crypto'
import {
  type BodyOf,
  type createFeed,
  type Feed,
  type FeedAnswer,
  type FeedFault,
  type FeedHost,
  feedFaults,
  feedLimits,
  type HostFacts,
} from '@portcullis/contract'
import { cleanText, type FeedLine, inventoryHash, readFeed, windowsDevices } from '@portcullis/domain'
import type { AgentsApi } from '#features/fleet/agents/index.ts'
import type { IngestApi } from '#features/fleet/ingest/index.ts'
import type { Audit } from '#features/system/audit/index.ts'
import { AppError, notFound } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import { type Db, type Tx, transactionAgain } from '#platform/db/db.ts'
import { type Actor, systemActor } from '#platform/http/actor.ts'
import { newId } from '#platform/ids.ts'
import type { Announce } from '#platform/live.ts'
import type { Log } from '#platform/log.ts'
import type { FeedRow, FeedsStore, RecentError, RecentLine, SeenHost } from './feeds.store.ts'

export interface FeedsDeps {
  db: Db
  clock: Clock
  log: Log
  audit: Audit
  agents: Pick<AgentsApi, 'hosts' | 'remove' | 'disconnectPolled'>
  ingest: Pick<IngestApi, 'report'>
  announce: Announce
}

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Days for which digests of lines are kept. Collectors resend the backlog of a few days at most. */
const seenDays = 30
const recentRows = 20
/** Hosts per round of reports. */
const reportsAtOnce = 500
/** Burst of lines of one feed, and the refill per second. */
const lineQuota = { most: 100_000, perSecond: 2_000 } as const

const notShown = [
  'Removal of devices',
  'Devices that were attached before the first event',
  'Descriptors and strings of devices',
  'USB ports',
]

const factsOf = (host: string): HostFacts => ({
  hostname: host,
  address: '',
  osName: 'Windows',
  osVersion: '',
  kernel: '',
  architecture: '',
  vendor: '',
  model: '',
  chassis: '',
  sku: '',
  nics: [],
  agentVersion: '',
  enforcement: 'observe',
})

const view = (row: FeedRow & { hosts: number }): Feed => ({
  id: row.feed_id,
  name: row.name,
  tokenId: row.token_id,
  newHostsPerHour: row.new_hosts_per_hour,
  keepDays: row.keep_days,
  createdAt: row.created_at.toISOString(),
  createdBy: row.created_by,
  lastAt: row.last_at?.toISOString() ?? null,
  hosts: row.hosts,
  stored: row.stored,
  duplicates: row.duplicates,
  ignored: row.ignored,
  covered: row.covered,
  refused: row.refused,
  failed: row.failed,
  recentErrors: row.recent_errors.map((one) => ({ ...one, code: one.code as FeedFault })),
  recentLines: row.recent_lines,
})

const digestOf = (line: FeedLine): Buffer => hash('sha256', line.key, 'buffer').subarray(0, 16)

/** A line with the time of its event, at most the time of receipt. */
type Timed = FeedLine & { digest: Buffer; when: Date }

const hostsOf = (lines: readonly Timed[]): SeenHost[] => {
  const hosts = new Map<string, SeenHost>()
  for (const { host, when } of lines) {
    const known = hosts.get(host)
    if (known === undefined) hosts.set(host, { host, first: when, last: when, events: 1 })
    else {
      known.events++
      if (when < known.first) known.first = when
      if (when > known.last) known.last = when
    }
  }
  return [...hosts.values()]
}

/** Stores what event collectors report about hosts without an agent. */
export const createFeedsService = (deps: FeedsDeps & { store: FeedsStore }) => {
  const { db, clock, log, audit, store, agents, ingest, announce } = deps
  const levels = new Map<string, { level: number; at: number }>()

  function charge(feedId: string, lines: number): void {
    const now = clock.now()
    const last = levels.get(feedId)
    const level =
      last === undefined
        ? lineQuota.most
        : Math.min(lineQuota.most, last.level + ((now - last.at) / 1_000) * lineQuota.perSecond)
    if (level < lines) {
      const seconds = Math.ceil((lines - level) / lineQuota.perSecond)
      throw new AppError('too_many_requests', { seconds }, { headers: { 'retry-after': String(seconds) } })
    }
    levels.set(feedId, { level: level - lines, at: now })
  }

  /** Splits new lines into those to store, those about hosts with an agent, and those above the limit of new hosts. */
  async function divide(tx: Tx, feed: FeedRow, fresh: readonly Timed[], room: number) {
    const names = [...new Set(fresh.map((line) => line.host))]
    const covered = await store.covered(tx, names)
    const known = await store.hosts(tx, names)
    const added = new Set(names.filter((name) => !covered.has(name) && !known.has(name)).slice(0, Math.max(0, room)))
    return {
      feed,
      known,
      added,
      covered: fresh.filter((line) => covered.has(line.host)).length,
      refused: fresh.filter((line) => !covered.has(line.host) && !known.has(line.host) && !added.has(line.host)).length,
      kept: fresh.filter((line) => !covered.has(line.host) && (known.has(line.host) || added.has(line.host))),
    }
  }

  /** Reports the devices of hosts that changed, as the agent of the host would. A repeated report changes nothing. */
  async function report(): Promise<void> {
    for (;;) {
      const due = await store.due(db, reportsAtOnce)
      if (due.length === 0) return
      const said = Map.groupBy(
        await store.devicesOf(
          db,
          due.map((row) => row.agent_id),
        ),
        (row) => row.agent_id,
      )
      const now = clock.now()
      const results = await Promise.allSettled(
        due.map(({ agent_id, seq }) => {
          const inventory = windowsDevices(
            (said.get(agent_id) ?? []).map((row) => row.said as Parameters<typeof windowsDevices>[0][number]),
          )
          const request = { bootId: agent_id, seq, clock: now, inventory, inventoryHash: inventoryHash(inventory) }
          return ingest.report({ agentId: agent_id, request })
        }),
      )
      const done = due.filter((_, i) => results[i]?.status === 'fulfilled')
      const failure = results.find((one) => one.status === 'rejected')
      if (done.length > 0) await store.reported(db, done)
      if (failure !== undefined)
        log.warn({ err: failure.reason }, 'devices of a feed were not stored; trying again later')
      if (done.length < due.length) return
    }
  }

  const feedOf = async (feedId: string): Promise<FeedRow> => {
    const feed = await store.one(db, feedId)
    if (feed === undefined) throw notFound('This feed does not exist.')
    return feed
  }

  return {
    list: async (): Promise<Feed[]> => (await store.list(db)).map(view),

    create: async (actor: Actor, body: BodyOf<typeof createFeed>): Promise<Feed> => {
      const now = new Date(clock.now())
      const row: FeedRow = {
        feed_id: newId(now.getTime()),
        name: body.name.trim(),
        token_id: body.tokenId.toLowerCase(),
        new_hosts_per_hour: body.newHostsPerHour ?? 1_000,
        keep_days: body.keepDays ?? 30,
        created_at: now,
        created_by: actor.userName,
        last_at: null,
        stored: 0,
        duplicates: 0,
        ignored: 0,
        covered: 0,
        refused: 0,
        failed: 0,
        recent_errors: [],
        recent_lines: [],
        hour_at: now,
        hour_hosts: 0,
      }
      await db.transaction(async (tx) => {
        if (!(await store.insert(tx, row)))
          throw new AppError('conflict', { detail: 'A feed with this name or this token already exists.' })
        await audit.write(tx, actor, { action: 'feed.created', entity: row.name, details: `token ${row.token_id}` })
      })
      return view({ ...row, hosts: 0 })
    },

    remove: async (actor: Actor, feedId: string): Promise<{ deleted: boolean }> => {
      const feed = await feedOf(feedId)
      await transactionAgain(db, async (tx) => {
        await store.remove(tx, feedId)
        await audit.write(tx, actor, { action: 'feed.deleted', entity: feed.name })
      })
      return { deleted: true }
    },

    ingest: async (actor: Actor, feedId: string, bytes: Buffer | undefined): Promise<FeedAnswer> => {
      const feed = await feedOf(feedId)
      if (actor.kind !== 'apiToken' || actor.credentialId !== feed.token_id)
        throw new AppError('forbidden_object', { detail: 'Only the API token of this feed can send to it.' })
      const reading = readFeed((bytes ?? Buffer.alloc(0)).toString('utf8'))
      if (reading.total > feedLimits.lines)
        throw new AppError('payload_too_large', {
          detail: `The request contains more than ${feedLimits.lines} lines.`,
          limit: feedLimits.bodyBytes,
        })
      charge(feedId, reading.total)
      const now = new Date(clock.now())
      const batch = new Map<string, Timed>()
      for (const line of reading.events) {
        const digest = digestOf(line)
        const when = new Date(Math.max(0, Math.min(line.at ?? now.getTime(), now.getTime())))
        const key = digest.toString('hex')
        if (!batch.has(key)) batch.set(key, { ...line, digest, when })
      }
      const errors = reading.errors.map((one) => ({ ...one, message: feedFaults[one.code] }))
      const ids = await agents.hosts.textIds([factsOf('')])
      const counts = await transactionAgain(db, async (tx) => {
        const locked = (await store.lock(tx)).find((row) => row.feed_id === feedId)
        if (locked === undefined) throw notFound('This feed does not exist.')
        const seen = await store.seen(
          tx,
          feedId,
          [...batch.values()].map((line) => line.digest),
        )
        const fresh = [...batch].filter(([key]) => !seen.has(key)).map(([, line]) => line)
        const isNewHour = now.getTime() - locked.hour_at.getTime() >= hourMs
        const used = isNewHour ? 0 : locked.hour_hosts
        const parts = await divide(tx, locked, fresh, locked.new_hosts_per_hour - used)
        const agentIds = new Map(parts.known)
        for (const host of parts.added)
          agentIds.set(
            host,
            await agents.hosts.adopt(
              tx,
              { facts: factsOf(host), machineIdHash: null, tags: [], details: `Feed ${locked.name}`, feed: true },
              ids,
            ),
          )
        const hosts = hostsOf(parts.kept).map((one) => ({ ...one, agentId: agentIds.get(one.host) as string }))
        if (parts.kept.length > 0) {
          await store.saveHosts(tx, now, hosts)
          const devices = new Map<string, Timed>()
          for (const line of parts.kept) {
            const key = `${line.host}\n${line.instance.toUpperCase()}`
            const other = devices.get(key)
            if (other === undefined || line.when >= other.when) devices.set(key, line)
          }
          await store.saveDevices(
            tx,
            feedId,
            [...devices.values()].map((line) => ({
              agentId: agentIds.get(line.host) as string,
              instance: line.instance.toUpperCase(),
              said: line.said,
              at: line.when,
            })),
          )
          await store.addSeen(
            tx,
            feedId,
            parts.kept.map((line) => line.digest),
            now,
          )
          await announce(tx, { agents: hosts.map((one) => one.agentId) })
        }
        const result = {
          stored: parts.kept.length,
          duplicates: reading.events.length - fresh.length,
          ignored: reading.ignored,
          covered: parts.covered,
          refused: parts.refused,
          failed: reading.failed,
        }
        const newErrors: RecentError[] = errors.slice(-recentRows).map((one) => ({ ...one, at: now.toISOString() }))
        const newLines: RecentLine[] = parts.kept.slice(-recentRows).map((line) => ({
          at: line.when.toISOString(),
          host: line.host,
          device: cleanText(line.instance, 200),
        }))
        await store.count(
          tx,
          feedId,
          now,
          { at: isNewHour ? now : locked.hour_at, hosts: used + parts.added.size },
          result,
          {
            errors: [...newErrors.reverse(), ...locked.recent_errors].slice(0, recentRows),
            lines: [...newLines.reverse(), ...locked.recent_lines].slice(0, recentRows),
          },
        )
        return result
      })
      if (counts.stored > 0) await report()
      return { lines: reading.total, ...counts, errors }
    },

    host: async (agentId: string): Promise<FeedHost> => {
      const row = await store.host(db, agentId)
      if (row === undefined) throw notFound('No feed observes this host.')
      return {
        uuid: row.agent_id,
        firstEventAt: row.first_event.toISOString(),
        lastEventAt: row.last_event.toISOString(),
        receivedAt: row.received_at.toISOString(),
        events: row.events,
        feeds: row.feeds,
        confidence: clock.now() - row.last_event.getTime() <= dayMs ? 'recent' : 'old',
        notShown,
      }
    },

    /** Removes hosts that an agent shows now, and forgets what is too old. Runs every few seconds, on any replica. */
    maintain: async (): Promise<void> => {
      const now = clock.now()
      const replaced = await store.replaced(db)
      if (replaced.length > 0) await agents.remove(systemActor('feeds'), replaced)
      await transactionAgain(db, async (tx) => {
        await store.forgetDevices(tx, new Date(now))
        await store.forgetSeen(tx, new Date(now - seenDays * dayMs))
        const silent = await store.silent(tx, new Date(now - dayMs))
        if (silent.length > 0) await agents.disconnectPolled(tx, silent)
      })
      await report()
    },
  }
}
