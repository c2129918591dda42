import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { isId } from '@portcullis/platform/server/ids.ts'
import type { AssetLocationEntry } from '#features/contract.ts'
import { createAssetsStore, type Note } from './assets.store.ts'
import type { AssetsContext } from './context.ts'
import { createLocationsStore } from './locations.store.ts'
import type { Sequencer } from './sequencer.ts'

const hostsAtOnce = 2_000
/** Locations per transaction; one host may have hundreds. */
const locationsAtOnce = 4_000
/** Time limit of one call. The next call continues. */
const mostMs = 3_000
const countLimit = 100_000
const keptMs = 400 * 24 * 3_600_000
const keptPerHost = 1_000

/** Lists the locations of hosts and announces previous ones to consumers. */
export const createLocations = ({ db, clock, audit }: AssetsContext, { notify }: Sequencer) => {
  const store = createAssetsStore(db)
  const previous = createLocationsStore(db)

  const announce = (actor: Actor): Promise<number> =>
    db.transaction(async (tx) => {
      const left = await previous.take(tx, hostsAtOnce, locationsAtOnce)
      if (left.length === 0) return 0
      const notes = left.map(
        ({ agent_id, host, since, until, location }): Note => ({
          type: 'asset.location.previous',
          subject: `agent/${agent_id}`,
          data: { uuid: agent_id, hostIdentifier: host, since, until, location },
        }),
      )
      await notify(tx)
      await store.note(tx, new Date(clock.now()), notes)
      await audit.write(tx, actor, {
        action: 'assets.oldLocationsSent',
        entity: 'Asset stream',
        details: `${notes.length} previous locations`,
        count: notes.length,
      })
      return notes.length
    })

  return {
    of: async (agentId: string): Promise<{ data: AssetLocationEntry[] }> => ({
      data: isId(agentId) ? await previous.of(agentId) : [],
    }),
    due: (): Promise<number> => previous.due(countLimit),
    send: async (actor: Actor): Promise<{ published: number }> => {
      const startedAt = performance.now()
      let published = 0
      for (let n = -1; n !== 0 && performance.now() - startedAt < mostMs; published += n) n = await announce(actor)
      return { published }
    },
    trim: (): Promise<number> => previous.trim(new Date(clock.now() - keptMs), keptPerHost),
  }
}
