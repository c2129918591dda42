import { hostname } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createList } from '@portcullis/platform/server/list/list.ts'
import {
  dropDeliveries,
  listDeliveries,
  listEventOutputs,
  retryDeliveries,
  retryEventOutput,
  skipEventOutput,
} from '#features/contract.ts'
import type { DeliveriesContext } from './context.ts'
import { deliveriesList } from './deliveries.read.ts'
import { createDeliveries, deliveriesTopic } from './deliveries.service.ts'
import type { DeliveryGroups } from './groups.ts'
import type { MailApi } from './mail/index.ts'
import { createOutputs } from './outputs.runner.ts'
import { createSender } from './sender.ts'
import type { SiemSource } from './siem/index.ts'

export type { OutputPlan, WebhookTarget } from './groups.ts'
export { deviceOf, namesOf } from './siem-event.ts'
export type DeliveriesApi = ReturnType<typeof deliveriesFeature>

/** How long a stopping server waits for receivers. Another server sends the rest when the leases expire. */
const stopMs = 5_000

/** Wires the outbox of messages and the event streams for people, webhooks and SIEMs. */
export const deliveriesFeature = (app: HttpApp, context: DeliveriesContext & { mail: MailApi }) => {
  const { db, bus, log, mail, metrics, settings } = context
  const changed = (): Promise<void> => db.transaction((tx) => context.hint(tx, 'deliveries'))
  const stop = new AbortController()
  const running = new Set<Promise<unknown>>()
  let groups: DeliveryGroups | null = null
  function registered(): DeliveryGroups {
    if (groups === null) throw new Error('no groups registered')
    return groups
  }
  app.needs('the groups of deliveries', () => groups !== null)
  const source = (): SiemSource => ({
    version: context.version,
    instance: settings.publicUrl()?.hostname ?? hostname(),
  })
  const service = createDeliveries(context, mail, registered)
  const sender = createSender(context, mail, registered, changed, stop.signal)
  const streams = createOutputs(context, registered, source, changed, stop.signal)
  const list = createList(deliveriesList, context)

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
  bus.on(deliveriesTopic, () => {
    deliver().catch((error: unknown) => log.warn({ err: error }, 'cannot send deliveries'))
  })

  app.register(listDeliveries, ({ query }) => list.page(query))
  app.register(retryDeliveries, ({ actor, body }) => service.retry(actor, body.ids))
  app.register(dropDeliveries, ({ actor, body }) => service.drop(actor, body.ids))
  app.register(listEventOutputs, () => service.listOutputs())
  app.register(retryEventOutput, ({ actor, body }) => service.retryOutput(actor, body))
  app.register(skipEventOutput, ({ actor, body }) => service.skipOutput(actor, body))

  return {
    ...service,
    /** Registers the groups, once at start. */
    forGroups: (given: DeliveryGroups): void => {
      groups = given
    },
    /** The sender that messages to SIEMs name. */
    source,
    /** Sends everything that is due. */
    deliver,
    /** Finishes the current messages and batches, so that no lease delays the next server. */
    close: async (): Promise<void> => {
      stop.abort()
      await Promise.race([Promise.allSettled(running), sleep(stopMs, undefined, { ref: false })])
    },
  }
}
