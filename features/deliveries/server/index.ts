import { setTimeout as sleep } from 'node:timers/promises'
import {
  dropDeliveries,
  listDeliveries,
  listEventOutputs,
  retryDeliveries,
  retryEventOutput,
  skipEventOutput,
} from '@portcullis/contract'
import type { SiemSource } from '@portcullis/domain'
import type { Clock } from '@portcullis/platform/server/clock.ts'
import type { Bus } from '@portcullis/platform/server/db/bus.ts'
import type { Db } from '@portcullis/platform/server/db/db.ts'
import type { ResolveDestination } from '@portcullis/platform/server/destinations.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createList } from '@portcullis/platform/server/list/list.ts'
import type { Hint } from '@portcullis/platform/server/live.ts'
import type { Log } from '@portcullis/platform/server/log.ts'
import type { Metrics } from '@portcullis/platform/server/metrics.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { EventsApi } from '#features/events/server/index.ts'
import { deliveriesList } from './deliveries.read.ts'
import { createDeliveries } from './deliveries.service.ts'
import { createDeliveriesStore } from './deliveries.store.ts'
import type { MailApi } from './mail/index.ts'
import { createOutputs, type OutputPlan } from './outputs.runner.ts'
import { createOutputsStore } from './outputs.store.ts'
import { createSender, type WebhookTarget } from './sender.ts'

export type { OutputPlan } from './outputs.runner.ts'
export type { WebhookTarget } from './sender.ts'
export { deviceOf, namesOf } from './siem-event.ts'
export type DeliveriesApi = ReturnType<typeof deliveriesFeature>

/** A stopping server waits so long for receivers. What it leased is then sent when the leases end. */
const stopMs = 5_000

/** Bus topic: a delivery is due. */
const topic = 'deliveries'

/** The deliveries' view of the groups. Read for every attempt, because the configuration may change in between. */
export interface DeliveryGroups {
  /** Returns the active streams. */
  plans(): Promise<readonly OutputPlan[]>
  /** Returns the webhook of a group, or null if it has no active one. */
  webhookOf(groupId: number): Promise<WebhookTarget | null>
  /** Returns whether a group still mails to this address. */
  isRecipient(groupId: number, address: string): Promise<boolean>
}

export interface DeliveriesFeatureDeps {
  db: Db
  exportDb: Db
  clock: Clock
  log: Log
  bus: Bus
  audit: Audit
  events: Pick<EventsApi, 'head' | 'follow'>
  mail: Pick<MailApi, 'send' | 'isFailing'>
  resolve: ResolveDestination
  source(): SiemSource
  metrics: Metrics
  hint: Hint
}

/** Wires the outbox of messages and the event streams for people, webhooks and SIEMs. */
export const deliveriesFeature = (app: HttpApp, deps: DeliveriesFeatureDeps) => {
  const { db, bus, log, metrics } = deps
  const tries = metrics.counter('portcullis_deliveries_total', 'Attempts to deliver a mail or webhook message.', [
    'channel',
    'outcome',
  ])
  const streamed = metrics.counter('portcullis_event_output_events_total', 'Events that a receiver accepted.', [
    'group',
    'channel',
  ])
  const store = createDeliveriesStore()
  const outputs = createOutputsStore()
  const changed = () => db.transaction((tx) => deps.hint(tx, 'deliveries'))
  const stop = new AbortController()
  const running = new Set<Promise<unknown>>()
  let groups: DeliveryGroups | null = null
  function asked(): DeliveryGroups {
    if (groups === null) throw new Error('no groups registered')
    return groups
  }
  app.needs('the groups of deliveries', () => groups !== null)
  const plans = () => asked().plans()
  const service = createDeliveries({ ...deps, plans, store, outputs, wake: (tx) => bus.publish(tx, topic) })
  const sender = createSender({
    ...deps,
    webhookOf: (groupId) => asked().webhookOf(groupId),
    isRecipient: (groupId, address) => asked().isRecipient(groupId, address),
    store,
    changed,
    stopping: stop.signal,
    tried: (channel, outcome) => tries.inc({ channel, outcome }),
  })
  const streams = createOutputs({
    ...deps,
    plans,
    store: outputs,
    changed,
    stopping: stop.signal,
    took: (groupId, channel, events) => streamed.inc({ group: String(groupId), channel }, events),
  })
  const list = createList(deliveriesList, deps)

  async function deliver(): Promise<void> {
    if (stop.signal.aborted) return
    const run = Promise.all([sender.deliver(), streams.run()])
    running.add(run)
    await run.finally(() => running.delete(run))
  }
  metrics.read(
    'portcullis_deliveries_stuck',
    'gauge',
    'Messages that wait after an attempt or were permanently rejected.',
    service.stuck,
  )
  metrics.read(
    'portcullis_event_output_behind',
    'gauge',
    'Events after the position of a receiver, including unwanted ones.',
    async () =>
      (await service.listOutputs()).map(({ groupId, channel, behind }) => ({
        labels: { group: String(groupId), channel },
        value: behind,
      })),
  )
  bus.on(topic, () => {
    deliver().catch((error: unknown) => log.warn({ err: error }, 'cannot send deliveries'))
  })

  app.register(listDeliveries, ({ query }) => list.page(query))
  app.register(retryDeliveries, ({ actor, body }) => service.retry(actor, body.ids))
  app.register(dropDeliveries, ({ actor, body }) => service.drop(actor, body.ids))
  app.register(listEventOutputs, () => service.listOutputs())
  app.register(retryEventOutput, ({ actor, body }) => service.retryOutput(actor, body))
  app.register(skipEventOutput, ({ actor, body }) => service.skipOutput(actor, body))

  return {
    /** Registers the groups, once at start. */
    forGroups: (given: DeliveryGroups): void => {
      groups = given
    },
    enqueue: service.enqueue,
    about: service.about,
    begin: service.begin,
    /** Sends everything that is due. */
    deliver,
    sentUpTo: service.sentUpTo,
    health: service.health,
    forget: service.forget,
    /** Ends the current messages and batches, so that no lease delays the next server. */
    close: async (): Promise<void> => {
      stop.abort()
      await Promise.race([Promise.allSettled(running), sleep(stopMs, undefined, { ref: false })])
    },
  }
}
