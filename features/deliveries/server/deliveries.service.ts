import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { newId } from '@portcullis/platform/server/ids.ts'
import type { HealthStatus } from '#features/contract.ts'
import { breaksAfter } from './backoff.ts'
import type { DeliveriesContext } from './context.ts'
import { createDeliveriesStore, type NewDelivery } from './deliveries.store.ts'
import type { DeliveryGroups } from './groups.ts'
import type { MailApi } from './mail/index.ts'
import { createOutputsStore, type OutputKey } from './outputs.store.ts'

/** Largest number of deliveries that one call retries or drops. */
const mostAtOnce = 10_000
/** Retention of delivered and dropped deliveries. */
const keptMs = 30 * 86_400_000
/** Outage of a receiver after which its state is an error. */
const longMs = 3_600_000
/** Backlog that shows that a receiver which answers is too slow. */
const farBehind = 100_000

const eventsOf = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'event' : 'events'}`

/** Bus topic: a delivery is due. */
export const deliveriesTopic = 'deliveries'

/** Records, lists, retries and drops what is sent to people, webhooks and SIEMs. */
export const createDeliveries = (
  { db, bus, clock, audit, events, hint }: DeliveriesContext,
  mail: MailApi,
  groups: () => DeliveryGroups,
) => {
  const store = createDeliveriesStore()
  const outputs = createOutputsStore()
  /** Starts the sender after COMMIT. */
  const wake = (tx: Tx): Promise<void> => bus.publish(tx, deliveriesTopic)

  async function listOutputs() {
    const [plans, rows, head] = await Promise.all([groups().plans(), outputs.all(db), events.head(db)])
    const iso = (at: Date | null): string | null => at?.toISOString() ?? null
    return plans.flatMap((plan) => {
      const row = rows.find((one) => one.group_id === plan.groupId && one.channel === plan.channel)
      return row === undefined
        ? []
        : [
            {
              groupId: plan.groupId,
              groupName: plan.groupName,
              channel: plan.channel,
              destination: plan.destination,
              position: row.position,
              behind: Math.max(0, head - row.position),
              sent: row.sent,
              failures: row.failures,
              isPaused: row.failures >= breaksAfter,
              nextAt: iso(row.next_at),
              succeededAt: iso(row.succeeded_at),
              failedAt: iso(row.failed_at),
              error: row.error,
            },
          ]
    })
  }

  /** Returns the given ids that were not found. */
  function missing(ids: readonly string[] | null, found: readonly { delivery_id: string }[]): string[] {
    const known = new Set(found.map((row) => row.delivery_id))
    return (ids ?? []).filter((id) => !known.has(id.toLowerCase()))
  }

  return {
    /** Stores messages in the transaction of their cause. */
    enqueue: async (tx: Tx, rows: readonly Omit<NewDelivery, 'id' | 'target'>[]): Promise<void> => {
      const now = clock.now()
      const named = rows.map((row) => ({
        ...row,
        id: newId(now),
        target: row.channel === 'email' ? 'email' : `webhook ${row.groupId}`,
      }))
      await store.insert(tx, named, new Date(now))
      await wake(tx)
      await hint(tx, 'deliveries')
    },

    /** Creates and removes streams in the transaction that switches them. New ones begin after the newest event. */
    begin: async (tx: Tx, keys: readonly OutputKey[]): Promise<void> => {
      await outputs.keepOnly(tx, keys)
      for (const key of keys) await outputs.add(tx, key)
    },

    about: (alertId: number) => store.about(db, alertId, 20),

    retry: async (actor: Actor, ids: readonly string[] | null) =>
      db.transaction(async (tx) => {
        const found = await store.lockStuck(tx, ids, mostAtOnce)
        const targets = [...new Set(found.map((row) => row.target))]
        await store.retry(
          tx,
          found.map((row) => row.delivery_id),
          targets,
          new Date(clock.now()),
        )
        await wake(tx)
        await hint(tx, 'deliveries')
        if (found.length > 0)
          await audit.write(tx, actor, {
            action: 'delivery.retried',
            entity: 'deliveries',
            details: `${found.length} ${found.length === 1 ? 'delivery' : 'deliveries'}`,
            count: found.length,
          })
        return { accepted: found.length, notFound: missing(ids, found) }
      }),

    drop: async (actor: Actor, ids: readonly string[] | null) =>
      db.transaction(async (tx) => {
        const found = await store.lockStuck(tx, ids, mostAtOnce)
        await store.drop(
          tx,
          found.map((row) => row.delivery_id),
          new Date(clock.now()),
          `Dropped by ${actor.userName}.`,
        )
        await hint(tx, 'deliveries')
        if (found.length > 0)
          await audit.write(tx, actor, {
            action: 'delivery.dropped',
            entity: 'deliveries',
            count: found.length,
            details: `${found.length}: ${found
              .slice(0, 20)
              .map((row) => row.title)
              .join(' | ')}`.slice(0, 2_000),
          })
        return { accepted: found.length, notFound: missing(ids, found) }
      }),

    listOutputs,

    retryOutput: async (actor: Actor, key: OutputKey) => {
      await db.transaction(async (tx) => {
        if (!(await outputs.retry(tx, key)))
          throw new AppError('not_found', { detail: 'This group has no active event stream on this channel.' })
        await wake(tx)
        await audit.write(tx, actor, {
          action: 'output.retried',
          entity: `group ${key.groupId}`,
          details: key.channel,
          variant: key.channel,
        })
      })
      return listOutputs()
    },

    skipOutput: async (actor: Actor, key: OutputKey) => {
      await db.transaction(async (tx) => {
        const skipped = await outputs.skip(tx, key)
        if (skipped === undefined)
          throw new AppError('not_found', { detail: 'This group has no active event stream on this channel.' })
        await hint(tx, 'deliveries')
        await audit.write(tx, actor, {
          action: 'output.skipped',
          entity: `group ${key.groupId}`,
          variant: key.channel,
          details: `${key.channel}: events ${skipped.from + 1} to ${skipped.to} skipped`,
        })
      })
      return listOutputs()
    },

    stuck: async (): Promise<number> => {
      const { waiting, failed } = await store.state(db)
      return waiting + failed
    },

    /** Returns the id before the first event that an output still needs. */
    sentUpTo: async (): Promise<number | null> => {
      const rows = await outputs.all(db)
      return rows.length === 0 ? null : Math.min(...rows.map((row) => row.position))
    },

    health: async (): Promise<{ status: HealthStatus; description: string }> => {
      // A mail server that is down is reported once, by the part "mail"; mails that wait for it are not counted here.
      const [state, streams, plans] = await Promise.all([
        mail.isFailing().then((isFailing) => store.state(db, !isFailing)),
        listOutputs(),
        groups().plans(),
      ])
      const parts: string[] = []
      let status: HealthStatus = 'OK'
      function worse(next: HealthStatus, description: string): void {
        if (next === 'Error' || status === 'OK') status = next
        parts.push(description)
      }
      if (state.waiting > 0)
        worse(
          state.oldest !== null && clock.now() - state.oldest.getTime() > longMs ? 'Error' : 'Warning',
          `${state.waiting} ${state.waiting === 1 ? 'message waits' : 'messages wait'} for a receiver. ${state.error}`.trim(),
        )
      if (state.failed > 0)
        worse(
          'Warning',
          `${state.failed} ${state.failed === 1 ? 'message was' : 'messages were'} permanently rejected.`,
        )
      for (const stream of streams) {
        if (stream.failures > 0)
          worse(
            stream.failures > breaksAfter ? 'Error' : 'Warning',
            `${stream.groupName} (${stream.channel}) is ${eventsOf(stream.behind)} behind. ${stream.error}`,
          )
        else if (stream.behind > farBehind)
          worse('Warning', `${stream.groupName} (${stream.channel}) is ${eventsOf(stream.behind)} behind.`)
      }
      if (state.left_out > 0)
        parts.push(
          `${state.left_out} ${state.left_out === 1 ? 'mail waits' : 'mails wait'} for the mail server. See the part "mail".`,
        )
      if (parts.length > 0) return { status, description: parts.join(' ') }
      return {
        status: 'OK',
        description:
          plans.length === 0
            ? 'Nothing is waiting.'
            : `Nothing is waiting; ${plans.length} event ${plans.length === 1 ? 'stream is' : 'streams are'} up to date.`,
      }
    },

    /** Deletes deliveries that ended before the retention period. */
    forget: (): Promise<number> => store.forget(db, new Date(clock.now() - keptMs)),
  }
}
