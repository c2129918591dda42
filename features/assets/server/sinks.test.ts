import { storageStick, unless } from '@portcullis/domain/testing'
import { createDestinations } from '@portcullis/platform/server/destinations.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import { startTestApp } from '@portcullis/server/test/app.ts'
import { createFollower, inventoryOfApp, messagesOf } from '@portcullis/server/test/assets.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { startKafka } from '@portcullis/server/test/kafka.ts'
import { startNats, whyNoNats } from '@portcullis/server/test/nats.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StreamMessage } from './assets.read.ts'
import { createKafkaSink, kafkaKey } from './kafka.ts'
import { createNatsSink } from './nats.ts'
import type { AssetSink } from './sink.ts'

/** A peer for the sink contract. */
interface Peer {
  sink(): AssetSink
  /** Returns the ids of its messages, in order per asset. */
  held(): Promise<{ subject: string; id: string }[]>
  kill(): Promise<void>
  start(): Promise<void>
  stop(): Promise<void>
}

const resolve = createDestinations(['127.0.0.0/8', '::1'])
const instance = '5c9c1f5e-6f8b-4f0e-9d53-0f2f4b6f0a11'
const messageOf = (sequence: number): StreamMessage => {
  const subject = `peripheral/agent-${sequence}/USB\\${sequence}`
  return {
    sequence,
    type: 'asset.upserted',
    subject,
    text: JSON.stringify({ id: String(sequence), subject, ü: 'ü\u2028"' }),
  }
}
const range = (from: number, to: number): StreamMessage[] =>
  Array.from({ length: to - from + 1 }, (_, n) => messageOf(from + n))

const kafkaPeer = async (): Promise<Peer> => {
  const kafka = await startKafka()
  return {
    sink: () => createKafkaSink([kafka.broker], resolve, 2_000),
    held: async () =>
      kafka.records.map(({ key, value }) => {
        const { id, subject } = JSON.parse(value) as { id: string; subject: string }
        expect(key).toBe(subject)
        return { subject, id }
      }),
    kill: kafka.stop,
    start: kafka.start,
    stop: kafka.stop,
  }
}
const natsPeer = async (): Promise<Peer> => {
  const nats = await startNats()
  return {
    sink: () => createNatsSink({ url: new Secret(nats.url), source: async () => instance, resolve }),
    held: async () => (await nats.held()).map(({ text }) => JSON.parse(text) as { subject: string; id: string }),
    kill: nats.kill,
    start: nats.start,
    stop: nats.stop,
  }
}

const peers: [string, string | null, () => Promise<Peer>][] = [
  ['NATS JetStream', whyNoNats(), natsPeer],
  ['Kafka (a stub of its protocol)', null, kafkaPeer],
]
for (const [name, reason, make] of peers)
  describe(`the contract of sinks: ${name}`, unless(reason), () => {
    let peer: Peer
    beforeAll(async () => {
      peer = await make()
    })
    afterAll(() => peer?.stop())

    it('publishes all messages unchanged and once, and works again after close', async () => {
      const sink = peer.sink()
      expect(await sink.begin(0)).toBe(0)
      await sink.publish(range(1, 200))
      await sink.publish(range(201, 256))
      await sink.close()
      await sink.close()
      expect(await sink.begin(256)).toBe(256)
      await sink.publish(range(257, 260))
      await sink.close()
      const ids = (await peer.held()).map(({ id }) => Number(id)).sort((a, b) => a - b)
      expect(ids).toEqual(range(1, 260).map(({ sequence }) => sequence))
    })

    it('reports an unavailable peer, and continues without loss when it is back', async () => {
      const sink = peer.sink()
      await sink.begin(260)
      await peer.kill()
      await expect(sink.publish(range(261, 300))).rejects.toThrow()
      await sink.close()
      await expect(sink.begin(260)).rejects.toThrow()
      await peer.start()
      const from = await sink.begin(260)
      await sink.publish(range(from + 1, 300))
      await sink.close()
      const ids = new Set((await peer.held()).map(({ id }) => Number(id)))
      expect(ids).toEqual(new Set(range(1, 300).map(({ sequence }) => sequence)))
    })

    it('refuses to publish without a connection', async () => {
      await expect(peer.sink().publish(range(1, 1))).rejects.toThrow('The connection was closed.')
    })
  })

describe('Kafka', () => {
  it('gets messages again with the same ids from a server that crashed before it saved the acknowledgement', async () => {
    const kafka = await startKafka()
    try {
      for (let life = 0; life < 2; life++) {
        const sink = createKafkaSink([kafka.broker], resolve, 2_000)
        await sink.begin(0)
        await sink.publish(range(1, 50))
        await sink.close()
      }
      const ids = kafka.records.map(({ value }) => Number((JSON.parse(value) as { id: string }).id))
      expect(ids).toHaveLength(100)
      expect(new Set(ids)).toEqual(new Set(range(1, 50).map(({ sequence }) => sequence)))
    } finally {
      await kafka.stop()
    }
  })

  it('gets the same batch again after a connection lost before the acknowledgement, and stores it once', async () => {
    const kafka = await startKafka()
    try {
      const sink = createKafkaSink([kafka.broker], resolve, 2_000)
      await sink.begin(0)
      kafka.dieAfter(0)
      await sink.publish(range(1, 50))
      await sink.close()
      expect(kafka.records).toHaveLength(50)
    } finally {
      await kafka.stop()
    }
  })

  it('is filled by a server that has its brokers configured', async () => {
    const kafka = await startKafka()
    const t = await startTestApp({ listen: true, kafkaBrokers: [kafka.broker] })
    try {
      await enrolAgent(t, { devices: [storageStick({ serial: 'K1' })] })
      await t.assets.sequence()
      await t.assets.publish()
      const follower = createFollower()
      for (const { value } of kafka.records) for (const message of messagesOf(value)) follower.apply(message)
      expect(follower.held()).toEqual(await inventoryOfApp(t))
      const { data } = (await (await t.admin()).get('/prime/webui/assetproducer/consumers')).json()
      expect(data).toMatchObject([
        { kind: 'kafka', name: `Kafka (experimental) at ${kafka.broker}`, lag: 0, error: '' },
      ])
    } finally {
      await t.close()
      await kafka.stop()
    }
  })

  it('uses separate keys for messages without state', () => {
    const of = (type: string, subject: string) => kafkaKey({ type, subject, sequence: 9, text: '' })
    expect(of('asset.upserted', 'agent/a')).toBe('agent/a')
    expect(of('asset.removed', 'agent/a')).toBe('agent/a')
    expect(of('asset.location.previous', 'agent/a')).toBe('location/agent/a/9')
    expect(of('replay.started', 'replay/j')).toBe('replay/j/replay.started')
  })
})
