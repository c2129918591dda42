import type { Producer } from '@platformatic/kafka'
import type { ResolveDestination } from '#platform/destinations.ts'
import type { StreamMessage } from './assets.read.ts'
import type { AssetSink } from './sink.ts'

const topic = 'portcullis.assets'
const connectMs = 5_000
/** Below the lease of the publisher. */
const ackMs = 10_000
const atOnce = 256

/** Key of a message: of one asset always the same, so that a compacted topic keeps its newest state and nothing else of it. */
export const kafkaKey = ({ type, subject, sequence }: StreamMessage): string =>
  type === 'asset.location.previous'
    ? `location/${subject}/${sequence}`
    : subject.startsWith('replay/')
      ? `${subject}/${type}`
      : subject

/** A call to a broker that died may never be answered. */
const inTime = async <T>(work: Promise<T>, milliseconds: number): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer of the broker')), milliseconds)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Kafka: experimental, it ran against a stub of the protocol only. Without TLS and sign-in. A server that dies between
 * an acknowledgement and writing that down publishes those messages again, with the same ids.
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
      // Only here: its schemas take a second to compile, which is half the start of a server.
      const { ProduceAcks, Producer, stringSerializers } = await import('@platformatic/kafka')
      const made = new Producer({
        clientId: 'portcullis',
        bootstrapBrokers: [...brokers],
        connectTimeout: Math.min(connectMs, limitMs),
        timeout: limitMs,
        // It is tried again by the publisher, with back-off.
        retries: 0,
        idempotent: true,
        acks: ProduceAcks.ALL,
        autocreateTopics: true,
        serializers: stringSerializers,
      })
      // What happens to connections shows in what is asked of them.
      made.on('error', () => {})
      producer = made
      await inTime(made.metadata({ topics: [topic], autocreateTopics: true, retries: 0 }), limitMs)
      return saved
    },

    publish: async (messages) => {
      if (producer === null) throw new Error('The connection ended.')
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
