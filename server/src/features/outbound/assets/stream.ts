import { assetStreamLimits } from '@portcullis/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AppError, invalid } from '#platform/app-error.ts'
import type { Actor } from '#platform/http/actor.ts'
import type { Log } from '#platform/log.ts'
import type { AssetsRead } from './assets.read.ts'
import type { Consumers } from './consumers.ts'
import { createReader } from './reader.ts'
import type { Sequencer } from './sequencer.ts'

/** Without a message for so long, something is sent that is none: a dead connection shows. */
const quietMs = 15_000
/** How often it is asked whether the token still counts. */
const askMs = 1_000

export interface StreamDeps {
  log: Log
  read: AssetsRead
  sequencer: Pick<Sequencer, 'run'>
  consumers: Consumers
  /** Whether a bearer token still counts: of whom; null: it does not. */
  authenticate(token: string, ip: string): Promise<Actor | null>
}

export interface StreamQuery {
  after?: number
  source?: string
  follow?: boolean
  consumer?: string
}

const eventStream = 'text/event-stream'

/** Position by the header of a browser that comes back, else by the query; as `id` and as `sequence` have it. */
const startOf = (request: FastifyRequest, query: StreamQuery): number => {
  const given = request.headers['last-event-id']
  if (typeof given !== 'string' || given === '') return query.after ?? 0
  const position = /^\d{1,20}$/.test(given) ? Number(given) : Number.NaN
  if (!Number.isSafeInteger(position)) throw invalid('Last-Event-ID', 'must be the id of a message of this stream')
  return position
}

/** Readers over HTTP. One that does not read costs its cursor and one portion: nothing is read for it until it does. */
export const createStream = ({ log, read, sequencer, consumers, authenticate }: StreamDeps) => {
  const wakers = new Set<() => void>()
  let closed = false

  /** Waits for a wake, or the time. */
  const pause = (milliseconds: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      function done(): void {
        clearTimeout(timer)
        wakers.delete(done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = setTimeout(done, milliseconds).unref()
      wakers.add(done)
      signal.addEventListener('abort', done)
    })

  /** Readers, and whose they are. */
  const open = new Map<AbortController, string | null>()

  async function serve(actor: Actor, query: StreamQuery, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const follow = query.follow ?? true
    // A person who looks on in the console is no consumer.
    const given = query.consumer ?? (actor.kind === 'apiToken' ? actor.userName : null)
    const name = given === null ? null : consumers.nameOf(given)
    let position = startOf(request, query)
    const { accountId } = actor
    const isFull = [...open.values()].filter((one) => one === accountId).length >= assetStreamLimits.readersOfAccount
    if (closed || isFull || open.size >= assetStreamLimits.readers)
      throw new AppError('unavailable', {}, { headers: { 'retry-after': '10' } })
    const ending = new AbortController()
    open.set(ending, accountId)
    const { raw } = reply
    // Before anything is waited for: one that is gone by then says so only once.
    raw.on('close', () => ending.abort())
    raw.on('error', () => ending.abort())
    try {
      // What was acknowledged before this call is in an answer that ends at the end.
      if (!follow) await sequencer.run()
      const newest = await read.newest()
      const source = `urn:portcullis:${await read.instance()}`
      if (query.source !== undefined && query.source !== source)
        throw new AppError('conflict', {
          detail: `The source is ${source} now: the server was restored from a backup. Forget what was held and start at 0.`,
        })
      if (position > newest)
        throw new AppError('conflict', {
          detail: `The newest message is ${newest}, before ${position}: the server was restored from a backup. Forget what was held and start at 0.`,
        })
    } catch (error) {
      open.delete(ending)
      throw error
    }

    const isEvents = (request.headers.accept ?? '').toLowerCase().includes(eventStream)
    reply.hijack()
    if (raw.destroyed) ending.abort()
    for (const [header, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) raw.setHeader(header, value as string)
    raw.writeHead(200, {
      'content-type': isEvents ? `${eventStream}; charset=utf-8` : 'application/x-ndjson; charset=utf-8',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
    })
    raw.flushHeaders()

    /** False when the reader is behind: wait until it is not, or is gone. */
    async function send(text: string): Promise<void> {
      if (text === '' || ending.signal.aborted || raw.destroyed || raw.write(text)) return
      await new Promise<void>((resolve) => {
        function done(): void {
          raw.removeListener('drain', done)
          ending.signal.removeEventListener('abort', done)
          resolve()
        }
        raw.once('drain', done)
        ending.signal.addEventListener('abort', done)
      })
    }
    const token = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    async function mayGoOn(): Promise<boolean> {
      const now = token === undefined ? actor : await authenticate(token, request.ip)
      return (
        now !== null && now.profile <= actor.profile && now.permissions.has('fleet:read') && !now.mustChangePassword
      )
    }
    // A reader that stalls is asked about, too.
    const asking = setInterval(() => {
      mayGoOn().then(
        (may) => {
          if (!may) ending.abort()
        },
        () => {},
      )
      // Twice within the second in which a revocation has to act.
    }, askMs / 2).unref()

    const next = createReader(read)
    try {
      let spokeAt = performance.now()
      if (name !== null) await consumers.seen(accountId, name, position)
      while (!ending.signal.aborted && !closed) {
        const { messages, position: reached, isEnd } = await next(position)
        const text = messages.map((message) =>
          isEvents ? `id: ${message.sequence}\nevent: ${message.type}\ndata: ${message.text}\n\n` : `${message.text}\n`,
        )
        await send(text.join(''))
        if (ending.signal.aborted) break
        if (messages.length > 0) spokeAt = performance.now()
        position = reached
        if (name !== null) await consumers.seen(accountId, name, position)
        if (!isEnd) continue
        if (!follow) break
        await pause(askMs, ending.signal)
        if (performance.now() - spokeAt < quietMs) continue
        spokeAt = performance.now()
        await send(isEvents ? ': quiet\n\n' : '\n')
      }
    } catch (error) {
      log.warn({ err: error, consumer: name }, 'an asset stream was cut off')
      // Cut, not ended: the reader sees that there was more.
      raw.destroy()
    } finally {
      clearInterval(asking)
      open.delete(ending)
      raw.end()
      if (ending.signal.aborted) raw.destroy()
      if (name !== null) await consumers.left(accountId, name, position).catch(() => {})
    }
  }

  return {
    serve,
    /** There is more to read. */
    wake: (): void => {
      for (const wake of wakers) wake()
    },
    readers: (): number => open.size,
    close: (): void => {
      closed = true
      for (const one of open.keys()) one.abort()
    },
  }
}
