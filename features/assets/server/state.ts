import type { AssetStreamState } from '#features/contract.ts'
import { createAssetsRead } from './assets.read.ts'
import { createAssetsStore } from './assets.store.ts'
import type { Consumers } from './consumers.ts'
import type { AssetsContext } from './context.ts'
import type { createLocations } from './locations.ts'
import type { Publisher } from './publisher.ts'
import type { createReplay } from './replay.ts'
import type { Sequencer } from './sequencer.ts'
import type { createStream } from './stream.ts'

/** Age of waiting changes at which the sequencer is stuck or too slow. */
const warnSeconds = 30
const errorSeconds = 300
const countLimit = 100_000
const dayMs = 86_400_000

export const createState = (
  { db, clock }: AssetsContext,
  parts: {
    sequencer: Sequencer
    consumers: Consumers
    stream: ReturnType<typeof createStream>
    replay: ReturnType<typeof createReplay>
    locations: ReturnType<typeof createLocations>
    publishers: readonly Publisher[]
  },
) => {
  const { sequencer, consumers, stream, replay, locations, publishers } = parts
  const store = createAssetsStore(db)
  const read = createAssetsRead(db)
  const waiting = (): Promise<number> => store.waiting(countLimit)
  function waitingSeconds(): number | null {
    const since = sequencer.waitingSince()
    return since === null ? null : Math.max(0, (performance.now() - since) / 1000)
  }

  return {
    waiting,
    read: async (): Promise<AssetStreamState> => ({
      source: `urn:portcullis:${await read.instance()}`,
      newest: await read.newest(),
      waiting: await waiting(),
      waitingSeconds: waitingSeconds(),
      readers: stream.readers(),
      oldLocations: await locations.due(),
      replay: await replay.last(),
    }),

    /** Rates sinks and the sequencer. HTTP readers that stay away do not count. Unknown without any consumer. */
    health: async (): Promise<{ status: 'OK' | 'Warning' | 'Error' | 'Unknown'; description: string }> => {
      const [{ data }, newest, n] = [await consumers.list(), await read.newest(), await waiting()]
      const seconds = n === 0 ? 0 : (waitingSeconds() ?? 0)
      const sinks = data.filter(({ kind, name }) =>
        publishers.some((p) => p.state().kind === kind && p.state().name === name),
      )
      const readers = data.filter(({ kind }) => kind === 'http')
      const late = seconds > errorSeconds ? 'Error' : seconds > warnSeconds ? 'Warning' : 'OK'
      if (late !== 'OK')
        return {
          status: late,
          description: `${n} asset changes have waited for ${Math.round(seconds)} s. Check the server log and the database.`,
        }
      const failing = sinks.find(({ error }) => error !== '')
      if (failing !== undefined) {
        const isLong = clock.now() - Date.parse(`${failing.lastSeen}`) > dayMs
        return {
          status: isLong ? 'Error' : 'Warning',
          description: `${failing.name}: ${failing.error} ${failing.lag === 1 ? '1 message waits' : `${failing.lag} messages wait`} in the database. The server tries again at least once a minute.`,
        }
      }
      if (publishers.length === 0 && readers.length === 0) return { status: 'Unknown', description: 'Not configured' }
      const parts = [
        ...sinks.map(({ name, lag }) => `${name}: ${lag === 0 ? 'up to date' : `${lag} messages behind`}`),
        ...(readers.length === 0
          ? []
          : [
              `${readers.filter(({ isConnected }) => isConnected).length} of ${readers.length} HTTP consumers connected`,
            ]),
      ]
      return { status: 'OK', description: `Newest message ${newest}. ${parts.join('; ')}.` }
    },
  }
}
