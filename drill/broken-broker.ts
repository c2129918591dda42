/** The broker that assets are published to, as a peer that can break. */
import { freePort } from '../rig/free-port.ts'
import { startNetworkPath } from '../rig/network-path.ts'
import type { BenchServer } from '../rig/server-process.ts'
import type { Finding } from '../rig/verdict.ts'
import { createFollower, messagesOf } from '../server/test/assets.ts'
import { startNats, whyNoNats } from '../server/test/nats.ts'

/** A real NATS server behind a way that can break; in place of it, why there is none. */
export const startBroker = async () => {
  const reason = whyNoNats()
  if (reason !== null) return reason
  const nats = await startNats()
  const way = await startNetworkPath(nats.port, await freePort())
  return {
    way,
    env: { NATS_URL: `nats://127.0.0.1:${way.port}` },
    /** Whether all assets were placed and published. */
    isTold: async (server: BenchServer, token: string): Promise<boolean> => {
      const state = await server.call('/prime/webui/assetproducer/state', undefined, token)
      const { data } = await server.call('/prime/webui/assetproducer/consumers', undefined, token)
      const its = (data as { kind: string; lag: number; error: string }[]).find(({ kind }) => kind === 'nats')
      return state.waiting === 0 && its?.lag === 0 && its.error === ''
    },
    /** What the broker holds, beside what the server tells whoever reads from the beginning. */
    compare: async (server: BenchServer, token: string): Promise<Finding[]> => {
      const published = createFollower()
      for (const { text } of await nats.held()) for (const message of messagesOf(text)) published.apply(message)
      const told = createFollower()
      const answer = await fetch(`${server.url}/prime/webui/assetproducer/stream?after=0&follow=false`, {
        headers: { authorization: `Bearer ${token}` },
      })
      for (const message of messagesOf(await answer.text())) told.apply(message)
      const [theirs, ours] = [published.held(), told.held()]
      const wrong = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].filter(
        (subject) => JSON.stringify(ours[subject]) !== JSON.stringify(theirs[subject]),
      )
      return [
        { what: 'assets', value: Object.keys(ours).length, atLeast: 32 },
        { what: 'assets that NATS lacks or has otherwise', value: wrong.length, atMost: 0 },
        { what: 'came again by NATS, with the same id', value: published.duplicates },
      ]
    },
    close: async (): Promise<void> => {
      await way.close()
      await nats.stop()
    },
  }
}
