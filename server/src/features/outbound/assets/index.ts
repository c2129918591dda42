import type { Audit } from '#features/system/audit/index.ts'
import type { JobsApi } from '#features/system/jobs/index.ts'
import type { Clock } from '#platform/clock.ts'
import type { Bus } from '#platform/db/bus.ts'
import type { Db } from '#platform/db/db.ts'
import type { ResolveDestination } from '#platform/destinations.ts'
import type { Actor } from '#platform/http/actor.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { Hint } from '#platform/live.ts'
import type { Log } from '#platform/log.ts'
import type { Metrics } from '#platform/metrics.ts'
import type { Secret } from '#platform/secret.ts'
import { createAssetsRead } from './assets.read.ts'
import { registerAssetRoutes } from './assets.routes.ts'
import { createAssetsStore } from './assets.store.ts'
import { createConsumersStore } from './consumers.store.ts'
import { createConsumers } from './consumers.ts'
import { createKafkaSink } from './kafka.ts'
import { createLocations } from './locations.ts'
import { createNatsSink } from './nats.ts'
import { createPublisher } from './publisher.ts'
import { createReplay } from './replay.ts'
import { assetsTopic, createSequencer } from './sequencer.ts'
import { createState } from './state.ts'
import { createStream } from './stream.ts'

export interface AssetsDeps {
  db: Db
  exportDb: Db
  clock: Clock
  log: Log
  bus: Bus
  metrics: Metrics
  audit: Audit
  jobs: Pick<JobsApi, 'enqueue' | 'handle'>
  /** Where NATS is, with its credentials; null: not in use. */
  natsUrl: Secret | null
  /** Brokers of Kafka, `host:port`; none: not in use. Experimental. */
  kafkaBrokers: readonly string[]
  resolve: ResolveDestination
  hint: Hint
  /** Whether a bearer token still counts: of whom; null: it does not. */
  authenticate(token: string, ip: string): Promise<Actor | null>
}

const keptNotesMs = 30 * 24 * 3_600_000
/** After a change was told, its place is given so soon: what changes together gets its places together. */
const soonMs = 20

/** The inventory as a stream: what changed, in order, to whoever follows. */
export const assetsFeature = (app: HttpApp, deps: AssetsDeps) => {
  const { db, bus, log, clock, metrics } = deps
  const store = createAssetsStore(db)
  const read = createAssetsRead(db)
  const consumersStore = createConsumersStore(db)
  const sequencer = createSequencer({ ...deps, store })
  const consumers = createConsumers({ ...deps, store: consumersStore })
  const stream = createStream({ ...deps, read, sequencer, consumers })
  const replay = createReplay({ ...deps, store, sequencer })
  const locations = createLocations({ ...deps, store, sequencer })

  const published = metrics.counter('portcullis_asset_published_total', 'Asset messages a sink acknowledged.', ['sink'])
  const failures = metrics.counter('portcullis_asset_publish_failures_total', 'Tries to publish assets that failed.', [
    'sink',
  ])
  const source = read.instance
  const sinks = [
    ...(deps.natsUrl === null ? [] : [createNatsSink({ url: deps.natsUrl, source, resolve: deps.resolve })]),
    ...(deps.kafkaBrokers.length === 0 ? [] : [createKafkaSink(deps.kafkaBrokers, deps.resolve)]),
  ]
  const publishers = sinks.map((sink) =>
    createPublisher(sink, { clock, log, read, store: consumersStore, published, failures }),
  )
  const state = createState({
    store,
    read,
    sequencer,
    consumers,
    stream,
    replay,
    locations,
    publishers,
    now: clock.now,
  })
  metrics.read('portcullis_asset_sequence', 'gauge', 'Place of the newest asset message.', read.newest)
  metrics.read('portcullis_asset_waiting', 'gauge', 'Changes of assets without a place, up to 100,000.', state.waiting)
  metrics.read('portcullis_asset_readers', 'gauge', 'HTTP readers of the asset stream.', stream.readers)
  registerAssetRoutes(app, { stream, replay, locations, consumers, state })

  let closed = false
  async function publish(): Promise<void> {
    await Promise.all(publishers.map((publisher) => publisher.run()))
  }
  function publishSoon(): void {
    for (const publisher of publishers)
      if (!publisher.isRunning())
        publisher.run().catch((error: unknown) => log.warn({ err: error }, 'publishing assets failed'))
  }
  function onLonger(): void {
    if (closed) return
    stream.wake()
    publishSoon()
  }
  bus.on(assetsTopic, onLonger)
  bus.onGap(onLonger)
  let isDue = false
  // Changes of the fleet are told as they commit: their places need not wait for the timer.
  bus.on('fleet', () => {
    if (isDue) return
    isDue = true
    setTimeout(() => {
      isDue = false
      if (!closed)
        sequencer.run().catch((error: unknown) => log.warn({ err: error }, 'giving assets their places failed'))
    }, soonMs).unref()
  })

  return {
    /** Gives what changed its places in the stream. */
    sequence: sequencer.run,
    /** Publishes to sinks what they do not have. */
    publish,
    /** As publish, but not where it is at it. */
    publishSoon: async (): Promise<void> => publishSoon(),
    health: state.health,
    /** Drops what is kept for a time only. */
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
