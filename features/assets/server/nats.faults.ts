import { JetStreamApiError } from '@nats-io/jetstream'
import { errors } from '@nats-io/transport-node'
import { SinkFault } from './sink.ts'

const full =
  'The stream is full. Raise its limits in NATS (max-msgs, max-bytes), or remove messages that every consumer has read.'
const noRoom = 'NATS lacks storage for the stream. Raise the limits of JetStream or of the account, or free storage.'

/** JetStream errors that last until somebody changes NATS. */
const lasting: Readonly<Record<number, string>> = {
  10023: noRoom,
  10028: noRoom,
  10047: noRoom,
  10039: 'JetStream is not enabled for this account. Enable it in NATS, or use another user.',
  10076: 'JetStream is not enabled. Start NATS with JetStream.',
}

/** Explains an error that lasts until somebody changes NATS. Returns other errors unchanged. */
export const explainNats = (error: unknown): unknown => {
  for (let one = error, depth = 0; one instanceof Error && depth < 5; one = one.cause, depth++) {
    if (one instanceof errors.PermissionViolationError)
      return new SinkFault(
        `The NATS user cannot ${one.operation === 'publish' ? 'publish' : 'subscribe'} to ${one.subject}. Grant this permission in NATS.`,
        error,
      )
    if (one instanceof JetStreamApiError) {
      // One code for every limit of a stream; the text names the limit.
      const sentence = one.code === 10_077 ? full : lasting[one.code]
      if (sentence !== undefined) return new SinkFault(`${sentence} (${one.message}, code ${one.code})`, error)
    }
  }
  return error
}
