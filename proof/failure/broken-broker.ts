/** Runs the broker that receives assets, behind a network path that can break. */

import { createFollower, messagesOf } from '../../server/test/assets.ts'
import { startNats, whyNoNats } from '../../server/test/nats.ts'
import type { Installation } from '../kit/installation.ts'
import { startRelay } from '../kit/relay.ts'
import { atLeast, atMost, type Finding, figure } from '../kit/verdict.ts'

/** Starts a real NATS server behind a breakable path, or returns the reason why NATS is unavailable. */
export const startBroker = async () => {
  const reason = whyNoNats()
  if (reason !== null) return reason
  const nats = await startNats()
  const path = await startRelay(nats.port)
  return {
    path,
    env: { NATS_URL: `nats://127.0.0.1:${path.port}` },
    /** Returns whether every asset has been published to NATS. */
    isPublished: async (server: Installation, token: string): Promise<boolean> => {
      const state = await server.call('/prime/webui/assetproducer/state', undefined, token)
      const { data } = await server.call('/prime/webui/assetproducer/consumers', undefined, token)
      const its = (data as { kind: string; lag: number; error: string }[]).find(({ kind }) => kind === 'nats')
      return state.waiting === 0 && its?.lag === 0 && its.error === ''
    },
    /** Compares the assets in the broker with the server's stream, read from the beginning. */
    compare: async (server: Installation, token: string): Promise<Finding[]> => {
      const published = createFollower()
      for (const { text } of await nats.held()) for (const message of messagesOf(text)) published.apply(message)
      const streamed = createFollower()
      const answer = await fetch(`${server.url}/prime/webui/assetproducer/stream?after=0&follow=false`, {
        headers: { authorization: `Bearer ${token}` },
      })
      for (const message of messagesOf(await answer.text())) streamed.apply(message)
      const [theirs, ours] = [published.held(), streamed.held()]
      const wrong = [...new Set([...Object.keys(ours), ...Object.keys(theirs)])].filter(
        (subject) => JSON.stringify(ours[subject]) !== JSON.stringify(theirs[subject]),
      )
      return [
        atLeast('assets', Object.keys(ours).length, 32),
        atMost('assets that NATS lacks or has otherwise', wrong.length, 0),
        figure('came again by NATS, with the same id', published.duplicates),
      ]
    },
    close: async (): Promise<void> => {
      await path.close()
      await nats.stop()
    },
  }
}
