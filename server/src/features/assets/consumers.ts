import { assetStreamLimits } from '@portcullis/contract'
import { invalid } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import type { createConsumersStore } from './consumers.store.ts'

/** How often the position of a reader is written, and for how long it then counts as there. */
const writeMs = 2_000
const thereMs = 30_000

export type Consumers = ReturnType<typeof createConsumers>

/** Who follows the stream, and how far. */
export const createConsumers = ({ store, clock }: { store: ReturnType<typeof createConsumersStore>; clock: Clock }) => {
  /** When each was written last, by the machine's own time. */
  const written = new Map<string, { at: number; position: number }>()

  return {
    nameOf: (text: string): string => {
      if (/[\p{C}]/u.test(text)) throw invalid('consumer', 'must be printable')
      return text.slice(0, assetStreamLimits.consumerName)
    },

    seen: async (kind: 'http', name: string, position: number): Promise<void> => {
      const last = written.get(name)
      const age = last === undefined ? Number.POSITIVE_INFINITY : performance.now() - last.at
      // Nothing new is written too, but seldom: that it is there.
      if (age < (last?.position === position ? thereMs / 3 : writeMs)) return
      written.set(name, { at: performance.now(), position })
      const now = clock.now()
      await store.seen(kind, name, position, new Date(now), new Date(now + thereMs))
      if (last === undefined) await store.trim(assetStreamLimits.consumers, new Date(now))
    },

    left: async (kind: 'http', name: string, position: number): Promise<void> => {
      written.delete(name)
      await store.seen(kind, name, position, new Date(clock.now()), null)
    },
  }
}
