import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { createPool, hostOf, type ProxySettings, portOf, proxyFor } from './proxy.ts'
import { type Answer, Refusal } from './refusal.ts'

export interface TransportDeps {
  /** Base address of the server. */
  server: URL
  /** The proxy of this host; the server may be one of its exceptions. */
  proxy?: ProxySettings | undefined
  /** PEM of the only trusted CA. If undefined, the system's CAs are trusted. */
  ca: string | undefined
  /**
   * Fetches another certificate with the pinned key when a connection cannot be verified. `keep` stores that certificate
   * after it verified a connection.
   */
  otherCa?: {
    fetch: (present: string, signal: AbortSignal) => Promise<string | undefined>
    keep: (pem: string) => void
  }
  /** Returns an explanation of a certificate that this host does not trust, or undefined for another fault. */
  explain?: (error: Error, signal: AbortSignal) => Promise<Error | undefined>
  timeoutMs?: number
  /** Wall clock in ms, for a `Retry-After` that is a date. */
  now: () => number
}

/** Maximum size of responses except policies and knowledge. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
/** Maximum size of a refusal. Problem details have a few hundred bytes. */
const MAX_REFUSAL_BYTES = 65_536
/** Maximum `Retry-After`, so that a server cannot stop its agents permanently. */
const MAX_RETRY_AFTER_MS = 3_600_000

/** Returns a `Retry-After` (seconds or date; RFC 9110, section 10.2.3) in ms, limited to an hour. */
export const retryAfterOf = (value: string | undefined, now: number): number | undefined => {
  if (value === undefined) return undefined
  const ms = /^\d+$/.test(value.trim()) ? Number(value) * 1000 : Date.parse(value) - now
  return Number.isFinite(ms) ? Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS) : undefined
}

interface Sent {
  method: 'GET' | 'POST'
  path: string
  body: string | Buffer
  contentType?: string
  headers?: Readonly<Record<string, string>>
  token: string | undefined
  maxAnswerBytes?: number | undefined
  /** Uses a separate connection, so that check-ins do not wait for it. */
  hasOwnConnection?: boolean
}

/** Returns whether the trusted CA did not verify the server's certificate. The request was then not sent. */
const isUnverified = (error: unknown): boolean =>
  error instanceof Error &&
  'code' in error &&
  /CERT|SIGNATURE|ISSUER|SELF_SIGNED|^ERR_TLS|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH/.test(String(error.code))

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Creates a JSON client over node:http(s) with one keep-alive connection. `fetch` would cost 20 MB on every host (undici). */
export const createTransport = ({
  server,
  proxy,
  ca: given,
  otherCa,
  explain,
  timeoutMs = 30_000,
  now,
}: TransportDeps) => {
  let ca = given
  const isTls = server.protocol === 'https:'
  const base = server.pathname.replace(/(?<!\/)\/+$/, '')
  // Each request passes the trusted certificate, which is part of the key of a pooled connection.
  const route = proxyFor(server, proxy)
  const pool = createPool(server, route, { keepAlive: true, maxSockets: 1 })
  /** Opens one connection for each request. */
  const unpooled = createPool(server, route, {})
  let localAddress = ''

  const optionsFor = (path: string): RequestOptions => ({
    host: hostOf(server),
    port: portOf(server),
    path: base + path,
    ...(ca === undefined ? {} : { ca }),
  })

  const send = (
    {
      method,
      path,
      body,
      contentType = 'application/json',
      headers,
      token,
      maxAnswerBytes = MAX_ANSWER_BYTES,
      hasOwnConnection,
    }: Sent,
    signal: AbortSignal,
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const data = typeof body === 'string' ? Buffer.from(body) : body
      const request = (isTls ? httpsRequest : httpRequest)({
        ...optionsFor(path),
        method,
        agent: hasOwnConnection ? unpooled : pool,
        signal,
        headers: {
          ...(method === 'GET' ? {} : { 'content-type': contentType, 'content-length': data.length }),
          accept: 'application/json, application/problem+json',
          ...headers,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
      })
      let hasAnswer = false
      // The limit covers the whole exchange, so that a slow server cannot block the agent.
      const timer = setTimeout(
        () => request.destroy(new Error(`the server did not answer within ${timeoutMs / 1000} s`)),
        timeoutMs,
      )
      function fail(error: Error) {
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
          if (size > maxAnswerBytes) request.destroy(new Error('the response is too long'))
          else chunks.push(chunk)
        })
        response.on('error', fail)
        response.on('end', () => {
          clearTimeout(timer)
          if (!response.complete) return fail(new Error('the response was truncated'))
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

  /**
   * Sends a request and, if the connection does not verify, fetches the CA certificate again. A man in the middle of the
   * enrolment can make the agent store a forged certificate with the pinned key.
   */
  async function sendVerified(sent: Sent, signal: AbortSignal): Promise<Answer> {
    try {
      return await send(sent, signal)
    } catch (error) {
      if (signal.aborted || !isUnverified(error)) throw error
      const present = ca
      const other = present === undefined ? undefined : await otherCa?.fetch(present, signal).catch(() => undefined)
      if (other === undefined || otherCa === undefined || other === present)
        throw (error instanceof Error && (await explain?.(error, signal).catch(() => undefined))) || error
      ca = other
      try {
        const answer = await send(sent, signal)
        otherCa.keep(other)
        return answer
      } catch (again) {
        if (isUnverified(again)) ca = present
        throw again
      }
    }
  }

  async function sendAgain(sent: Sent, signal: AbortSignal): Promise<Answer> {
    try {
      return await sendVerified(sent, signal)
    } catch (error) {
      // The server closed an idle connection while the agent reused it. All requests of the protocol can be repeated.
      if (error instanceof Error && 'isStale' in error && error.isStale === true && !signal.aborted)
        return send(sent, signal)
      throw error
    }
  }

  return {
    server,
    isTls,
    /** Returns the options of a request on its own connection. */
    ownConnection: (path: string): RequestOptions => ({ ...optionsFor(path), agent: unpooled }),
    /** Sends a POST request. Rejects only without a complete answer. */
    post: (
      path: string,
      body: string | Buffer,
      token: string | undefined,
      signal: AbortSignal,
      more: Pick<Sent, 'contentType' | 'headers' | 'maxAnswerBytes' | 'hasOwnConnection'> = {},
    ): Promise<Answer> => sendAgain({ method: 'POST', path, body, token, ...more }, signal),
    /** Sends a GET request on its own connection. */
    get: (path: string, token: string, signal: AbortSignal, maxAnswerBytes?: number): Promise<Answer> =>
      sendAgain({ method: 'GET', path, body: '', token, maxAnswerBytes, hasOwnConnection: true }, signal),
    /**
     * Streams a long answer on its own connection, so that check-ins continue. Resolves after the last byte.
     *
     * @param take receives each chunk; an error that it throws ends the transfer
     */
    download: (path: string, token: string, take: (chunk: Buffer) => void, signal: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        const request = (isTls ? httpsRequest : httpRequest)({
          ...optionsFor(path),
          method: 'GET',
          agent: unpooled,
          signal,
          // Limits the time between two packets; the receiver limits the length.
          timeout: timeoutMs,
          headers: { accept: 'application/octet-stream', authorization: `Bearer ${token}` },
        })
        request.on('timeout', () => request.destroy(new Error(`the server sent no data for ${timeoutMs / 1000} s`)))
        request.on('error', reject)
        request.on('response', (response: IncomingMessage) => {
          response.on('error', reject)
          const isRefused = response.statusCode !== 200
          const refusal: Buffer[] = []
          let size = 0
          response.on('data', (chunk: Buffer) => {
            try {
              size += chunk.length
              if (!isRefused) take(chunk)
              else if (size <= MAX_REFUSAL_BYTES) refusal.push(chunk)
            } catch (error) {
              request.destroy()
              reject(error)
            }
          })
          response.on('end', () => {
            if (!response.complete) return reject(new Error('the response was truncated'))
            if (!isRefused) return resolve()
            const text = Buffer.concat(refusal).toString('utf8')
            const retryAfterMs = retryAfterOf(response.headers['retry-after'], now())
            const answer = { status: response.statusCode ?? 0, body: parseJson(text), text }
            reject(new Refusal({ ...answer, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }))
          })
        })
        request.end()
      }),
    /** Returns the host's address on its last connection to the server; empty before the first connection. */
    localAddress: (): string => localAddress.replace(/^::ffff:/, ''),
    close(): void {
      pool.destroy()
      unpooled.destroy()
    },
  }
}
export type Transport = ReturnType<typeof createTransport>
