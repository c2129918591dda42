import { type ClientRequest, type RequestOptions, request as requestPlain } from 'node:http'
import { Agent } from 'node:https'
import type { Duplex } from 'node:stream'
import {
  isProxyException,
  type ProxyExceptions,
  type ProxyFault,
  proxyExceptions,
  proxyFaultOf,
  splitProxyExceptions,
} from '@portcullis/domain'
import { Secret } from './secret.ts'
import { StartError } from './start-error.ts'

/** The HTTP proxy for https connections of this server. */
export interface OutboundProxy {
  host: string
  port: number
  /** `user:password` for basic authentication. */
  credentials: Secret | null
  /** Destinations that are reached directly. */
  exceptions: ProxyExceptions
}

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** Parses PORTCULLIS_OUTBOUND_PROXY and its exceptions. Messages contain no credentials. Throws a StartError. */
export const parseOutboundProxy = (address: string | undefined, list: string | undefined): OutboundProxy | null => {
  if (address === undefined || address === '') return null
  const url = URL.parse(address)
  if (url === null || url.protocol !== 'http:' || url.pathname !== '/' || url.search !== '' || url.hash !== '')
    throw new StartError('PORTCULLIS_OUTBOUND_PROXY must be an address like http://proxy.example.org:3128.')
  const exceptions = splitProxyExceptions(list ?? '')
  const bad = exceptions.find((one) => !isProxyException(one))
  if (bad !== undefined)
    throw new StartError(
      `PORTCULLIS_OUTBOUND_PROXY_EXCEPTIONS takes names, .domains, addresses and networks, separated by commas, not "${bad}".`,
    )
  return {
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: Number(url.port || 80),
    credentials: url.username === '' ? null : new Secret(`${decoded(url.username)}:${decoded(url.password)}`),
    exceptions: proxyExceptions(exceptions),
  }
}

const sentences: Readonly<Record<ProxyFault, (target: string) => string>> = {
  unreachable: () =>
    'The HTTP proxy of this server does not accept connections. Check PORTCULLIS_OUTBOUND_PROXY and the proxy.',
  signIn: () =>
    'The HTTP proxy of this server requires a user name and password (407). Add them to PORTCULLIS_OUTBOUND_PROXY.',
  signInRefused: () =>
    'The HTTP proxy of this server refused the user name or password (407). Correct PORTCULLIS_OUTBOUND_PROXY.',
  signInForeign: () =>
    'The HTTP proxy of this server offers only sign-in methods that are not supported, such as NTLM (407). Let it admit this server without sign-in, or use a local proxy that signs in.',
  denied: (target) =>
    `The HTTP proxy of this server refused the connection to ${target}. Allow CONNECT to it in the rules of the proxy.`,
  away: (target) =>
    `The HTTP proxy of this server cannot reach ${target}. Check the address, and that the proxy resolves and reaches it.`,
  late: (target) => `The HTTP proxy of this server did not connect to ${target} in time. Check the address.`,
  other: () => 'The address in PORTCULLIS_OUTBOUND_PROXY does not answer as an HTTP proxy. Check host and port.',
}

/** The proxy did not open a connection. The message contains nothing that the proxy sent. */
export class OutboundProxyError extends Error {
  readonly fault: ProxyFault
  constructor(fault: ProxyFault, target: string) {
    super(sentences[fault](target))
    this.name = 'OutboundProxyError'
    this.fault = fault
  }
}

/** Milliseconds until a proxy has to open a connection. Callers with a shorter limit end earlier. */
const connectMs = 8_000

const openTunnel = (
  { host, port, credentials }: OutboundProxy,
  target: string,
  done: (error: Error | null, socket?: Duplex) => void,
): ClientRequest => {
  let isDone = false
  function finish(error: Error | null, socket?: Duplex): void {
    if (isDone) return
    isDone = true
    clearTimeout(timer)
    done(error, socket)
    if (error !== null) request.destroy()
  }
  const fail = (fault: ProxyFault): void => finish(new OutboundProxyError(fault, target))
  const request = requestPlain({
    host,
    port,
    method: 'CONNECT',
    path: target,
    agent: false,
    headers: {
      host: target,
      ...(credentials === null
        ? {}
        : { 'proxy-authorization': `Basic ${Buffer.from(credentials.reveal()).toString('base64')}` }),
    },
  })
  const timer = setTimeout(() => fail('late'), connectMs)
  request.on('error', (error: NodeJS.ErrnoException) =>
    fail(error.syscall === 'connect' || error.syscall === 'getaddrinfo' ? 'unreachable' : 'other'),
  )
  // Node reports every status of a CONNECT with this event.
  request.on('connect', ({ statusCode = 0, headers }, socket, head) => {
    const isOpen = statusCode >= 200 && statusCode <= 299
    // The destination speaks only after this server, so early bytes are from the proxy.
    if (isOpen && head.length === 0 && !isDone) return finish(null, socket)
    socket.destroy()
    const methods = [headers['proxy-authenticate'] ?? []].flat().join(', ')
    fail(isOpen ? 'other' : proxyFaultOf(statusCode, methods, credentials !== null))
  })
  request.end()
  return request
}

class TunnelAgent extends Agent {
  readonly #proxy: OutboundProxy
  readonly #target: string
  constructor(proxy: OutboundProxy, target: string) {
    super()
    this.#proxy = proxy
    this.#target = target
  }
  override createConnection(
    options: RequestOptions,
    callback?: (error: Error | null, socket: Duplex) => void,
  ): undefined {
    openTunnel(this.#proxy, this.#target, (error, socket) => {
      if (error !== null) return callback?.(error, socket as Duplex)
      callback?.(null, super.createConnection({ ...options, socket } as object) as Duplex)
    })
  }
}

/** Creates the agent of one https request to a destination through the proxy. Node verifies the certificate inside the tunnel. */
export const tunnelAgent = (proxy: OutboundProxy, host: string, port: number): Agent =>
  new TunnelAgent(proxy, `${host.includes(':') ? `[${host}]` : host}:${port}`)
