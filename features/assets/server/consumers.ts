import { AppError, invalid, notFound } from '@portcullis/platform/server/app-error.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { type AssetConsumer, assetStreamLimits } from '#features/contract.ts'
import { createConsumersStore } from './consumers.store.ts'
import type { AssetsContext } from './context.ts'

/** How often the position of a reader is saved, and how long the reader then counts as connected. */
const writeMs = 2_000
const thereMs = 30_000

export type Consumers = ReturnType<typeof createConsumers>

/** Tracks the consumers of the stream and their positions. */
export const createConsumers = ({ db, clock, audit }: AssetsContext) => {
  const store = createConsumersStore(db)
  /** Last save of each reader, by the monotonic clock. */
  const written = new Map<string, { at: number; position: number }>()

  return {
    nameOf: (text: string): string => {
      if (/\p{C}/u.test(text)) throw invalid('consumer', 'must be printable')
      return text.slice(0, assetStreamLimits.consumerName)
    },

    seen: async (accountId: string | null, name: string, position: number): Promise<void> => {
      const last = written.get(name)
      const age = last === undefined ? Number.POSITIVE_INFINITY : performance.now() - last.at
      // An unchanged position is saved too, but less often: it shows that the reader is connected.
      if (age < (last?.position === position ? thereMs / 3 : writeMs)) return
      written.set(name, { at: performance.now(), position })
      const now = clock.now()
      await store.seen(accountId, name, position, new Date(now), new Date(now + thereMs))
      if (last === undefined) await store.trim(accountId, new Date(now))
    },

    left: async (accountId: string | null, name: string, position: number): Promise<void> => {
      written.delete(name)
      await store.seen(accountId, name, position, new Date(clock.now()), null)
    },

    list: async (): Promise<{ data: AssetConsumer[] }> => ({ data: await store.list(new Date(clock.now())) }),

    forget: (actor: Actor, kind: string, name: string): Promise<{ forgotten: AssetConsumer }> =>
      db.transaction(async (tx) => {
        const found = await store.one(tx, kind, name, new Date(clock.now()))
        if (found === undefined) throw notFound('This consumer does not exist.')
        const { leased, ...forgotten } = found
        if (leased)
          throw new AppError('conflict', {
            detail:
              kind === 'http'
                ? 'This consumer is connected. Stop it first.'
                : 'This sink is configured. Remove it from the configuration first.',
          })
        await store.forget(tx, kind, name)
        await audit.write(tx, actor, {
          action: 'assets.consumerForgotten',
          entity: `Asset stream: ${name}`,
          details: `${kind}, position ${forgotten.position}`,
        })
        return { forgotten }
      }),
  }
}
