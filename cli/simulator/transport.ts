/** Transport of many simulated hosts to one server over shared keep-alive connections. */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'

/** A response with any status. */
export interface Answer {
  status: number
  body: Record<string, unknown>
  retryAfterMs: number
}

export interface TransportOptions {
  server: URL
  /** PEM of the only trusted CA. If absent, the system's CAs are trusted. */
  ca?: string
  /** Number of connections. One per host would measure the kernel instead of the server. */
  connections: number
  timeoutMs?: number
}

/** A request without a response. */
export class NoAnswer extends Error {}

const parse = (text: string): Record<string, unknown> => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

export type Transport = ReturnType<typeof createTransport>

export const createTransport = ({ server, ca, connections, timeoutMs = 60_000 }: TransportOptions) => {
  const isTls = server.protocol === 'https:'
  const pool = isTls
    ? new HttpsAgent({ keepAlive: true, maxSockets: connections, ...(ca === undefined ? {} : { ca }) })
    : new HttpAgent({ keepAlive: true, maxSockets: connections })
  const send = isTls ? httpsRequest : httpRequest
  const target = {
    host: server.hostname.replace(/^\[|\]$/g, ''),
    port: server.port === '' ? (isTls ? 443 : 80) : Number(server.port),
    method: 'POST',
    agent: pool,
    timeout: timeoutMs,
  }
  const base = server.pathname.replace(/(?<!\/)\/+$/, '')
  let free = connections
  const waiting: (() => void)[] = []
  let firstWaiting = 0

  // Requests wait here and not in the connection pool. A body is created only when a connection is free, so that the
  // memory never has 10,000 inventories.
  const acquire = (): Promise<void> | undefined => {
    if (free > 0) {
      free -= 1
      return undefined
    }
    return new Promise((resolve) => waiting.push(resolve))
  }
  const release = (): void => {
    const next = waiting[firstWaiting]
    if (next === undefined) {
      free += 1
      return
    }
    firstWaiting += 1
    // A shift() per request would move 10,000 entries each time.
    if (firstWaiting > 10_000) {
      waiting.splice(0, firstWaiting)
      firstWaiting = 0
    }
    next()
  }

  const exchange = (
    path: string,
    body: string | Buffer,
    token: string | undefined,
    contentType: string,
    headers: Readonly<Record<string, string>>,
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const request = send({
        ...target,
        path: base + path,
        headers: {
          'content-type': contentType,
          'content-length': Buffer.byteLength(body),
          ...headers,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
      })
      const fail = (error: Error): void => reject(new NoAnswer(error.message))
      request.on('error', fail)
      request.on('timeout', () => request.destroy(new Error(`the server did not answer within ${timeoutMs / 1000} s`)))
      request.on('response', (response: IncomingMessage) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk: string) => (text += chunk))
        response.on('error', fail)
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            body: parse(text),
            retryAfterMs: Math.min(3_600, Number(response.headers['retry-after'] ?? 0) || 0) * 1000,
          }),
        )
      })
      request.end(body)
    })

  return {
    /** Waits for a free connection, creates the body and then the headers, and sends them. Calls `started` when the connection is free. */
    post: async (
      path: string,
      form: () => string | Buffer,
      token: string | undefined,
      started: () => void = () => {},
      contentType = 'application/json',
      headers: () => Record<string, string> = () => ({}),
    ): Promise<Answer> => {
      await acquire()
      try {
        started()
        return await exchange(path, form(), token, contentType, headers())
      } finally {
        release()
      }
    },
    /** Options for the connection of a wake socket. */
    isTls,
    ownConnection: (path: string) => ({
      host: target.host,
      port: target.port,
      path: base + path,
      agent: false as const,
      ...(ca === undefined ? {} : { ca }),
    }),
    close: (): void => pool.destroy(),
    [Symbol.dispose]: (): void => pool.destroy(),
  }
}
