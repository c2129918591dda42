import { createHash } from 'node:crypto'
import { JetStreamApiCodes, JetStreamApiError, jetstream, jetstreamManager } from '@nats-io/jetstream'
import { connect, headers, type NatsConnection } from '@nats-io/transport-node'
import type { ResolveDestination } from '@portcullis/platform/server/destinations.ts'
import type { Secret } from '@portcullis/platform/server/secret.ts'
import { StartError } from '@portcullis/platform/server/start-error.ts'
import type { StreamMessage } from './assets.read.ts'
import { explainNats } from './nats.faults.ts'
import { type AssetSink, SinkMoved } from './sink.ts'

const streamName = 'PORTCULLIS_ASSETS'
const prefix = 'portcullis.assets'
const connectMs = 5_000
/** An acknowledgement takes milliseconds. Shorter than the lease of the publisher. */
const ackMs = 10_000
/** Unacknowledged messages; at most half a megabyte of text. */
const inFlight = 256
const duplicateWindow = 120 * 1_000_000_000

/** Turns text into one token of a subject. A digest keeps similar texts apart. */
const token = (text: string): string =>
  `${text.replace(/[^A-Za-z0-9]+/g, '-').slice(0, 64)}-${createHash('sha256').update(text).digest('hex').slice(0, 16)}`

/**
 * Returns the subject of a message: one per asset, so that the stream keeps the newest state of each. Messages without
 * state get their own subject.
 */
export const natsSubject = ({ type, subject, sequence }: StreamMessage): string => {
  const [what = '', id = '', ...rest] = subject.split('/')
  if (type === 'asset.location.previous') return `${prefix}.location.${id}.${sequence}`
  if (what === 'replay') return `${prefix}.replay.${id}.${type === 'replay.started' ? 'started' : 'completed'}`
  return what === 'agent' ? `${prefix}.agent.${id}` : `${prefix}.peripheral.${id}.${token(rest.join('/'))}`
}

interface NatsServers {
  servers: string[]
  hosts: string[]
  isTls: boolean
  user?: string
  pass?: string
  token?: string
}

/** Parses `nats://user:password@host:4222`, or several with commas; a user alone is a token. Errors never quote it. */
export const parseNatsUrl = (url: string): NatsServers => {
  const urls = url.split(',').map((part) => {
    const text = part.trim()
    const parsed = URL.parse(text.includes('://') ? text : `nats://${text}`)
    if (parsed === null || parsed.hostname === '' || !['nats:', 'tls:'].includes(parsed.protocol))
      throw new StartError(
        'NATS_URL is invalid. Use nats://host:4222 or tls://host:4222; separate several with commas.',
      )
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
  /** Returns the UUID of this installation. */
  source(): Promise<string>
  resolve: ResolveDestination
}

/**
 * Publishes to NATS JetStream. Each message expects the sequence before it (a fence), so a server that lost its lease
 * while paused cannot overwrite a newer state. The last message in the stream gives the position to resume from:
 * nothing is published twice, and a lost stream is filled from the beginning.
 */
export const createNatsSink = ({ url, source, resolve }: NatsOptions): AssetSink => {
  const { servers, hosts, isTls, ...credentials } = parseNatsUrl(url.reveal())
  let connection: NatsConnection | null = null
  let lastSequence = 0

  async function begin(saved: number): Promise<number> {
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
    // The check needs a right to read all streams of the account.
    const manager = await jetstreamManager(connection, { timeout: ackMs, checkAPI: false })
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
    // A foreign message or a purged stream gives no position, so the saved one counts.
    return instance === (await source()) && Number.isSafeInteger(holds) ? holds : saved
  }

  return {
    kind: 'nats',
    name: `NATS JetStream at ${servers.join(', ')}`,
    most: inFlight,

    begin: (saved) =>
      begin(saved).catch((error: unknown) => {
        throw explainNats(error)
      }),

    publish: async (messages) => {
      if (connection === null || connection.isClosed()) throw new Error('The connection was closed.')
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
        throw isCode(failed.reason, JetStreamApiCodes.StreamWrongLastSequence)
          ? new SinkMoved()
          : explainNats(failed.reason)
      const ends = results.map((result) => (result.status === 'fulfilled' ? result.value.seq : 0))
      // The acknowledgement of a duplicate carries the sequence of the original.
      lastSequence = Math.max(from, ...ends)
    },

    close: async () => {
      const last = connection
      connection = null
      await last?.close().catch(() => {})
    },
  }
}
