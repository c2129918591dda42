import type { Producer } from '@platformatic/kafka'
import type { ResolveDestination } from '@portcullis/platform/server/destinations.ts'
import type { StreamMessage } from './assets.read.ts'
import type { AssetSink } from './sink.ts'

const topic = 'portcullis.assets'
const connectMs = 5_000
/** Shorter than the lease of the publisher. */
const ackMs = 10_000
const atOnce = 256

/** Key of a message: the same for all states of one asset, so that a compacted topic keeps only the newest. */
export const kafkaKey = ({ type, subject, sequence }: StreamMessage): string =>
  type === 'asset.location.previous'
    ? `location/${subject}/${sequence}`
    : subject.startsWith('replay/')
      ? `${subject}/${type}`
      : subject

/** Limits the time of a call: a broker that died may never answer. */
const inTime = async <T>(work: Promise<T>, milliseconds: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the broker did not answer')), milliseconds)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Publishes to Kafka. Experimental: tested only against a stub of the protocol, without TLS and authentication. If a
 * server dies after an acknowledgement and before saving the position, it publishes those messages again with the same
 * ids.
 */
export const createKafkaSink = (
  brokers: readonly string[],
  resolve: ResolveDestination,
  limitMs = ackMs,
): AssetSink => {
  let producer: Producer<string, string, string, string> | null = null
  async function close(): Promise<void> {
    const last = producer
    producer = null
    if (last !== null) await inTime(last.close(true), limitMs).catch(() => {})
  }

  return {
    kind: 'kafka',
    name: `Kafka (experimental) at ${brokers.join(', ')}`,
    most: atOnce,

    begin: async (saved) => {
      await close()
      for (const broker of brokers) await resolve(broker.replace(/:\d+$/, ''))
      // Imported here, because compiling its schemas takes a second, half the start of a server.
      const { ProduceAcks, Producer, stringSerializers } = await import('@platformatic/kafka')
      const made = new Producer({
        clientId: 'portcullis',
        bootstrapBrokers: [...brokers],
        connectTimeout: Math.min(connectMs, limitMs),
        timeout: limitMs,
        // The publisher retries with back-off.
        retries: 0,
        idempotent: true,
        acks: ProduceAcks.ALL,
        autocreateTopics: true,
        serializers: stringSerializers,
      })
      // Connection errors surface in the calls themselves.
      made.on('error', () => {})
      producer = made
      await inTime(made.metadata({ topics: [topic], autocreateTopics: true, retries: 0 }), limitMs)
      return saved
    },

    publish: async (messages) => {
      if (producer === null) throw new Error('The connection was closed.')
      const sent = producer.send({
        messages: messages.map((message) => ({
          topic,
          key: kafkaKey(message),
          value: message.text,
          headers: { 'content-type': 'application/cloudevents+json; charset=utf-8' },
        })),
      })
      await inTime(sent, limitMs)
    },

    close,
  }
}
