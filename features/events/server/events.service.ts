import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { EventsContext } from './context.ts'
import { createEventsStore, latestByAgent, partitionSize } from './events.store.ts'
import { createEventLimit, type HostEvent, hourOf, mergeEvents, summaryOf } from './merging.ts'
import type { NewEvent } from './new-event.ts'

/** Number of free ids at which the next partition is created: hours of events of the largest fleets. */
const margin = 1_000_000
/** Rows of one DELETE, so that none takes long. */
const forgottenAtOnce = 5_000
/** Summaries stored in one transaction, and how long after their hour. Transactions of the hour have ended by then. */
const summariesAtOnce = 500
const graceMs = 60_000

export const createEventsService = ({ db, clock, log, hosts, metrics }: EventsContext) => {
  const limit = createEventLimit()
  const mergedTotal = metrics.counter(
    'portcullis_events_merged_total',
    'Events of hosts beyond their hourly limit, which are stored as summaries.',
  )
  /** First id that may lack a partition, as far as this process knows; 0 before the first check. */
  let ensuredUntil = 0
  let lastId = 0
  let ensuring: Promise<void> | null = null

  function ensureAhead(): Promise<void> {
    ensuring ??= createEventsStore(db)
      .ensurePartitions(margin)
      .then((next) => {
        ensuredUntil = Math.max(ensuredUntil, next)
      })
      .catch((error: unknown) => log.warn({ err: error }, 'could not create event partitions in advance'))
      .finally(() => {
        ensuring = null
      })
    return ensuring
  }

  async function write(tx: Tx, events: readonly NewEvent[]): Promise<number[]> {
    if (events.length === 0) return []
    const store = createEventsStore(tx)
    const createdAt = new Date(clock.now())
    // Runs only before the first success of the background job, or if it keeps failing.
    if (lastId + events.length + margin > ensuredUntil) await store.ensurePartitions(margin)
    await hosts.addLatestEvents(tx, latestByAgent(events, createdAt))
    const last = await store.append(tx, events, createdAt)
    lastId = last
    if (last + margin + partitionSize > ensuredUntil) void ensureAhead()
    return events.map((_, i) => last - events.length + 1 + i)
  }

  /** Merges events over the limit of their host, and returns those to store. */
  async function merge(tx: Tx, events: readonly HostEvent[], now: number): Promise<ReadonlySet<NewEvent>> {
    const store = createEventsStore(tx)
    const hour = new Date(hourOf(now))
    const known = await store.knownIdentities([...new Set(events.map(({ agentId }) => agentId))], hour)
    const { first, merged } = mergeEvents(events, known, now)
    await store.merge(tx, merged, hour)
    mergedTotal.inc({}, events.length - first.size)
    return first
  }

  return {
    /**
     * Stores events in the given order and returns their ids, which are gap-free and become visible in order. Keeps the
     * newest texts of their agents. Merges events of a host beyond its hourly limit into summaries, which get no id here.
     * Call it last, only followed by audit: the head of the stream stays locked until COMMIT.
     */
    append: async (tx: Tx, events: readonly NewEvent[]): Promise<number[]> => {
      const now = clock.now()
      const { over, hosts: exceeding } = limit.over(events, now)
      for (const agentId of exceeding) log.warn({ agentId }, 'host exceeded its hourly limit of events')
      if (over.size === 0) return write(tx, events)
      const first = await merge(tx, [...over] as HostEvent[], now)
      return write(
        tx,
        events.filter((event) => !over.has(event) || first.has(event)),
      )
    },
    ensureAhead,

    /** Stores the summaries of the hours that are over. Runs on any replica. */
    summarise: async (): Promise<void> => {
      const before = new Date(hourOf(clock.now() - graceMs))
      for (let some = summariesAtOnce; some === summariesAtOnce; )
        some = await db.transaction(async (tx) => {
          const rows = await createEventsStore(tx).takeMerged(tx, before, summariesAtOnce)
          await write(tx, rows.filter(({ n }) => n > 0).map(summaryOf))
          return rows.length
        })
    },

    /**
     * Deletes events older than this many days in batches; 0 keeps all. Keeps events after `upTo`, which some output
     * has not received yet. Returns the number of deleted events.
     */
    forget: async (days: number, upTo: number | null): Promise<number> => {
      if (days === 0) return 0
      const before = new Date(clock.now() - days * 86_400_000)
      let removed = 0
      for (let some = forgottenAtOnce; some === forgottenAtOnce; removed += some)
        some = await createEventsStore(db).forget(before, upTo, forgottenAtOnce)
      return removed
    },
  }
}
