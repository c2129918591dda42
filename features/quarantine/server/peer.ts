import { request as httpsRequest } from 'node:https'
import { isIP } from 'node:net'
import { DestinationError, type ResolveDestination, routeTo } from '@portcullis/platform/server/destinations.ts'
import { withIssuer } from '@portcullis/platform/server/outbound-issuer.ts'
import { connectionFault, NacFault } from './fault.ts'

/** Milliseconds for name resolution, connection and TLS, and for one whole exchange. */
const connectMs = 5_000
const wholeMs = 10_000
/** Largest answer in bytes; documented answers have kilobytes. */
const maxAnswer = 4 * 1024 * 1024

export interface PeerRequest {
  method: 'GET' | 'POST' | 'PUT'
  /** Path with query, as sent. */
  path: string
  headers: Readonly<Record<string, string>>
  body?: string
}

export interface PeerAnswer {
  status: number
  /** Media type without parameters. */
  type: string
  headers: Readonly<Record<string, string | string[] | undefined>>
  text: string
}

export interface PeerAddress {
  url: URL
  /** Certificates to trust instead of the system's. */
  ca: readonly string[]
  resolve: ResolveDestination
}

/** Returns whether a response is a web page, whatever its header says. */
export const isWebPage = ({ type, text }: Pick<PeerAnswer, 'type' | 'text'>): boolean =>
  type === 'text/html' || /^\s*<(?:!doctype html|html)[\s>]/i.test(text)

/**
 * Runs one exchange over TLS, with certificate verification, to an allowed address. Redirects are returned, so a
 * password never follows one. Ends after ten seconds or with the signal, whatever the peer does.
 */
export const exchange = async (
  { url, ca, resolve: find }: PeerAddress,
  asked: PeerRequest,
  signal?: AbortSignal,
): Promise<PeerAnswer> => {
  const where = url.host
  const late = (): NacFault => new NacFault('away', 'answer', `${where} did not answer in time.`)
  function assertInTime(): void {
    if (signal?.aborted === true) throw late()
  }
  assertInTime()
  const route = await routeTo(find, url.hostname, Number(url.port || 443)).catch((error: unknown) => {
    if (!(error instanceof DestinationError)) throw error
    throw error.fault === 'refused'
      ? new NacFault('setup', 'connect', error.message)
      : new NacFault('away', 'connect', `The name ${error.host} does not resolve. Check its spelling and DNS.`)
  })
  // Name resolution may take seconds: the caller may have left.
  assertInTime()
  return new Promise<PeerAnswer>((resolve, reject) => {
    const ends: (() => void)[] = []
    function finish(work: () => void): void {
      for (const end of ends.splice(0)) end()
      work()
    }
    const request = httpsRequest({
      host: route.host,
      port: url.port === '' ? 443 : Number(url.port),
      ...(route.lookup === undefined ? {} : { lookup: route.lookup }),
      ...(isIP(route.host) === 0 ? { servername: route.host } : {}),
      ...(ca.length === 0 ? {} : { ca: [...ca] }),
      minVersion: 'TLSv1.2',
      rejectUnauthorized: true,
      agent: route.agent,
      method: asked.method,
      path: asked.path,
      headers: {
        ...asked.headers,
        connection: 'close',
        ...(asked.body === undefined ? {} : { 'content-length': String(Buffer.byteLength(asked.body)) }),
      },
    })
    const fail = (fault: NacFault): void =>
      finish(() => {
        reject(fault)
        request.destroy()
      })
    // Attached before anything can end the request: an unhandled error event ends the process.
    request.on(
      'error',
      (error) => void withIssuer(error, route, url).then((known) => fail(connectionFault(known, where))),
    )
    function after(milliseconds: number, message: string, stage: 'connect' | 'answer'): () => void {
      const timer = setTimeout(() => fail(new NacFault('away', stage, message)), milliseconds)
      const end = (): void => clearTimeout(timer)
      ends.push(end)
      return end
    }
    after(wholeMs, `${where} did not answer within ${wholeMs / 1_000} seconds.`, 'answer')
    const connected = after(
      connectMs,
      `${where} does not accept connections. Check address, port and firewall.`,
      'connect',
    )
    if (signal !== undefined) {
      const stop = (): void => fail(late())
      signal.addEventListener('abort', stop)
      ends.push(() => signal.removeEventListener('abort', stop))
    }
    request.on('socket', (socket) => socket.once('secureConnect', connected))
    request.on('response', (response) => {
      const parts: Buffer[] = []
      let size = 0
      response.on('data', (part: Buffer) => {
        size += part.length
        if (size > maxAnswer)
          fail(new NacFault('setup', 'answer', `The response of ${where} exceeds 4 MiB. Check the address.`))
        else parts.push(part)
      })
      response.on('error', (error) => fail(connectionFault(error, where)))
      response.on('end', () =>
        finish(() =>
          resolve({
            status: response.statusCode ?? 0,
            type: (response.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '',
            headers: response.headers,
            text: Buffer.concat(parts).toString('utf8'),
          }),
        ),
      )
    })
    request.end(asked.body)
  })
}
