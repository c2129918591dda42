import { createHash } from 'node:crypto'
import type { SyslogFormat } from '@portcullis/contract'
import { formatCef, formatJson, formatOcsf, formatRfc5424, type SiemSource } from '@portcullis/domain'
import type { EventChoice, EventsApi, FollowedEvent } from '#features/system/events/index.ts'
import type { Clock } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { ResolveDestination } from '#platform/destinations.ts'
import type { Log } from '#platform/log.ts'
import { createSyslogSender, type SyslogAddress, SyslogError } from '#platform/syslog/index.ts'
import { createWebhookSender, retryOf, WebhookError } from '#platform/webhooks/index.ts'
import { breaksAfter, outputWaitAfter } from './backoff.ts'
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

interface SyslogPlace {
  kind: 'syslog'
  address: SyslogAddress
  ca: readonly string[]
  format: SyslogFormat
}

/** A stream of events that is switched on. */
export interface OutputPlan extends OutputKey {
  groupName: string
  /** Where to, for people. */
  destination: string
  wanted: EventChoice
  /** Where to; null: its secret cannot be opened. */
  open(): SyslogPlace | ({ kind: 'webhook' } & WebhookPlace) | null
}

/** What went wrong, in words for people. */
class OutputError extends Error {
  /** The receiver will not take the same again. */
  readonly isRefused: boolean
  constructor(message: string, isRefused: boolean) {
    super(message)
    this.isRefused = isRefused
  }
}

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
  const limitOf = (key: OutputKey): number => limits.get(nameOf(key)) ?? batchOf[key.channel]

  async function bySyslog(place: SyslogPlace, batch: readonly FollowedEvent[]): Promise<void> {
    const format = formats[place.format]
    const sender = createSyslogSender({ address: place.address, ca: place.ca, resolve: deps.resolve })
    try {
      await sender.send(batch.map((event) => format(siemEventOf(event), source())))
    } catch (error) {
      throw error instanceof SyslogError ? new OutputError(error.message, false) : error
    } finally {
      sender.close()
    }
  }

  async function byWebhook(plan: OutputPlan, place: WebhookPlace, batch: readonly FollowedEvent[]): Promise<void> {
    const [first, last] = [batch[0], batch.at(-1)] as [FollowedEvent, FollowedEvent]
    const body = JSON.stringify({
      type: 'events',
      timestamp: last.created_at.toISOString(),
      data: {
        group: plan.groupName,
        events: batch.map((event) => JSON.parse(formatJson(siemEventOf(event), source())) as unknown),
      },
    })
    // A batch keeps its ends until it is taken; where its content changed all the same (another choice of events, another
    // installation with the same numbers), so does its id.
    const content = createHash('sha256').update(body).digest('hex').slice(0, 16)
    try {
      const { sendWebhook } = createWebhookSender({ resolve: deps.resolve, ca: place.ca, now: clock.now })
      const { status } = await sendWebhook({
        url: place.url,
        secret: place.secret,
        id: `events-${plan.groupId}-${first.event_id}-${last.event_id}-${content}`,
        timestamp: Math.floor(clock.now() / 1000),
        body,
      })
      const outcome = retryOf(status)
      if (outcome !== 'delivered') throw new OutputError(`The webhook answers ${status}.`, outcome === 'final')
    } catch (error) {
      throw error instanceof WebhookError ? new OutputError(error.message, false) : error
    }
  }

  async function send(plan: OutputPlan, batch: readonly FollowedEvent[]): Promise<void> {
    const place = plan.open()
    if (place === null)
      throw new OutputError(
        'The secret of the webhook cannot be opened. Enter it again under Notification groups.',
        false,
      )
    await (place.kind === 'syslog' ? bySyslog(place, batch) : byWebhook(plan, place, batch))
  }

  /** The plan as it is now; undefined when it was switched off. */
  const planOf = async (key: OutputKey): Promise<OutputPlan | undefined> =>
    (await deps.plans()).find((plan) => nameOf(plan) === nameOf(key))

  /** Sends a leased output up to the newest event. What its group says is asked for each batch: it may change meanwhile. */
  async function catchUp(key: OutputKey, leased: OutputRow): Promise<void> {
    let { position } = leased
    // A webhook knows a batch by its id, so one that was begun keeps its ends; syslog messages have ids of their own.
    let begun = key.channel === 'webhook' ? leased.batch_to : null
    const until = () => new Date(clock.now() + leaseMs)
    for (;;) {
      const plan = await planOf(key)
      const head = await events.head(db)
      if (plan === undefined || head <= position) break
      const upTo = begun ?? Math.min(head, position + span)
      const limit = begun === null ? limitOf(key) : batchOf[key.channel]
      const batch = await events.follow(db, position, upTo, plan.wanted, limit)
      const end = batch.length === limit ? (batch.at(-1) as FollowedEvent).event_id : upTo
      if (batch.length > 0) {
        if (!(await store.begin(db, leased, end, until()))) return
        await send(plan, batch)
      }
      const now = new Date(clock.now())
      if (!(await store.moved(db, leased, { position: end, sent: batch.length, now, until: until() }))) return
      limits.set(nameOf(key), Math.min(batchOf[key.channel], limit * 2))
      if (batch.length > 0) deps.took(key.groupId, key.channel, batch.length)
      position = end
      begun = null
    }
    await store.release(db, leased)
  }

  /** True when the output was due. */
  async function runOne(key: OutputKey): Promise<boolean> {
    const now = new Date(clock.now())
    const leased = await store.lease(db, key, now, new Date(clock.now() + leaseMs))
    if (leased === undefined) return false
    try {
      await catchUp(key, leased)
    } catch (error) {
      if (!(error instanceof OutputError)) log.error({ err: error, ...keyOf(key) }, 'a stream of events cannot be sent')
      limits.set(nameOf(key), Math.max(leastOfBatch, Math.floor(limitOf(key) / 2)))
      const why = error instanceof OutputError ? error.message : 'The server failed; its log tells more.'
      const next = new Date(clock.now() + outputWaitAfter(leased.failures + 1))
      // Refused, or too much for the receiver time and again: the next try is another, smaller batch.
      const isOver = (error instanceof OutputError && error.isRefused) || leased.failures + 1 >= breaksAfter
      await store.failed(db, leased, new Date(clock.now()), next, why, isOver)
    }
    return true
  }

  return {
    /** Sends every stream what it lacks; each on its own, one run at a time in a process. */
    run: async (): Promise<void> => {
      const [plans, rows] = await Promise.all([deps.plans(), store.all(db)])
      const known = new Map(rows.map((row) => [`${row.group_id} ${row.channel}`, row]))
      const head = plans.length === 0 ? 0 : await events.head(db)
      for (const plan of plans) {
        const key = nameOf(plan)
        const row = known.get(key)
        if (row !== undefined && row.position < head && !running.has(key))
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
