import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createAssetsRead } from './assets.read.ts'
import { registerAssetRoutes } from './assets.routes.ts'
import { createAssetsStore } from './assets.store.ts'
import { createConsumers } from './consumers.ts'
import type { AssetsContext } from './context.ts'
import { createKafkaSink } from './kafka.ts'
import { createLocations } from './locations.ts'
import { createNatsSink } from './nats.ts'
import { createPublisher } from './publisher.ts'
import { createReplay } from './replay.ts'
import { assetsTopic, createSequencer } from './sequencer.ts'
import { createState } from './state.ts'
import { createStream } from './stream.ts'

const keptNotesMs = 30 * 24 * 3_600_000
/** Delay before the positions of a change are assigned, so that simultaneous changes share one step. */
const soonMs = 20

/** Wires the asset stream: the changes of the inventory, in order, for HTTP readers and sinks. */
export const assetsFeature = (app: HttpApp, context: AssetsContext) => {
  const { config, db, bus, log, clock, metrics, resolve } = context
  const store = createAssetsStore(db)
  const read = createAssetsRead(db)
  const sequencer = createSequencer(context)
  const consumers = createConsumers(context)
  const stream = createStream(context, sequencer, consumers)
  const replay = createReplay(context, sequencer)
  const locations = createLocations(context, sequencer)

  const published = metrics.counter('portcullis_asset_published_total', 'Asset messages that a sink acknowledged.', [
    'sink',
  ])
  const failures = metrics.counter(
    'portcullis_asset_publish_failures_total',
    'Failed attempts to publish asset messages.',
    ['sink'],
  )
  const source = read.instance
  const sinks = [
    ...(config.natsUrl === null ? [] : [createNatsSink({ url: config.natsUrl, source, resolve })]),
    ...(config.kafkaBrokers.length === 0 ? [] : [createKafkaSink(config.kafkaBrokers, resolve)]),
  ]
  const publishers = sinks.map((sink) => createPublisher(sink, context, { published, failures }))
  const state = createState(context, { sequencer, consumers, stream, replay, locations, publishers })
  metrics.read('portcullis_asset_sequence', 'gauge', 'Position of the newest asset message.', read.newest)
  metrics.read('portcullis_asset_waiting', 'gauge', 'Asset changes without a position, up to 100,000.', state.waiting)
  metrics.read('portcullis_asset_readers', 'gauge', 'HTTP readers of the asset stream.', stream.readers)
  registerAssetRoutes(app, { stream, replay, locations, consumers, state })

  let closed = false
  async function publish(): Promise<void> {
    await Promise.all(publishers.map((publisher) => publisher.run()))
  }
  function publishSoon(): void {
    for (const publisher of publishers)
      if (!publisher.isRunning())
        publisher.run().catch((error: unknown) => log.warn({ err: error }, 'cannot publish asset messages'))
  }
  function onLonger(): void {
    if (closed) return
    stream.wake()
    publishSoon()
  }
  bus.on(assetsTopic, onLonger)
  bus.onGap(onLonger)
  let isDue = false
  // Changes of the fleet are announced as they commit: their positions need not wait for the timer.
  bus.on('fleet', () => {
    if (isDue) return
    isDue = true
    setTimeout(() => {
      isDue = false
      if (!closed)
        sequencer.run().catch((error: unknown) => log.warn({ err: error }, 'cannot assign positions to changed assets'))
    }, soonMs).unref()
  })

  return {
    /** Assigns positions to all changes. */
    sequence: sequencer.run,
    /** Publishes the messages that sinks do not have yet. */
    publish,
    /** Publishes like `publish`, but skips sinks that are publishing already. */
    publishSoon: async (): Promise<void> => publishSoon(),
    health: state.health,
    /** Deletes expired notes and locations. */
    maintain: async (): Promise<void> => {
      await store.forgetNotes(new Date(clock.now() - keptNotesMs))
      await locations.trim()
    },
    close: async (): Promise<void> => {
      closed = true
      stream.close()
      await Promise.all(publishers.map((publisher) => publisher.close()))
    },
  }
}
