import { createHash } from 'node:crypto'
import { createSyslogSender, SyslogError } from '@portcullis/platform/server/syslog/index.ts'
import { createWebhookSender, retryOf, WebhookError } from '@portcullis/platform/server/webhooks/index.ts'
import type { FollowedEvent } from '#features/events/server/index.ts'
import { breaksAfter, outputWaitAfter } from './backoff.ts'
import type { DeliveriesContext } from './context.ts'
import type { DeliveryGroups, OutputPlan, SyslogTarget, WebhookTarget } from './groups.ts'
import { createOutputsStore, type OutputKey, type OutputRow } from './outputs.store.ts'
import { formatCef, formatJson, formatOcsf, formatRfc5424, type SiemSource } from './siem/index.ts'
import { siemEventOf } from './siem-event.ts'

/** Longer than a batch may take. */
const leaseMs = 90_000
/** Events per batch: a few hundred kilobytes in memory, whatever the backlog. */
const batchOf = { syslog: 1_000, webhook: 100 } as const
/** Smallest batch for a receiver that is too slow for larger ones. */
const leastOfBatch = 10
/** Ids scanned per statement: a selective filter must not read the whole backlog at once. */
const span = 50_000

/** A delivery failure with a message for people. */
class OutputError extends Error {
  /** Whether the receiver rejects this batch permanently. */
  readonly isRefused: boolean
  constructor(message: string, isRefused: boolean) {
    super(message)
    this.isRefused = isRefused
  }
}

const formats = { rfc5424: formatRfc5424, cef: formatCef, ocsf: formatOcsf } as const

/** Follows the events for each receiver. Its position moves once it accepted them, so an outage loses nothing. */
export const createOutputs = (
  { db, clock, log, events, metrics, resolve }: DeliveriesContext,
  groups: () => DeliveryGroups,
  /** The sender that messages name. */
  source: () => SiemSource,
  changed: () => Promise<void>,
  /** Aborted when the server stops. The current batch is then the last one. */
  stopping: AbortSignal,
) => {
  const store = createOutputsStore()
  const streamed = metrics.counter('portcullis_event_output_events_total', 'Events that a receiver accepted.', [
    'group',
    'channel',
  ])
  const running = new Map<string, Promise<boolean>>()
  /** Events that each receiver recently accepted per batch. */
  const limits = new Map<string, number>()
  const limitOf = (key: OutputKey): number => limits.get(nameOf(key)) ?? batchOf[key.channel]

  async function bySyslog(place: SyslogTarget, batch: readonly FollowedEvent[]): Promise<void> {
    const format = formats[place.format]
    const sender = createSyslogSender({ address: place.address, ca: place.ca, resolve })
    try {
      await sender.send(batch.map((event) => format(siemEventOf(event), source())))
    } catch (error) {
      throw error instanceof SyslogError ? new OutputError(error.message, false) : error
    } finally {
      sender.close()
    }
  }

  async function byWebhook(plan: OutputPlan, place: WebhookTarget, batch: readonly FollowedEvent[]): Promise<void> {
    const [first, last] = [batch[0], batch.at(-1)] as [FollowedEvent, FollowedEvent]
    const body = JSON.stringify({
      type: 'events',
      timestamp: last.created_at.toISOString(),
      data: {
        group: plan.groupName,
        events: batch.map((event) => JSON.parse(formatJson(siemEventOf(event), source())) as unknown),
      },
    })
    // A retry sends the same range of events. If its content changed all the same (another choice of events, another
    // installation with the same numbers), it gets another id.
    const content = createHash('sha256').update(body).digest('hex').slice(0, 16)
    try {
      const { sendWebhook } = createWebhookSender({ resolve, ca: place.ca, now: clock.now })
      const { status } = await sendWebhook({
        url: place.url,
        secret: place.secret,
        id: `events-${plan.groupId}-${first.event_id}-${last.event_id}-${content}`,
        timestamp: Math.floor(clock.now() / 1000),
        body,
      })
      const outcome = retryOf(status)
      if (outcome !== 'delivered') throw new OutputError(`The webhook answered ${status}.`, outcome === 'final')
    } catch (error) {
      throw error instanceof WebhookError ? new OutputError(error.message, false) : error
    }
  }

  async function send(plan: OutputPlan, batch: readonly FollowedEvent[]): Promise<void> {
    const place = plan.open()
    if (place === null)
      throw new OutputError(
        'The secret of the webhook cannot be opened. Enter it again in the notification group.',
        false,
      )
    await (place.kind === 'syslog' ? bySyslog(place, batch) : byWebhook(plan, place, batch))
  }

  /** Returns the current plan, or undefined if the stream was switched off. */
  const planOf = async (key: OutputKey): Promise<OutputPlan | undefined> =>
    (await groups().plans()).find((plan) => nameOf(plan) === nameOf(key))

  /** Sends a leased output up to the newest event. Reads the group again for each batch, because it may change. */
  async function catchUp(key: OutputKey, leased: OutputRow): Promise<void> {
    let { position } = leased
    // A webhook identifies a batch by its id, so a retry keeps its range. Syslog messages have their own ids.
    let begun = key.channel === 'webhook' ? leased.batch_to : null
    const until = () => new Date(clock.now() + leaseMs)
    for (;;) {
      const plan = await planOf(key)
      const head = await events.head(db)
      if (plan === undefined || head <= position || stopping.aborted) break
      const upTo = begun ?? Math.min(head, position + span)
      const limit = begun === null ? limitOf(key) : batchOf[key.channel]
      const batch = await events.follow(db, position, upTo, plan.wanted, limit)
      const end = batch.length === limit ? (batch.at(-1)?.event_id ?? upTo) : upTo
      if (batch.length > 0) {
        if (!(await store.begin(db, leased, end, until()))) return
        await send(plan, batch)
      }
      const now = new Date(clock.now())
      if (!(await store.moved(db, leased, { position: end, sent: batch.length, now, until: until() }))) return
      limits.set(nameOf(key), Math.min(batchOf[key.channel], limit * 2))
      if (batch.length > 0) streamed.inc({ group: String(key.groupId), channel: key.channel }, batch.length)
      position = end
      begun = null
    }
    await store.release(db, leased)
  }

  /** Returns true if the output was due. */
  async function runOne(key: OutputKey): Promise<boolean> {
    const now = new Date(clock.now())
    const leased = await store.lease(db, key, now, new Date(clock.now() + leaseMs))
    if (leased === undefined) return false
    try {
      await catchUp(key, leased)
    } catch (error) {
      if (!(error instanceof OutputError)) log.error({ err: error, ...keyOf(key) }, 'cannot send an event stream')
      limits.set(nameOf(key), Math.max(leastOfBatch, Math.floor(limitOf(key) / 2)))
      const why = error instanceof OutputError ? error.message : 'Internal error. See the server log.'
      const next = new Date(clock.now() + outputWaitAfter(leased.failures + 1))
      // After a rejection or repeated failures, the next attempt is another, smaller batch.
      const isOver = (error instanceof OutputError && error.isRefused) || leased.failures + 1 >= breaksAfter
      await store.failed(db, leased, new Date(clock.now()), next, why, isOver)
    }
    return true
  }

  return {
    /** Sends all streams in parallel, each in one run at a time per process. */
    run: async (): Promise<void> => {
      const [plans, rows] = await Promise.all([groups().plans(), store.all(db)])
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
      if ((await Promise.all(running.values())).includes(true)) await changed()
    },
  }
}

const nameOf = ({ groupId, channel }: OutputKey): string => `${groupId} ${channel}`
const keyOf = ({ groupId, channel }: OutputKey) => ({ groupId, channel })
