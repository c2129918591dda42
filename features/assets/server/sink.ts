import type { StreamMessage } from './assets.read.ts'

/** A system to publish to. Every implementation passes `sink.contract.ts`. */
export interface AssetSink {
  readonly kind: 'nats' | 'kafka'
  /** Address for people, without credentials. */
  readonly name: string
  /** Largest number of messages per `publish`. */
  readonly most: number
  /**
   * Connects, creates missing streams and returns the position to resume from. What the peer holds takes precedence
   * over the saved position. Throws if it cannot connect.
   */
  begin(saved: number): Promise<number>
  /**
   * Publishes in order and resolves once the peer acknowledged each message. After an error, `begin` says what it
   * holds.
   */
  publish(messages: readonly StreamMessage[]): Promise<void>
  /** Closes the connection; `begin` opens another. */
  close(): Promise<void>
}

/** Another server published to the sink: no fault of the peer. */
export class SinkMoved extends Error {}

/** A fault that lasts until somebody changes the peer. The message says what to change. */
export class SinkFault extends Error {
  constructor(message: string, cause: unknown) {
    super(message, { cause })
  }
}
