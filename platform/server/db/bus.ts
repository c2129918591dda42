import type pg from 'pg'
import type { Log } from '../log.ts'
import { createClient } from './connection.ts'
import type { Tx } from './db.ts'
import { sql } from './sql.ts'

const channel = 'portcullis'
/** Limit in bytes; PostgreSQL rejects 8,000 and more. */
const payloadLimit = 7_900
/** Silence after which a connection counts as lost: less than the second in which a revocation must take effect. */
const liveForMs = 900
const pingEveryMs = 300
const retryEveryMs = 500

export type BusMessage = { topic: string } & Readonly<Record<string, unknown>>

/**
 * Messages between replicas by LISTEN/NOTIFY, on a separate connection. Nothing may depend on them alone: a cache
 * must check `isLive` before use and clear itself in `onGap`.
 */
export interface Bus {
  /** Sends to every replica, including this one, when the transaction commits. */
  publish(tx: Tx, topic: string, payload?: Readonly<Record<string, unknown>>): Promise<void>
  on(topic: string, handler: (message: BusMessage) => void): void
  /** Registers a handler for possible gaps: after each new connection. */
  onGap(handler: () => void): void
  /** Returns whether the connection answered within the last 0.9 s. */
  isLive(): boolean
  /** Resolves at the first connection or after `timeoutMs`, because the server starts without it too. */
  ready(timeoutMs: number): Promise<void>
  close(): Promise<void>
}

export const createBus = ({ connection, log }: { connection: pg.PoolConfig; log: Log }): Bus => {
  const handlers = new Map<string, ((message: BusMessage) => void)[]>()
  const gapHandlers: (() => void)[] = []
  let client: pg.Client | null = null
  let heardAt = Number.NEGATIVE_INFINITY
  let closed = false
  let timer: NodeJS.Timeout | undefined
  let connecting: Promise<void> = Promise.resolve()
  let onFirst = (): void => {}
  const first = new Promise<void>((resolve) => {
    onFirst = resolve
  })

  function deliver(text: string | undefined): void {
    try {
      const message = JSON.parse(text ?? '') as BusMessage
      for (const handler of handlers.get(message.topic) ?? []) handler(message)
    } catch (error) {
      log.warn({ err: error }, 'cannot handle a message from a replica')
    }
  }

  function drop(lost: pg.Client, reason: string): void {
    if (client !== lost) return
    client = null
    heardAt = Number.NEGATIVE_INFINITY
    if (closed) return
    log.warn({ reason }, 'lost the connection for messages from other replicas; every token is checked in the database')
    lost.end().catch(() => {})
    timer = setTimeout(start, retryEveryMs)
  }

  function ping(current: pg.Client): void {
    if (closed || client !== current) return
    const startedAt = performance.now()
    current.query('select 1').then(
      () => {
        // Uses the start time, because a slow answer shows an old state.
        heardAt = startedAt
        if (!closed && client === current) timer = setTimeout(ping, pingEveryMs, current)
      },
      (error: Error) => drop(current, error.message),
    )
  }

  async function connect(): Promise<void> {
    const next = createClient({
      ...connection,
      application_name: 'portcullis bus',
      keepAlive: true,
      connectionTimeoutMillis: 4_000,
      query_timeout: 2_000,
    })
    next.on('error', (error) => drop(next, error.message))
    next.on('end', () => drop(next, 'the connection was closed'))
    next.on('notification', (notification) => deliver(notification.payload))
    try {
      await next.connect()
      const startedAt = performance.now()
      await next.query(`LISTEN ${channel}`)
      if (closed) {
        await next.end().catch(() => {})
        return
      }
      client = next
      for (const handler of gapHandlers) handler()
      heardAt = startedAt
      onFirst()
      ping(next)
    } catch (error) {
      next.end().catch(() => {})
      log.warn({ error: (error as Error).message }, 'cannot receive messages from other replicas yet')
      if (!closed) timer = setTimeout(start, retryEveryMs)
    }
  }

  function start(): void {
    connecting = connect()
  }
  start()

  return {
    publish: async (tx, topic, payload = {}) => {
      const text = JSON.stringify({ ...payload, topic })
      if (Buffer.byteLength(text) >= payloadLimit)
        throw new Error(`a message on ${topic} has ${Buffer.byteLength(text)} bytes, more than ${payloadLimit}`)
      await tx.prepared(sql`select pg_notify(${channel}, ${text})`)
    },
    on: (topic, handler) => {
      handlers.set(topic, [...(handlers.get(topic) ?? []), handler])
    },
    onGap: (handler) => {
      gapHandlers.push(handler)
    },
    isLive: () => client !== null && performance.now() - heardAt < liveForMs,
    ready: async (timeoutMs) => {
      let timeout: NodeJS.Timeout | undefined
      await Promise.race([
        first,
        new Promise<void>((resolve) => {
          timeout = setTimeout(resolve, timeoutMs)
        }),
      ])
      clearTimeout(timeout)
    },
    close: async () => {
      closed = true
      clearTimeout(timer)
      await connecting
      const last = client
      client = null
      await last?.end().catch(() => {})
    },
  }
}
