import { randomUUID } from 'node:crypto'
import type { Counter } from '@portcullis/platform/server/metrics.ts'
import { createAssetsRead } from './assets.read.ts'
import { createConsumersStore } from './consumers.store.ts'
import type { AssetsContext } from './context.ts'
import { createReader } from './reader.ts'
import { type AssetSink, SinkMoved } from './sink.ts'

/**
 * How long another server waits before it takes over from one that stopped; longer than an acknowledgement may take.
 */
const leaseMs = 30_000
const firstRetryMs = 1_000
const lastRetryMs = 60_000

export interface SinkState {
  kind: AssetSink['kind']
  name: string
  /** Whether this server publishes. */
  isOurs: boolean
  error: string
}

/** Returns an error as a sentence, shortened for a row and without URLs that may hold credentials. */
const errorText = (error: unknown): string => {
  const { code, message } = error as { code?: unknown; message?: unknown }
  const text = typeof message === 'string' && message !== '' ? message : String(code ?? error)
  const short = text
    .replace(/\/\/[^@/\s]*@/g, '//')
    .replace(/\p{C}+/gu, ' ')
    .trim()
    .slice(0, 300)
  return /[.!?)]$/.test(short) ? short : `${short}.`
}

/**
 * Publishes to one sink, from one server at a time, in portions. The backlog stays in the database. The position is
 * saved after the acknowledgements, so a crash in between publishes again and never skips.
 */
export const createPublisher = (
  sink: AssetSink,
  { db, clock, log }: AssetsContext,
  { published, failures }: { published: Counter; failures: Counter },
) => {
  const read = createAssetsRead(db)
  const store = createConsumersStore(db)
  const leaseId = randomUUID()
  const { kind, name } = sink
  const next = createReader(read, sink.most)
  let running: Promise<void> | null = null
  let closed = false
  /** Null: not connected, or another server publishes. */
  let position: number | null = null
  let leasedUntil = 0
  let retryAt = 0
  let waitMs = firstRetryMs
  let error = ''

  async function drop(): Promise<void> {
    position = null
    leasedUntil = 0
    await sink.close().catch(() => {})
  }

  /** Takes or renews the lease and connects. Returns false if another server publishes. */
  async function hold(): Promise<boolean> {
    const now = clock.now()
    if (position !== null && leasedUntil - now > leaseMs / 2) return true
    const saved = await store.lease(kind, name, leaseId, new Date(now), new Date(now + leaseMs))
    if (saved === undefined) {
      if (position !== null) await drop()
      return false
    }
    leasedUntil = now + leaseMs
    if (position !== null) return true
    const begun = await sink.begin(saved)
    const newest = await read.newest()
    if (begun > newest)
      throw new Error(
        `${name} holds message ${begun}, but the newest here is ${newest}: this server was restored. Delete the stream there; the server fills it again.`,
      )
    position = begun
    return true
  }

  async function drain(): Promise<void> {
    while (!closed && (await hold())) {
      const from = position as number
      const { messages, position: reached, isEnd } = await next(from)
      if (messages.length > 0) await sink.publish(messages)
      published.inc({ sink: kind }, messages.length)
      const now = clock.now()
      if (!(await store.published(kind, name, leaseId, reached, new Date(now), new Date(now + leaseMs)))) {
        await drop()
        return
      }
      leasedUntil = now + leaseMs
      position = reached
      if (error !== '') log.info({ sink: kind }, 'publishing the asset stream works again')
      error = ''
      waitMs = firstRetryMs
      if (isEnd) return
    }
  }

  async function attempt(): Promise<void> {
    if (closed || clock.now() < retryAt) return
    try {
      await drain()
    } catch (cause) {
      await drop()
      if (closed) return
      failures.inc({ sink: kind })
      // Another publisher holds the lease, or takes it when ours ends.
      error =
        cause instanceof SinkMoved
          ? 'Another server published there; the connection is checked again.'
          : errorText(cause)
      retryAt = clock.now() + waitMs
      log.warn({ sink: kind, error, retryMs: waitMs }, 'cannot publish the asset stream')
      waitMs = Math.min(lastRetryMs, waitMs * 2)
      await store.failed(kind, name, leaseId, error)
    }
  }

  return {
    /** Publishes everything that is due. A call during a run waits for a later run. */
    run: async (): Promise<void> => {
      for (let other = running; other !== null; other = running) {
        await other.catch(() => {})
        if (running === other) running = null
      }
      const mine = attempt()
      running = mine
      try {
        await mine
      } finally {
        if (running === mine) running = null
      }
    },
    /** Lets timers and hints skip a publisher that is running. */
    isRunning: (): boolean => running !== null,
    state: (): SinkState => ({ kind, name, isOurs: position !== null, error }),
    close: async (): Promise<void> => {
      closed = true
      await sink.close().catch(() => {})
      await running?.catch(() => {})
      await store.release(kind, name, leaseId).catch(() => {})
    },
  }
}

export type Publisher = ReturnType<typeof createPublisher>
