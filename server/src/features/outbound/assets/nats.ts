import { createHash } from 'node:crypto'
import { JetStreamApiCodes, JetStreamApiError, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, headers, type NatsConnection } from '@nats-io/transport-node'
import type { ResolveDestination } from '#platform/destinations.ts'
import type { Secret } from '#platform/secret.ts'
import { StartError } from '#platform/start-error.ts'
import type { StreamMessage } from './assets.read.ts'
import { type AssetSink, SinkMoved } from './sink.ts'

const streamName = 'PORTCULLIS_ASSETS'
const prefix = 'portcullis.assets'
const connectMs = 5_000
/** An acknowledgement takes milliseconds; below the lease of the publisher. */
const ackMs = 10_000
/** Messages under way: with half a megabyte of text at most. */
const inFlight = 256
const duplicateWindow = 120 * 1_000_000_000

/** A token of a subject: letters and digits stay readable, a digest keeps different texts apart. */
const token = (text: string): string =>
  `${text.replace(/[^A-Za-z0-9]+/g, '-').slice(0, 64)}-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`

/**
 * Subject of a message, one for each asset: the stream keeps the newest of each. Messages that are no state have one of
 * their own.
 */
export const natsSubject = ({ type, subject, sequence }: StreamMessage): string => {
  const [what = '', id = '', ...rest] = subject.split('/')
  if (type === 'asset.location.previous') return `${prefix}.location.${id}.${sequence}`
  if (what === 'replay') return `${prefix}.replay.${id}.${type === 'replay.started' ? 'started' : 'completed'}`
  return what === 'agent' ? `${prefix}.agent.${id}` : `${prefix}.peripheral.${id}.${token(rest.join('/'))}`
}

interface NatsPlace {
  servers: string[]
  hosts: string[]
  isTls: boolean
  user?: string
  pass?: string
  token?: string
}

/** Reads `nats://user:password@host:4222`, several with commas; a user alone is a token. Throws without naming it. */
export const natsPlace = (url: string): NatsPlace => {
  const urls = url.split(',').map((part) => {
    const text = part.trim()
    const parsed = URL.parse(text.includes('://') ? text : `nats://${text}`)
    if (parsed === null || parsed.hostname === '' || !['nats:', 'tls:'].includes(parsed.protocol))
      throw new StartError('NATS_URL must be nats://host:4222 or tls://host:4222, with commas between several.')
    return parsed
  })
  const [first] = urls as [URL]
  const user = decodeURIComponent(first.username)
  const pass = decodeURIComponent(first.password)
  return {
    servers: urls.map(({ hostname, port }) => `${hostname}:${port === '' ? '4222' : port}`),
    hosts: urls.map(({ hostname }) => hostname),
    isTls: urls.some(({ protocol }) => protocol === 'tls:'),
    ...(user === '' ? {} : pass === '' ? { token: user } : { user, pass }),
  }
}

const isCode = (error: unknown, code: number): boolean => error instanceof JetStreamApiError && error.code === code

export interface NatsOptions {
  url: Secret
  /** uuid of this installation. */
  source(): Promise<string>
  resolve: ResolveDestination
}

/**
 * NATS JetStream. Each message expects the sequence before it (a fence): a server that was paused and lost its lease can
 * not put an old state over a newer one. What the stream holds last says where to go on, so nothing is published twice,
 * and a stream that was lost is filled from the beginning.
 */
export const createNatsSink = ({ url, source, resolve }: NatsOptions): AssetSink => {
  const { servers, hosts, isTls, ...credentials } = natsPlace(url.reveal())
  let connection: NatsConnection | null = null
  let lastSequence = 0

  return {
    kind: 'nats',
    name: `NATS JetStream at ${servers.join(', ')}`,
    most: inFlight,

    begin: async (saved) => {
      for (const host of hosts) await resolve(host)
      connection = await connect({
        servers,
        ...credentials,
        ...(isTls ? { tls: {} } : {}),
        name: 'portcullis',
        reconnect: false,
        timeout: connectMs,
        ignoreClusterUpdates: true,
      })
      const manager = await jetstreamManager(connection, { timeout: ackMs })
      try {
        const { state } = await manager.streams.info(streamName)
        lastSequence = state.last_seq
      } catch (error) {
        if (!isCode(error, JetStreamApiCodes.StreamNotFound)) throw error
        await manager.streams.add({
          name: streamName,
          subjects: [`${prefix}.>`],
          max_msgs_per_subject: 1,
          duplicate_window: duplicateWindow,
        })
        lastSequence = 0
      }
      if (lastSequence === 0) return 0
      const last = await manager.streams.getMessage(streamName, { seq: lastSequence }).catch((error: unknown) => {
        if (isCode(error, JetStreamApiCodes.NoMessageFound)) return null
        throw error
      })
      const [instance, sequence] = (last?.header.get('Nats-Msg-Id') ?? '').split('/')
      const holds = Number(sequence)
      // A message of somebody else, or a stream that was purged, says nothing: then the position saved here counts.
      return instance === (await source()) && Number.isSafeInteger(holds) ? holds : saved
    },

    publish: async (messages) => {
      if (connection === null || connection.isClosed()) throw new Error('The connection ended.')
      const client = jetstream(connection, { timeout: ackMs })
      const instance = await source()
      const from = lastSequence
      const results = await Promise.allSettled(
        messages.map((message, at) => {
          const own = headers()
          own.set('Content-Type', 'application/cloudevents+json; charset=utf-8')
          return client.publish(natsSubject(message), message.text, {
            msgID: `${instance}/${message.sequence}`,
            headers: own,
            timeout: ackMs,
            expect: { lastSequence: from + at },
          })
        }),
      )
      const failed = results.find((result) => result.status === 'rejected')
      if (failed !== undefined)
        throw isCode(failed.reason, JetStreamApiCodes.StreamWrongLastSequence) ? new SinkMoved() : failed.reason
      const ends = results.map((result) => (result.status === 'fulfilled' ? result.value.seq : 0))
      // An acknowledgement of a duplicate names the place the message has.
      lastSequence = Math.max(from, ...ends)
    },

    close: async () => {
      const last = connection
      connection = null
      await last?.close().catch(() => {})
    },
  }
}
