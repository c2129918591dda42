import { request as requestPlain } from 'node:http'
import { request } from 'node:https'
import { isIP } from 'node:net'
import { type ResolveDestination, routeTo } from './destinations.ts'
import { withIssuer } from './outbound-issuer.ts'

export interface OutboundOptions {
  /** PEM certificates to trust instead of the system's; empty: the system's. */
  ca: readonly string[]
  /** Time limit of a whole exchange in milliseconds. */
  timeoutMs: number
  /** Time limit of connection and TLS, in milliseconds. Its error has the code `ECONNECTTIMEOUT`. */
  connectMs?: number
  /** Largest response in bytes. */
  mostBytes: number
  /** Handling of a response that is too long or too slow: an error, or cut where it stopped. */
  excess?: 'error' | 'cut'
  resolve: ResolveDestination
  /** Whether http is allowed to permitted loopback addresses. Only for addresses that a person configured. */
  plainOnLoopback?: boolean
}

export interface OutboundRequest {
  method?: string
  headers?: Headers | Readonly<Record<string, string>>
  body?: unknown
  signal?: AbortSignal | null | undefined
}

const bytesOf = (body: unknown): Buffer | null => {
  if (body === undefined || body === null) return null
  return body instanceof Uint8Array ? Buffer.from(body) : Buffer.from(String(body))
}

const insecure = (): Error => Object.assign(new Error('only https is allowed'), { code: 'EINSECURE' })

/** Returns whether a response with this status has no body, or `Response` rejects the status. */
const isBodiless = (status: number): boolean => status === 204 || status === 205 || status === 304

/**
 * `fetch` for configured addresses: https only, with a checked and pinned host and certificate verification. It follows
 * no redirects and limits the response in time and size. Throws `DestinationError`, or the error of the socket.
 */
export const createOutboundFetch =
  ({
    ca,
    timeoutMs,
    connectMs,
    mostBytes,
    excess = 'error',
    resolve: find,
    plainOnLoopback = false,
  }: OutboundOptions) =>
  async (address: string | URL, init: OutboundRequest = {}): Promise<Response> => {
    const url = new URL(address)
    const isPlain = url.protocol === 'http:'
    if (url.protocol !== 'https:' && !(isPlain && plainOnLoopback)) throw insecure()
    const route = await routeTo(find, url.hostname, Number(url.port || (isPlain ? 80 : 443)))
    const { host, isAllowedLoopback } = route
    if (isPlain && !isAllowedLoopback) throw insecure()
    const body = bytesOf(init.body)
    const headers: Record<string, string> = Object.fromEntries(new Headers(init.headers))
    if (body !== null) headers['content-length'] = String(body.length)
    return new Promise((resolve, reject) => {
      const sent = (isPlain ? requestPlain : request)(url, {
        method: init.method ?? 'GET',
        headers: { ...headers, connection: 'close' },
        agent: route.agent,
        ...(route.lookup === undefined ? {} : { lookup: route.lookup }),
        // RFC 6066 forbids an address as server name; the certificate is still checked against it.
        ...(isIP(host) === 0 ? { servername: host } : {}),
        ...(ca.length === 0 ? {} : { ca: [...ca] }),
        minVersion: 'TLSv1.2',
        rejectUnauthorized: true,
      })
      /** Accepts the part of a response that arrived. */
      let cut = (): void => {}
      function stop(code = 'ETIMEDOUT'): void {
        cut()
        sent.destroy(Object.assign(new Error('timed out'), { code }))
      }
      const timer = setTimeout(stop, timeoutMs)
      const connecting = connectMs === undefined ? undefined : setTimeout(stop, connectMs, 'ECONNECTTIMEOUT')
      sent.on('socket', (socket) => socket.once('secureConnect', () => clearTimeout(connecting)))
      const onAbort = (): void => stop()
      init.signal?.addEventListener('abort', onAbort, { once: true })
      if (init.signal?.aborted === true) onAbort()
      sent.on('close', () => {
        clearTimeout(timer)
        clearTimeout(connecting)
        init.signal?.removeEventListener('abort', onAbort)
      })
      sent.on('error', (error) => void withIssuer(error, route, url).then(reject))
      sent.on('response', (answer) => {
        const parts: Buffer[] = []
        let size = 0
        function finish(): void {
          const status = answer.statusCode ?? 0
          if (status < 200 || status > 599) {
            reject(new Error('the response is not valid HTTP'))
            return
          }
          const given = Object.entries(answer.headers).flatMap(([name, value]) =>
            [value].flat().map((one): [string, string] => [name, one ?? '']),
          )
          const read = Buffer.concat(parts).subarray(0, mostBytes)
          resolve(new Response(isBodiless(status) ? null : read, { status, headers: given }))
        }
        if (excess === 'cut') cut = finish
        answer.on('data', (part: Buffer) => {
          size += part.length
          parts.push(part)
          if (size <= mostBytes) return
          cut()
          // Before the socket, because the whole response may have arrived.
          reject(Object.assign(new Error(`the response has more than ${mostBytes} bytes`), { code: 'ETOOLARGE' }))
          sent.destroy()
        })
        answer.on('error', reject)
        answer.on('end', finish)
      })
      sent.end(body ?? undefined)
    })
  }
