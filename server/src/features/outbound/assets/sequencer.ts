import type { Clock } from '#platform/clock.ts'
import type { Bus } from '#platform/db/bus.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Hint } from '#platform/live.ts'
import type { Log } from '#platform/log.ts'
import type { AssetsStore } from './assets.store.ts'

/** Assets of one transaction: some 60 ms, during which notes and replays wait. */
const batch = 5_000
/** Consoles are told at most this often. */
const hintMs = 1_000

/** Topic of the bus: the stream is longer. */
export const assetsTopic = 'assets'

export interface SequencerDeps {
  db: Db
  /** A pool whose statements may take long: a design of a million peripherals. */
  exportDb: Db
  clock: Clock
  bus: Pick<Bus, 'publish'>
  log: Log
  store: AssetsStore
  hint: Hint
}

/**
 * Gives changed assets their places in the stream: one replica at a time, by a row lock that dies with its connection. The
 * transactions that change assets take no lock for it.
 */
export const createSequencer = ({ db, exportDb, clock, bus, log, store, hint }: SequencerDeps) => {
  let hintedAt = Number.NEGATIVE_INFINITY
  let running: Promise<void> | null = null
  /** Since when changes are seen to wait, by the machine's own time. */
  let waitingSince: number | null = null

  /** Tells, at COMMIT, who follows. */
  async function tell(tx: Tx): Promise<void> {
    await bus.publish(tx, assetsTopic)
    if (performance.now() - hintedAt < hintMs) return
    hintedAt = performance.now()
    await hint(tx, 'assets')
  }

  /** True when there may be more. */
  const step = (): Promise<boolean> =>
    db.transaction(async (tx) => {
      if (!(await store.tryLock(tx))) return false
      const { taken, keys } = await store.take(tx, batch)
      if (keys.length > 0) {
        await tell(tx)
        await store.place(tx, new Date(clock.now()), keys)
      }
      return taken > 0
    })

  /** Names the devices of designs that changed; true when it did. */
  async function spread(): Promise<boolean> {
    if (!(await store.hasDesigns())) return false
    try {
      await exportDb.transaction((tx) => store.spreadDesigns(tx))
      return true
    } catch (error) {
      log.warn({ err: error }, 'devices of changed designs wait for their place')
      return false
    }
  }

  async function work(): Promise<void> {
    for (;;) {
      if (!(await store.isDirty())) {
        waitingSince = null
        return
      }
      waitingSince ??= performance.now()
      const isPlaced = await step()
      // After what has a place of its own: a pool whose connections are all read from must not hold up every asset.
      const isSpread = await spread()
      if (!isPlaced && !isSpread) return
      waitingSince = performance.now()
    }
  }

  return {
    tell,
    /** Since when changes wait without any getting a place; null: none do. */
    waitingSince: (): number | null => waitingSince,
    /** Works off what changed; who asks while it is at it waits for a run that began after he asked. */
    run: async (): Promise<void> => {
      for (let other = running; other !== null; other = running) {
        await other.catch(() => {})
        if (running === other) running = null
      }
      const mine = work()
      running = mine
      try {
        await mine
      } finally {
        if (running === mine) running = null
      }
    },
  }
}

export type Sequencer = ReturnType<typeof createSequencer>
