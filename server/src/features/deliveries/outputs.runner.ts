import type { SyslogFormat } from '@portcullis/contract'
import { formatCef, formatJson, formatOcsf, formatRfc5424, type SiemSource } from '@portcullis/domain'
import type { EventChoice, EventsApi, FollowedEvent } from '#features/events/index.ts'
import type { Clock } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { ResolveDestination } from '#platform/destinations.ts'
import type { Log } from '#platform/log.ts'
import { createSyslogSender, type SyslogAddress, SyslogError } from '#platform/syslog/index.ts'
import { createWebhookSender, WebhookError } from '#platform/webhooks/index.ts'
import { outputWaitAfter } from './backoff.ts'
import type { OutputKey, OutputRow, OutputsStore } from './outputs.store.ts'
import type { WebhookPlace } from './sender.ts'
import { siemEventOf } from './siem-event.ts'

/** Longer than sending a batch may take. */
const leaseMs = 90_000
/** Events of one batch: some hundred kilobytes in memory, whatever the backlog. */
const batchOf = { syslog: 1_000, webhook: 100 } as const
/** A receiver that is too slow for a batch gets a smaller one with the next try, down to this. */
const leastOfBatch = 10
/** Ids looked through at once: a filter that wants little must not read the whole backlog in one statement. */
const span = 50_000

/** A stream of events that is switched on. */
export interface OutputPlan extends OutputKey {
  groupName: string
  /** Where to, for people. */
  destination: string
  wanted: EventChoice
  place:
    | { kind: 'syslog'; address: SyslogAddress; ca: readonly string[]; format: SyslogFormat }
    | ({ kind: 'webhook' } & WebhookPlace)
}

/** What went wrong, in words for people. */
class OutputError extends Error {}

export interface OutputsDeps {
  db: Db
  clock: Clock
  log: Log
  store: OutputsStore
  events: Pick<EventsApi, 'head' | 'follow'>
  resolve: ResolveDestination
  /** Streams that are switched on now. */
  plans(): Promise<readonly OutputPlan[]>
  /** Who sends, as messages name it. */
  source(): SiemSource
  /** Counts events that were taken. */
  took(groupId: number, channel: string, events: number): void
  changed(): Promise<void>
}

const formats = { rfc5424: formatRfc5424, cef: formatCef, ocsf: formatOcsf } as const

/** Follows the events for each receiver: its position moves when it has taken them, so nothing is lost however long it is away. */
export const createOutputs = (deps: OutputsDeps) => {
  const { db, clock, log, store, events, source } = deps
  const running = new Map<string, Promise<boolean>>()
  /** How many events a receiver lately took at once. */
  const limits = new Map<string, number>()
  const limitOf = (plan: OutputPlan): number => limits.get(nameOf(plan)) ?? batchOf[plan.channel]

  const send = async (plan: OutputPlan, batch: readonly FollowedEvent[]): Promise<void> => {
    const { place } = plan
    if (place.kind === 'syslog') {
      const format = formats[place.format]
      const sender = createSyslogSender({ address: place.address, ca: place.ca, resolve: deps.resolve })
      try {
        await sender.send(batch.map((event) => format(siemEventOf(event), source())))
      } catch (error) {
        throw error instanceof SyslogError ? new OutputError(error.message) : error
      } finally {
        sender.close()
      }
      return
    }
    const [first, last] = [batch[0], batch.at(-1)] as [FollowedEvent, FollowedEvent]
    const body = JSON.stringify({
      type: 'events',
      timestamp: last.created_at.toISOString(),
      data: {
        group: plan.groupName,
        events: batch.map((event) => JSON.parse(formatJson(siemEventOf(event), source())) as unknown),
      },
    })
    try {
      const { sendWebhook } = createWebhookSender({ resolve: deps.resolve, ca: place.ca, now: clock.now })
      const { status } = await sendWebhook({
        url: place.url,
        secret: place.secret,
        // The batch keeps its ends until it is taken: the same id always has the same body.
        id: `events-${plan.groupId}-${first.event_id}-${last.event_id}`,
        timestamp: Math.floor(clock.now() / 1000),
        body,
      })
      if (status < 200 || status > 299) throw new OutputError(`The webhook answers ${status}.`)
    } catch (error) {
      throw error instanceof WebhookError ? new OutputError(error.message) : error
    }
  }

  /** Sends a leased output up to the newest event. */
  const catchUp = async (plan: OutputPlan, leased: OutputRow): Promise<void> => {
    let { position } = leased
    // A webhook knows a batch by its id, so one that was begun keeps its ends; syslog messages have ids of their own.
    let begun = plan.channel === 'webhook' ? leased.batch_to : null
    const until = () => new Date(clock.now() + leaseMs)
    for (;;) {
      const head = await events.head(db)
      if (head <= position) break
      const upTo = begun ?? Math.min(head, position + span)
      const limit = begun === null ? limitOf(plan) : batchOf[plan.channel]
      const batch = await events.follow(db, position, upTo, plan.wanted, limit)
      const end = begun ?? (batch.length === limit ? (batch.at(-1) as FollowedEvent).event_id : upTo)
      if (batch.length > 0) {
        if (!(await store.begin(db, leased, end, until()))) return
        await send(plan, batch)
      }
      if (
        !(await store.moved(db, leased, {
          position: end,
          sent: batch.length,
          now: new Date(clock.now()),
          until: until(),
        }))
      )
        return
      limits.set(nameOf(plan), Math.min(batchOf[plan.channel], limit * 2))
      if (batch.length > 0) deps.took(plan.groupId, plan.channel, batch.length)
      position = end
      begun = null
    }
    await store.release(db, leased)
  }

  /** True when the output was due. */
  const runOne = async (plan: OutputPlan): Promise<boolean> => {
    const now = new Date(clock.now())
    const leased = await store.lease(db, plan, now, new Date(clock.now() + leaseMs))
    if (leased === undefined) return false
    try {
      await catchUp(plan, leased)
    } catch (error) {
      if (!(error instanceof OutputError))
        log.error({ err: error, ...keyOf(plan) }, 'a stream of events can not be sent')
      limits.set(nameOf(plan), Math.max(leastOfBatch, Math.floor(limitOf(plan) / 2)))
      const why = error instanceof OutputError ? error.message : 'The server failed; its log tells more.'
      const next = new Date(clock.now() + outputWaitAfter(leased.failures + 1))
      await store.failed(db, leased, new Date(clock.now()), next, why)
    }
    return true
  }

  return {
    /** Sends every stream what it lacks; each on its own, one run at a time in a process. */
    run: async (): Promise<void> => {
      const [plans, rows] = await Promise.all([deps.plans(), store.all(db)])
      const known = new Map(rows.map((row) => [`${row.group_id} ${row.channel}`, row]))
      const wanted = new Set(plans.map(nameOf))
      for (const row of rows)
        if (!wanted.has(`${row.group_id} ${row.channel}`))
          await store.remove(db, { groupId: row.group_id, channel: row.channel })
      const head = plans.length === 0 ? 0 : await events.head(db)
      for (const plan of plans) {
        const key = nameOf(plan)
        const row = known.get(key)
        if (row === undefined) await store.add(db, plan)
        else if (row.position < head && !running.has(key))
          running.set(
            key,
            runOne(plan).finally(() => running.delete(key)),
          )
      }
      if ((await Promise.all(running.values())).includes(true)) await deps.changed()
    },
  }
}

const nameOf = ({ groupId, channel }: OutputKey): string => `${groupId} ${channel}`
const keyOf = ({ groupId, channel }: OutputKey) => ({ groupId, channel })
