import type { EventEmitter } from 'node:events'
import {
  cleanText,
  inventoryHash,
  mustExist,
  type Occurrence,
  readFeedInSteps,
  windowsReports,
} from '@portcullis/domain'
import { AppError, invalid, notFound } from '@portcullis/platform/server/app-error.ts'
import { transactionAgain } from '@portcullis/platform/server/db/db.ts'
import { type Actor, systemActor } from '@portcullis/platform/server/http/actor.ts'
import { createUnpacker } from '@portcullis/platform/server/http/gunzip.ts'
import { isId, newId } from '@portcullis/platform/server/ids.ts'
import { slices } from '@portcullis/platform/server/slices.ts'
import { instantOf, isZone } from '@portcullis/platform/server/wall-clock.ts'
import { createYielder } from '@portcullis/platform/server/yielder.ts'
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
  type updateFeed,
} from '#features/contract.ts'
import type { FeedsContext } from './context.ts'
import { distinctLines, hostsOf, newestOfDevices, type TimedLine, unseen } from './feed-lines.ts'
import { createFeedsStore, type FeedRow, type RecentError, type RecentLine } from './feeds.store.ts'

const hourMs = 3_600_000
const dayMs = 24 * hourMs
/** Days for which digests of lines are kept. Collectors resend the backlog of a few days at most. */
const seenDays = 30
const recentRows = 20
/** New hosts per transaction. */
const hostsAtOnce = 250
/** Hosts per round of reports. */
const reportsAtOnce = 500
/** Burst of lines of one feed, and the refill per second. */
const lineQuota = { most: 100_000, perSecond: 2_000 } as const
/** Bytes of an unpacked body that count as one more line. A body that cannot be unpacked counts as the largest one. */
const bytesPerLine = 4096

const notShown = [
  'Removal of devices',
  'Devices that were attached before the first event',
  'Descriptors and strings of devices',
  'USB ports',
]

/** Windows uses its own clock for the time. In a domain, it differs by five minutes at most (Kerberos). */
const eventClockMs = 5 * 60_000
/** An older event comes from a host with a wrong clock. Reports of agents have the same limit. */
const oldestMs = 400 * dayMs

/**
 * Returns when an event of a feed happened. Undefined: at the time of receipt, because its line has no time, a time without a
 * known zone, or one in the future.
 */
const occurredAt = (at: number | undefined, receivedAt: number): Occurrence | undefined =>
  at === undefined || at >= receivedAt || receivedAt - at > oldestMs ? undefined : { at, uncertaintyMs: eventClockMs }

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
  timeZone: row.time_zone,
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

/** Returns how to convert times without a zone. `instantOf` takes whole seconds. */
const clockOf =
  (zone: string) =>
  (wall: number): number =>
    instantOf(Math.floor(wall / 1_000) * 1_000, zone) + (wall % 1_000)

function assertTimeZone(zone: string | undefined): void {
  if (zone !== undefined && zone !== '' && !isZone(zone))
    throw invalid('body.timeZone', 'is not a known time zone; use an IANA name such as Europe/Berlin')
}

const existing = (feed: FeedRow | undefined): FeedRow => {
  if (feed === undefined) throw notFound('This feed does not exist.')
  return feed
}

/** Stores the reports of event collectors about hosts without an agent. */
export const createFeedsService = (context: FeedsContext) => {
  const store = createFeedsStore()
  const { db, clock, log, audit, agents, ingest, announce } = context
  const levels = new Map<string, { level: number; at: number }>()
  const unpack = createUnpacker(feedLimits.bodyBytes)
  let lastReading: Promise<unknown> = Promise.resolve()

  function levelOf(feedId: string): number {
    const last = levels.get(feedId)
    return last === undefined
      ? lineQuota.most
      : Math.min(lineQuota.most, last.level + ((clock.now() - last.at) / 1_000) * lineQuota.perSecond)
  }

  function charge(feedId: string, lines: number): void {
    levels.set(feedId, { level: levelOf(feedId) - lines, at: clock.now() })
  }

  /** Unpacks a compressed body. This uses the quota even if the body is refused. */
  async function unpacked(feedId: string, bytes: Buffer, connection: EventEmitter): Promise<Buffer> {
    try {
      const body = await unpack(feedId, bytes, connection)
      charge(feedId, Math.floor(body.length / bytesPerLine))
      return body
    } catch (error) {
      const isUnpacked = error instanceof AppError && ['payload_too_large', 'validation_failed'].includes(error.code)
      if (isUnpacked) charge(feedId, feedLimits.bodyBytes / bytesPerLine)
      throw error
    }
  }

  /** Throws while a feed is over its quota, before its lines are read. */
  function assertCredit(feedId: string): void {
    const level = levelOf(feedId)
    if (level > 0) return
    const seconds = Math.ceil(1 - level / lineQuota.perSecond)
    throw new AppError('too_many_requests', { seconds }, { headers: { 'retry-after': String(seconds) } })
  }

  /** Reads one body at a time, and lets others work meanwhile. */
  function readInTurn(feedId: string, body: Buffer, toInstant: ReturnType<typeof clockOf> | undefined) {
    const reading = lastReading.then(async () => {
      // Other requests may have used the quota in the meantime.
      assertCredit(feedId)
      const yieldNow = createYielder(10)
      const steps = readFeedInSteps(body, toInstant)
      let step = steps.next()
      for (; step.done !== true; step = steps.next()) await yieldNow()
      charge(feedId, Math.max(1, step.value.total))
      return step.value
    })
    lastReading = reading.catch(() => undefined)
    return reading
  }

  /**
   * Adds the hosts that no agent or poll reports, up to the limit of the feed. Limits the hosts per transaction,
   * because each adds an event, and other writers of events wait for the transaction.
   */
  async function addHosts(feedId: string, lines: readonly TimedLine[], now: Date): Promise<void> {
    const seen = new Map(hostsOf(lines).map((one) => [one.host, one]))
    const names = [...seen.keys()]
    const covered = await store.covered(db, names)
    const known = await store.hosts(db, names)
    const missing = names.filter((name) => !covered.has(name) && !known.has(name))
    if (missing.length === 0) return
    const ids = await agents.hosts.textIds([factsOf('')])
    for (const some of slices(missing, hostsAtOnce)) {
      const isFull = await transactionAgain(db, async (tx) => {
        const feed = existing((await store.lock(tx)).find((row) => row.feed_id === feedId))
        const isNewHour = now.getTime() - feed.hour_at.getTime() >= hourMs
        const used = isNewHour ? 0 : feed.hour_hosts
        const there = await store.hosts(tx, some)
        const added = some.filter((host) => !there.has(host)).slice(0, Math.max(0, feed.new_hosts_per_hour - used))
        const observed = added.map((host) => ({ facts: factsOf(host), details: `Feed ${feed.name}` }))
        const agentIds = added.length === 0 ? [] : await agents.hosts.observe(tx, observed, ids)
        const rows = added.map((host, i) => ({
          ...mustExist(seen.get(host), 'the lines of a host'),
          agentId: mustExist(agentIds[i], 'the id of a host'),
          events: 0,
        }))
        if (rows.length > 0) await store.saveHosts(tx, now, rows)
        await store.countHosts(tx, feedId, { at: isNewHour ? now : feed.hour_at, hosts: used + rows.length })
        return used + rows.length >= feed.new_hosts_per_hour
      })
      if (isFull) return
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
        due.map(({ agent_id, seq, received_at }) => {
          const rows = said.get(agent_id) ?? []
          const reports = windowsReports(rows.map((row) => row.said as Parameters<typeof windowsReports>[0][number]))
          const times = new Map(rows.map((row) => [row.instance, row.last_event.getTime()]))
          const attachedAt = new Map(
            reports.flatMap(({ id, report }) => {
              const occurred = occurredAt(times.get(id.toUpperCase()), received_at.getTime())
              return occurred === undefined ? [] : [[report.portPath, occurred] as const]
            }),
          )
          const inventory = reports.map(({ report }) => report)
          const request = { bootId: agent_id, seq, clock: now, inventory, inventoryHash: inventoryHash(inventory) }
          return ingest.report({ agentId: agent_id, request, attachedAt })
        }),
      )
      // A report that the server refuses now would be refused again.
      const isOver = (one: PromiseSettledResult<unknown> | undefined): boolean =>
        one?.status === 'fulfilled' || (one?.reason instanceof AppError && one.reason.code !== 'unavailable')
      const done = due.filter((_, i) => isOver(results[i]))
      const failure = results.find((one) => one.status === 'rejected')
      if (done.length > 0) await store.reported(db, done)
      if (failure !== undefined) log.warn({ err: failure.reason }, 'devices of a feed were not stored')
      if (done.length < due.length) return
    }
  }

  const feedOf = async (feedId: string): Promise<FeedRow> =>
    existing(isId(feedId) ? await store.one(db, feedId) : undefined)

  return {
    list: async (): Promise<Feed[]> => (await store.list(db)).map(view),

    create: async (actor: Actor, body: BodyOf<typeof createFeed>): Promise<Feed> => {
      if (!isId(body.tokenId)) throw invalid('body.tokenId', 'must be the ID of an API token')
      assertTimeZone(body.timeZone)
      const now = new Date(clock.now())
      const row: FeedRow = {
        feed_id: newId(now.getTime()),
        name: body.name.trim(),
        token_id: body.tokenId,
        new_hosts_per_hour: body.newHostsPerHour ?? 1_000,
        keep_days: body.keepDays ?? 30,
        time_zone: body.timeZone ?? '',
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

    change: async (actor: Actor, feedId: string, body: BodyOf<typeof updateFeed>): Promise<{ changed: boolean }> => {
      const feed = await feedOf(feedId)
      if (body.tokenId !== undefined && !isId(body.tokenId))
        throw invalid('body.tokenId', 'must be the ID of an API token')
      assertTimeZone(body.timeZone)
      await transactionAgain(db, async (tx) => {
        await store.lock(tx)
        const change = {
          tokenId: body.tokenId ?? null,
          newHostsPerHour: body.newHostsPerHour ?? null,
          keepDays: body.keepDays ?? null,
          timeZone: body.timeZone ?? null,
        }
        if (!(await store.update(tx, feedId, change)))
          throw new AppError('conflict', { detail: 'Another feed has this token.' })
        await audit.write(tx, actor, {
          action: 'feed.changed',
          entity: feed.name,
          details: Object.keys(body).join(', '),
        })
      })
      return { changed: true }
    },

    remove: async (actor: Actor, feedId: string): Promise<{ deleted: boolean }> => {
      const feed = await feedOf(feedId)
      await transactionAgain(db, async (tx) => {
        await store.remove(tx, feedId)
        await audit.write(tx, actor, { action: 'feed.deleted', entity: feed.name })
      })
      return { deleted: true }
    },

    ingest: async (
      actor: Actor,
      feedId: string,
      bytes: Buffer | undefined,
      compressedOn: EventEmitter | undefined,
    ): Promise<FeedAnswer> => {
      const feed = await feedOf(feedId)
      if (actor.kind !== 'apiToken' || actor.credentialId !== feed.token_id)
        throw new AppError('forbidden_object', { detail: 'Only the API token of this feed can send to it.' })
      assertCredit(feedId)
      const given = bytes ?? Buffer.alloc(0)
      const body = compressedOn === undefined ? given : await unpacked(feedId, given, compressedOn)
      const reading = await readInTurn(feedId, body, feed.time_zone === '' ? undefined : clockOf(feed.time_zone))
      if (reading.total > feedLimits.lines)
        throw new AppError('payload_too_large', {
          detail: `The request contains more than ${feedLimits.lines} lines.`,
          limit: feedLimits.bodyBytes,
        })
      const now = new Date(clock.now())
      const lines = distinctLines(reading.events, now.getTime())
      const errors = reading.errors.map((one) => ({ ...one, message: feedFaults[one.code] }))
      const digests = lines.map((line) => line.digest)
      await addHosts(feedId, unseen(lines, await store.seen(db, feedId, digests)), now)
      const counts = await transactionAgain(db, async (tx) => {
        const locked = existing((await store.lock(tx)).find((row) => row.feed_id === feedId))
        const fresh = unseen(lines, await store.seen(tx, feedId, digests))
        const names = [...new Set(fresh.map((line) => line.host))]
        const covered = await store.covered(tx, names)
        const agentIds = await store.hosts(tx, names)
        const kept = fresh.filter((line) => !covered.has(line.host) && agentIds.has(line.host))
        const coveredLines = fresh.filter((line) => covered.has(line.host)).length
        const hosts = hostsOf(kept).map((one) => ({ ...one, agentId: agentIds.get(one.host) as string }))
        if (kept.length > 0) {
          await store.saveHosts(tx, now, hosts)
          await store.saveDevices(
            tx,
            feedId,
            newestOfDevices(kept).map((line) => ({
              agentId: agentIds.get(line.host) as string,
              instance: line.instance.toUpperCase(),
              said: line.said,
              at: line.when,
            })),
          )
          await store.addSeen(
            tx,
            feedId,
            kept.map((line) => line.digest),
            now,
          )
          await announce(tx, { agents: hosts.map((one) => one.agentId) })
        }
        const result = {
          stored: kept.length,
          duplicates: reading.events.length - fresh.length,
          ignored: reading.ignored,
          covered: coveredLines,
          refused: fresh.length - kept.length - coveredLines,
          failed: reading.failed,
        }
        const newErrors: RecentError[] = errors.slice(-recentRows).map((one) => ({ ...one, at: now.toISOString() }))
        const newLines: RecentLine[] = kept.slice(-recentRows).map((line) => ({
          at: line.when.toISOString(),
          host: line.host,
          device: cleanText(line.instance, 200),
        }))
        await store.count(tx, feedId, now, result, {
          errors: [...newErrors.reverse(), ...locked.recent_errors].slice(0, recentRows),
          lines: [...newLines.reverse(), ...locked.recent_lines].slice(0, recentRows),
        })
        return result
      })
      if (counts.stored > 0) await report()
      return { lines: reading.total, ...counts, errors }
    },

    host: async (agentId: string): Promise<FeedHost> => {
      const row = isId(agentId) ? await store.host(db, agentId) : undefined
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

    /** Removes hosts that an agent reports now, and deletes expired data. Runs every few seconds, on any replica. */
    maintain: async (): Promise<void> => {
      const now = clock.now()
      const replaced = await store.replaced(db, new Date(now - 60_000))
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
