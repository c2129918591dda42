import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { type Answer, Refusal } from './refusal.ts'

export interface TransportDeps {
  /** Base address of the server. */
  server: URL
  /** PEM of the only CA to trust; undefined: those of the system. */
  ca: string | undefined
  /**
   * Finds another certificate with the pinned key when a connection cannot be verified. `keep` stores the certificate once
   * it has verified a connection.
   */
  otherCa?: {
    fetch: (present: string, signal: AbortSignal) => Promise<string | undefined>
    keep: (pem: string) => void
  }
  timeoutMs?: number
  /** Wall clock in ms, for a `Retry-After` that is a date. */
  now: () => number
}

/** More than any answer but a policy and its knowledge needs; a server that sends more is not ours. */
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
/** Problem details are some hundred bytes. */
const MAX_REFUSAL_BYTES = 65_536
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
  contentType?: string
  headers?: Readonly<Record<string, string>>
  token: string | undefined
  maxAnswerBytes?: number | undefined
  /** On a connection of its own: check-ins do not wait behind it. */
  isAside?: boolean
}

/** The trusted certificate does not verify the certificate of the server, so nothing was sent. */
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

/**
 * JSON over node:http(s) with one kept-alive connection. No fetch: undici would cost 20 MB on every host.
 */
export const createTransport = ({ server, ca: given, otherCa, timeoutMs = 30_000, now }: TransportDeps) => {
  let ca = given
  const isTls = server.protocol === 'https:'
  const base = server.pathname.replace(/(?<!\/)\/+$/, '')
  // The trusted certificate comes with each request, and is part of what names a pooled connection.
  const pool = isTls
    ? new HttpsAgent({ keepAlive: true, maxSockets: 1 })
    : new HttpAgent({ keepAlive: true, maxSockets: 1 })
  let localAddress = ''

  const optionsFor = (path: string): RequestOptions => ({
    host: server.hostname.replace(/^\[|\]$/g, ''),
    port: server.port === '' ? (isTls ? 443 : 80) : Number(server.port),
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
      isAside,
    }: Sent,
    signal: AbortSignal,
  ): Promise<Answer> =>
    new Promise((resolve, reject) => {
      const data = typeof body === 'string' ? Buffer.from(body) : body
      const request = (isTls ? httpsRequest : httpRequest)({
        ...optionsFor(path),
        method,
        agent: isAside ? false : pool,
        signal,
        headers: {
          ...(method === 'GET' ? {} : { 'content-type': contentType, 'content-length': data.length }),
          accept: 'application/json, application/problem+json',
          ...headers,
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        },
      })
      let hasAnswer = false
      // Over the whole exchange, not per packet: a server that drips must not hold the agent.
      const timer = setTimeout(() => request.destroy(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs)
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
          if (size > maxAnswerBytes) request.destroy(new Error('the answer is too long'))
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

  /**
   * An attacker in the middle of the enrolment can make the agent store a forged certificate with the pinned key. Then no
   * connection verifies, and the agent must fetch the genuine certificate again.
   */
  async function sendVerified(sent: Sent, signal: AbortSignal): Promise<Answer> {
    try {
      return await send(sent, signal)
    } catch (error) {
      if (ca === undefined || otherCa === undefined || signal.aborted || !isUnverified(error)) throw error
      const present = ca
      const other = await otherCa.fetch(present, signal).catch(() => undefined)
      if (other === undefined || other === present) throw error
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
      // The server closed the idle connection just as it was taken up again: not a failure, and every request of the
      // protocol may be repeated.
      if (error instanceof Error && 'isStale' in error && error.isStale === true && !signal.aborted)
        return send(sent, signal)
      throw error
    }
  }

  return {
    server,
    isTls,
    optionsFor,
    /** Sends one request. Rejects only when no whole answer came. */
    post: (
      path: string,
      body: string | Buffer,
      token: string | undefined,
      signal: AbortSignal,
      more: Pick<Sent, 'contentType' | 'headers' | 'maxAnswerBytes' | 'isAside'> = {},
    ): Promise<Answer> => sendAgain({ method: 'POST', path, body, token, ...more }, signal),
    /** The same for what is only read, on a connection of its own. */
    get: (path: string, token: string, signal: AbortSignal, maxAnswerBytes?: number): Promise<Answer> =>
      sendAgain({ method: 'GET', path, body: '', token, maxAnswerBytes, isAside: true }, signal),
    /**
     * Streams a long answer on a connection of its own, so that check-ins go on meanwhile. Resolves after the last byte.
     *
     * @param take gets each part; what it throws ends the transfer
     */
    download: (path: string, token: string, take: (chunk: Buffer) => void, signal: AbortSignal): Promise<void> =>
      new Promise((resolve, reject) => {
        const request = (isTls ? httpsRequest : httpRequest)({
          ...optionsFor(path),
          method: 'GET',
          agent: false,
          signal,
          // Between two packets; the length is the receiver's to bound.
          timeout: timeoutMs,
          headers: { accept: 'application/octet-stream', authorization: `Bearer ${token}` },
        })
        request.on('timeout', () => request.destroy(new Error(`no data for ${timeoutMs} ms`)))
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
            if (!response.complete) return reject(new Error('the answer was cut off'))
            if (!isRefused) return resolve()
            const text = Buffer.concat(refusal).toString('utf8')
            const retryAfterMs = retryAfterOf(response.headers['retry-after'], now())
            const answer = { status: response.statusCode ?? 0, body: parseJson(text), text }
            reject(new Refusal({ ...answer, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) }))
          })
        })
        request.end()
      }),
    /** The host's own address on the last connection to the server; empty before the first. */
    localAddress: (): string => localAddress.replace(/^::ffff:/, ''),
    close(): void {
      pool.destroy()
    },
  }
}
export type Transport = ReturnType<typeof createTransport>
