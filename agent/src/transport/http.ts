import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'

/** An answer of the server, whatever its status. */
export interface Answer {
  status: number
  /** Parsed JSON, or undefined when the body is none. */
  body: unknown
  /** The body as received. */
  text: string
  /** From `Retry-After`, in ms. */
  retryAfterMs?: number
}

export interface TransportDeps {
  /** Base address of the server. */
  server: URL
  /** PEM of the only CA to trust; undefined: those of the system. */
  ca: string | undefined
  timeoutMs?: number
  /** Wall clock in ms, for a `Retry-After` that is a date. */
  now: () => number
}

/** A policy of 10,000 rules inside JSON text is the longest answer; a server that sends more is not ours. */
const MAX_ANSWER_BYTES = 8 * 1024 * 1024
/** A server can slow its agents down, not put them to sleep for good. */
const MAX_RETRY_AFTER_MS = 3_600_000

/** `Retry-After` as seconds or HTTP date (RFC 9110, 10.2.3), bounded to an hour. */
export const retryAfterOf = (value: string | undefined, now: number): number | undefined => {
  if (value === undefined) return undefined
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - now
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS) : undefined
}

/** One request of the protocol. */
interface Sent {
  method: 'GET' | 'POST'
  path: string
  body: string | Buffer
  contentType: string
  token: string | undefined
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * JSON over node:http(s) with one kept-alive connection. No fetch: undici would cost 20 MB on every host.
 */
export const createTransport = ({ server, ca, timeoutMs = 30_000, now }: TransportDeps) => {
  const isTls = server.protocol === 'https:'
  const base = server.pathname.replace(/\/+$/, '')
  const pool = isTls
    ? new HttpsAgent({ keepAlive: true, maxSockets: 1, ...(ca === undefined ? {} : { ca }) })
    : new HttpAgent({ keepAlive: true, maxSockets: 1 })
  let localAddress = ''

  const optionsFor = (path: string): RequestOptions => ({
    host: server.hostname.replace(/^\[|\]$/g, ''),
    port: server.port === '' ? (isTls ? 443 : 80) : Number(server.port),
    path: base + path,
    ...(ca === undefined ? {} : { ca }),
  })

  const send = ({ method, path, body, contentType, token }: Sent, signal: AbortSignal): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const data = typeof body === 'string' ? Buffer.from(body) : body
      const request = (isTls ? httpsRequest : httpRequest)({
        ...optionsFor(path),
        method,
        agent: pool,
        signal,
        headers: {
          ...(method === 'GET' ? {} : { 'content-type': contentType, 'content-length': data.length }),
          accept: 'application/json, application/problem+json',
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
      })
      let hasAnswer = false
      // Over the whole exchange, not per packet: a server that drips must not hold the agent.
      const timer = setTimeout(() => request.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
      const fail = (error: Error) => {
        clearTimeout(timer)
        reject(
          Object.assign(error, {
            isStale: request.reusedSocket && !hasAnswer && 'code' in error && error.code === 'ECONNRESET',
          }),
        )
      }
      request.on('error', fail)
      request.on('response', (response: IncomingMessage) => {
        hasAnswer = true
        localAddress = response.socket.localAddress ?? localAddress
        const chunks: Buffer[] = []
        let size = 0
        response.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size > MAX_ANSWER_BYTES) request.destroy(new Error('the answer is too long'))
          else chunks.push(chunk)
        })
        response.on('error', fail)
        response.on('end', () => {
          clearTimeout(timer)
          if (!response.complete) return fail(new Error('the answer was cut off'))
          const retryAfterMs = retryAfterOf(response.headers['retry-after'], now())
          const text = Buffer.concat(chunks).toString('utf8')
          resolve({
            status: response.statusCode ?? 0,
            body: parseJson(text),
            text,
            ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
          })
        })
      })
      request.end(data)
    })

  const sendAgain = async (sent: Sent, signal: AbortSignal): Promise<Answer> => {
    try {
      return await send(sent, signal)
    } catch (error) {
      // The server closed the idle connection just as it was taken up again: not a failure, and every request of the
      // protocol may be repeated.
      if (error instanceof Error && 'isStale' in error && error.isStale === true && !signal.aborted)
        return send(sent, signal)
      throw error
    }
  }

  return {
    server,
    ca,
    isTls,
    optionsFor,
    /** Sends one request. Rejects only when no whole answer came. */
    post: (
      path: string,
      body: string | Buffer,
      token: string | undefined,
      signal: AbortSignal,
      contentType = 'application/json',
    ): Promise<Answer> => sendAgain({ method: 'POST', path, body, contentType, token }, signal),
    /** The same for what is only read. */
    get: (path: string, token: string, signal: AbortSignal): Promise<Answer> =>
      sendAgain({ method: 'GET', path, body: '', contentType: '', token }, signal),
    /** The host's own address on the last connection to the server; empty before the first. */
    localAddress: (): string => localAddress.replace(/^::ffff:/, ''),
    close(): void {
      pool.destroy()
    },
  }
}
export type Transport = ReturnType<typeof createTransport>
