import type { StreamMessage } from './assets.read.ts'

/** A place to publish to. Every implementation runs `sink.contract.ts`. */
export interface AssetSink {
  readonly kind: 'nats' | 'kafka'
  /** Where it publishes, for people: never with credentials. */
  readonly name: string
  /** Most messages of one `publish`. */
  readonly most: number
  /**
   * Connects, makes what is missing there, and says where to go on: what the peer holds counts before what was saved here.
   * Throws when it cannot.
   */
  begin(saved: number): Promise<number>
  /** Publishes in order; resolves when the peer has acknowledged each, else throws, and begin says what it holds. */
  publish(messages: readonly StreamMessage[]): Promise<void>
  /** Drops the connection; begin makes another. */
  close(): Promise<void>
}

/** Another server publishes there: not a failure of the peer. */
export class SinkMoved extends Error {}
