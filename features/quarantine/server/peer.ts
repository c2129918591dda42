import { DestinationError, type ResolveDestination } from '@portcullis/platform/server/destinations.ts'
import { createOutboundFetch } from '@portcullis/platform/server/outbound-fetch.ts'
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
  headers: Headers
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
  { url, ca, resolve }: PeerAddress,
  asked: PeerRequest,
  signal?: AbortSignal,
): Promise<PeerAnswer> => {
  const where = url.host
  const post = createOutboundFetch({ ca, timeoutMs: wholeMs, connectMs, mostBytes: maxAnswer, resolve })
  try {
    signal?.throwIfAborted()
    const { path, ...init } = asked
    const answer = await post(new URL(path, url), { ...init, signal })
    const [type = ''] = (answer.headers.get('content-type') ?? '').split(';')
    return {
      status: answer.status,
      type: type.trim().toLowerCase(),
      headers: answer.headers,
      text: await answer.text(),
    }
  } catch (error) {
    throw faultOf(error as Error & { code?: string }, where, signal?.aborted === true)
  }
}

const faultOf = (error: Error & { code?: string }, where: string, isAborted: boolean): NacFault => {
  if (isAborted) return new NacFault('away', 'answer', `${where} did not answer in time.`)
  if (error instanceof DestinationError)
    return error.fault === 'refused'
      ? new NacFault('setup', 'connect', error.message)
      : new NacFault('away', 'connect', `The name ${error.host} does not resolve. Check its spelling and DNS.`)
  switch (error.code) {
    case 'ECONNECTTIMEOUT':
      return new NacFault('away', 'connect', `${where} does not accept connections. Check address, port and firewall.`)
    case 'ETOOLARGE':
      return new NacFault('setup', 'answer', `The response of ${where} exceeds 4 MiB. Check the address.`)
    case 'ETIMEDOUT':
      return new NacFault('away', 'answer', `${where} did not answer within ${wholeMs / 1_000} seconds.`)
    default:
      return connectionFault(error, where)
  }
}

export type Json = Readonly<Record<string, unknown>>
export const objectOf = (value: unknown): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {}
export const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
