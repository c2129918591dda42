import type { AuditApi } from '#features/audit/index.ts'
import type { JobsApi } from '#features/jobs/index.ts'
import type { Clock } from '#platform/clock.ts'
import type { Bus } from '#platform/db/bus.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Actor } from '#platform/http/actor.ts'
import type { HttpApp } from '#platform/http/http-app.ts'
import type { Log } from '#platform/log.ts'
import { createAssetsRead } from './assets.read.ts'
import { registerAssetRoutes } from './assets.routes.ts'
import { createAssetsStore } from './assets.store.ts'
import { createConsumersStore } from './consumers.store.ts'
import { createConsumers } from './consumers.ts'
import { createLocations } from './locations.ts'
import { createReplay } from './replay.ts'
import { assetsTopic, createSequencer } from './sequencer.ts'
import { createStream } from './stream.ts'

export interface AssetsDeps {
  db: Db
  exportDb: Db
  clock: Clock
  log: Log
  bus: Bus
  audit: Pick<AuditApi, 'write'>
  jobs: Pick<JobsApi, 'enqueue' | 'handle'>
  hint(tx: Tx): Promise<void>
  /** Whether a bearer token still counts: of whom; null: it does not. */
  authenticate(token: string, ip: string): Promise<Actor | null>
}

/** The inventory as a stream: what changed, in order, to whoever follows. */
export const assetsFeature = (app: HttpApp, deps: AssetsDeps) => {
  const { db, bus, log } = deps
  const store = createAssetsStore(db)
  const read = createAssetsRead(db)
  const sequencer = createSequencer({ ...deps, store })
  const consumers = createConsumers({ ...deps, store: createConsumersStore(db) })
  const stream = createStream({ ...deps, read, sequencer, consumers })
  const replay = createReplay({ ...deps, store, sequencer })
  const locations = createLocations({ ...deps, store, sequencer })
  registerAssetRoutes(app, { stream, replay, locations })
  bus.on(assetsTopic, stream.wake)
  bus.onGap(stream.wake)
  let isDue = false
  let closed = false
  // Changes of the fleet are told as they commit: their places need not wait for the timer.
  bus.on('fleet', () => {
    if (isDue) return
    isDue = true
    setTimeout(() => {
      isDue = false
      if (closed) return
      sequencer.run().catch((error: unknown) => log.warn({ err: error }, 'giving assets their places failed'))
    }, 20).unref()
  })

  return {
    /** Gives what changed its places in the stream. */
    sequence: sequencer.run,
    close: (): void => {
      closed = true
      stream.close()
    },
  }
}
