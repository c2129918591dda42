import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { createAssetsStore } from './assets.store.ts'
import type { AssetsContext } from './context.ts'

/** Assets per transaction: about 60 ms, during which notes and replays wait. */
const batch = 5_000
/** Shortest interval between two hints to consoles. */
const hintMs = 1_000

/** Bus topic: the stream has new messages. */
export const assetsTopic = 'assets'

/**
 * Assigns changed assets their positions in the stream, in one replica at a time, by a row lock that ends with its
 * connection. Transactions that change assets take no lock for it.
 */
export const createSequencer = ({ db, exportDb, clock, bus, log, hint }: AssetsContext) => {
  const store = createAssetsStore(db)
  let hintedAt = Number.NEGATIVE_INFINITY
  let running: Promise<void> | null = null
  /** When waiting changes were first seen, by the monotonic clock. */
  let waitingSince: number | null = null

  /** Notifies the readers and publishers at COMMIT. */
  async function notify(tx: Tx): Promise<void> {
    await bus.publish(tx, assetsTopic)
    if (performance.now() - hintedAt < hintMs) return
    hintedAt = performance.now()
    await hint(tx, 'assets')
  }

  /** Runs one step. Returns true if more may be due. */
  const step = (): Promise<boolean> =>
    db.transaction(async (tx) => {
      if (!(await store.tryLock(tx))) return false
      const { taken, keys } = await store.take(tx, batch)
      if (keys.length > 0) {
        await notify(tx)
        await store.assignPositions(tx, new Date(clock.now()), keys)
      }
      return taken > 0
    })

  /** Replaces changed fingerprints with their peripherals. Returns whether there were any. */
  async function spread(): Promise<boolean> {
    if (!(await store.hasFingerprints())) return false
    try {
      await exportDb.transaction((tx) => store.spreadFingerprints(tx))
      return true
    } catch (error) {
      log.warn({ err: error }, 'cannot list the devices of changed fingerprints; they wait for a position')
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
      // After everything else: a pool without free connections must not hold up all assets.
      const isSpread = await spread()
      if (!isPlaced && !isSpread) return
      waitingSince = performance.now()
    }
  }

  return {
    notify,
    /** Returns the time since which changes have waited for a position, or null if none wait. */
    waitingSince: (): number | null => waitingSince,
    /** Assigns positions to all changes. A call during a run waits for a later run. */
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
