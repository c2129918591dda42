import { AppError, invalid } from '@portcullis/platform/server/app-error.ts'
import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { assetStreamLimits } from '#features/contract.ts'
import { createAssetsRead } from './assets.read.ts'
import type { Consumers } from './consumers.ts'
import type { AssetsContext } from './context.ts'
import { createReader } from './reader.ts'
import type { Sequencer } from './sequencer.ts'

/** Silence after which a keep-alive is sent, so that a dead connection is noticed. */
const quietMs = 15_000
const askMs = 1_000

export interface StreamQuery {
  after?: number
  source?: string
  follow?: boolean
  consumer?: string
}

const eventStream = 'text/event-stream'

/** Returns the start position: from the header of a reconnecting browser, else from the query. */
const startOf = (request: FastifyRequest, query: StreamQuery): number => {
  const given = request.headers['last-event-id']
  if (typeof given !== 'string' || given === '') return query.after ?? 0
  const position = /^\d{1,20}$/.test(given) ? Number(given) : Number.NaN
  if (!Number.isSafeInteger(position)) throw invalid('Last-Event-ID', 'must be the id of a message of this stream')
  return position
}

/** Sends the head of the answer. Returns true if the reader asked for server-sent events. */
const beginAnswer = (request: FastifyRequest, reply: FastifyReply): boolean => {
  const isEvents = (request.headers.accept ?? '').toLowerCase().includes(eventStream)
  const { raw } = reply
  reply.hijack()
  for (const [header, value] of Object.entries(reply.getHeaders()))
    if (value !== undefined) raw.setHeader(header, value)
  raw.writeHead(200, {
    'content-type': isEvents ? `${eventStream}; charset=utf-8` : 'application/x-ndjson; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  })
  raw.flushHeaders()
  return isEvents
}

/** Returns a function that sends text. If the reader is behind, it waits until the reader catches up or disconnects. */
const writerTo =
  (raw: FastifyReply['raw'], signal: AbortSignal) =>
  async (text: string): Promise<void> => {
    if (text === '' || signal.aborted || raw.destroyed || raw.write(text)) return
    await new Promise<void>((resolve) => {
      function done(): void {
        raw.removeListener('drain', done)
        signal.removeEventListener('abort', done)
        resolve()
      }
      raw.once('drain', done)
      signal.addEventListener('abort', done)
    })
  }

/** Serves HTTP readers. A reader that stalls costs its cursor and one portion: the server reads nothing more for it. */
export const createStream = ({ log, accounts, db }: AssetsContext, sequencer: Sequencer, consumers: Consumers) => {
  const read = createAssetsRead(db)
  const wakers = new Set<() => void>()
  let closed = false

  /** Waits for a wake-up or the timeout. */
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

  /** Open readers and their accounts. */
  const open = new Map<AbortController, string | null>()

  async function serve(actor: Actor, query: StreamQuery, request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const follow = query.follow ?? true
    // A person who watches in the console is not a consumer.
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
    // Before the first await: a reader that disconnects emits this only once.
    raw.on('close', () => ending.abort())
    raw.on('error', () => ending.abort())
    try {
      // A response that does not follow contains everything acknowledged before this call.
      if (!follow) await sequencer.run()
      const newest = await read.newest()
      const source = `urn:portcullis:${await read.instance()}`
      if (query.source !== undefined && query.source !== source)
        throw new AppError('conflict', {
          detail: `The source is now ${source}, because the server was restored from a backup. Discard the stored state and start at 0.`,
        })
      if (position > newest)
        throw new AppError('conflict', {
          detail: `The newest message is ${newest}, lower than ${position}, because the server was restored from a backup. Discard the stored state and start at 0.`,
        })
    } catch (error) {
      open.delete(ending)
      throw error
    }

    const isEvents = beginAnswer(request, reply)
    if (raw.destroyed) ending.abort()
    const send = writerTo(raw, ending.signal)
    const token = /^bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
    async function mayGoOn(): Promise<boolean> {
      const now = token === undefined ? actor : await accounts.authenticate(token, request.ip)
      return (
        now !== null && now.profile <= actor.profile && now.permissions.has('fleet:read') && !now.mustChangePassword
      )
    }
    // Also checks readers that stall.
    const asking = setInterval(() => {
      mayGoOn().then(
        (may) => {
          if (!may) ending.abort()
        },
        () => {},
      )
      // Twice within the second in which a revocation must take effect.
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
      log.warn({ err: error, consumer: name }, 'cannot continue an asset stream; connection closed')
      // Destroyed, not ended: the reader sees that the stream is incomplete.
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
    /** Wakes the readers: the stream has new messages. */
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
