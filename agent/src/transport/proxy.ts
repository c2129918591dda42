import { type AgentOptions, type ClientRequest, Agent as HttpAgent, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Duplex } from 'node:stream'
import { type ProxyFault, proxyExceptions, proxyFaultOf } from '@portcullis/domain'
import { errnoOf } from '../exit.ts'

/** The HTTP proxy between this host and the server. */
export interface ProxySettings {
  /** `http://host:port` without credentials. */
  url: URL
  /** `user:password` for basic authentication. Never part of a message. */
  credentials: string | undefined
  /** Hosts that are reached directly. */
  exceptions: readonly string[]
}

/** A proxy did not open the connection. The message contains the cause and what to do, and nothing that the proxy sent. */
class ProxyError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'ProxyError'
  }
}

const CONNECT_TIMEOUT_MS = 15_000

const sentences: Readonly<Record<ProxyFault, (proxy: string, target: string, status: string) => string>> = {
  unreachable: (proxy, target, code) =>
    `Cannot connect to the proxy ${proxy} (${code}). Check its address, or add ${target} to the exceptions if this host reaches it directly.`,
  signIn: (proxy) =>
    `The proxy ${proxy} requires a user name and password (407). Store them as user:password in a file that only root can read, and set its path with --proxy-credentials-file.`,
  signInRefused: (proxy) =>
    `The proxy ${proxy} refused the user name or password (407). Correct them in the credentials file of the proxy.`,
  signInForeign: (proxy) =>
    `The proxy ${proxy} offers only sign-in methods that the agent does not support, such as NTLM or Negotiate (407). Let it admit this host without sign-in, or run a local proxy that signs in, such as Cntlm or Px, and set its address with --proxy.`,
  denied: (proxy, target, status) =>
    `The proxy ${proxy} refused the connection to ${target} (${status}). Allow CONNECT to this host and port in its rules.`,
  away: (proxy, target, status) =>
    `The proxy ${proxy} cannot reach ${target} (${status}). Check that the server is running and that the proxy resolves its name and reaches its port.`,
  late: (proxy, target) =>
    `The proxy ${proxy} did not open a connection to ${target} in time. Check that it reaches the server.`,
  other: (proxy, _target, status) =>
    `${proxy} does not answer as an HTTP proxy (${status}). Check the address of the proxy.`,
}

/** Returns the host of a URL without the brackets of an IPv6 address. */
export const hostOf = (url: URL): string => url.hostname.replace(/^\[|\]$/g, '')

/** Returns the port of a URL; proxies without a port use 80, as for every `http` address. */
export const portOf = (url: URL): number => Number(url.port || (url.protocol === 'https:' ? 443 : 80))

const bracketed = (host: string): string => (host.includes(':') ? `[${host}]` : host)

/** Returns the proxy for a server, or undefined if the server is an exception. */
export const proxyFor = (server: URL, proxy: ProxySettings | undefined): ProxySettings | undefined =>
  proxy === undefined || proxyExceptions(proxy.exceptions).has(server.hostname, portOf(server)) ? undefined : proxy

export interface TunnelTarget {
  host: string
  port: number
}

/** Calls back once, with the connection to the target or with a `ProxyError`. Returns the request, which ends the attempt. */
export const openTunnel = (
  { url, credentials }: ProxySettings,
  { host, port }: TunnelTarget,
  done: (error: Error | null, socket?: Duplex) => void,
  timeoutMs = CONNECT_TIMEOUT_MS,
): ClientRequest => {
  const target = `${bracketed(host)}:${port}`
  const where = `${url.hostname}:${portOf(url)}`
  let isDone = false
  function finish(error: Error | null, socket?: Duplex): void {
    if (isDone) return
    isDone = true
    clearTimeout(timer)
    done(error, socket)
  }
  function fail(fault: ProxyFault, detail = ''): void {
    finish(new ProxyError(sentences[fault](where, target, detail)))
    request.destroy()
  }
  // The proxy resolves the name of the server, because this host may be unable to.
  const request = httpRequest({
    host: hostOf(url),
    port: portOf(url),
    method: 'CONNECT',
    path: target,
    agent: false,
    headers: {
      host: target,
      ...(credentials === undefined
        ? {}
        : { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` }),
    },
  })
  const timer = setTimeout(() => fail('late'), timeoutMs)
  request.on('error', (error) => {
    const code = errnoOf(error) ?? ''
    if (code.startsWith('HPE_')) fail('other', 'no HTTP')
    else if (code === 'ECONNRESET' || code === 'EPIPE' || code === '') fail('other', 'connection closed')
    else fail('unreachable', code)
  })
  // Node reports every status of a CONNECT with this event.
  request.on('connect', (response, socket, head) => {
    const status = response.statusCode ?? 0
    if (status < 200 || status > 299) {
      socket.destroy()
      const methods = [response.headers['proxy-authenticate'] ?? []].flat().join(', ')
      return fail(proxyFaultOf(status, methods, credentials !== undefined), String(status))
    }
    // The server speaks only after the agent, so these bytes are from the proxy.
    if (head.length > 0 || isDone) {
      socket.destroy()
      return fail('other', 'data before the connection')
    }
    finish(null, socket)
  })
  request.end()
  return request
}

type Connected = (error: Error | null, socket: Duplex) => void

/** Opens the tunnels of one pool. */
const createTunnels = (proxy: ProxySettings, target: TunnelTarget) => {
  /** Attempts under way, so that closing the pool ends them. */
  const pending = new Set<ClientRequest>()
  return {
    open(done: (error: Error | null, socket?: Duplex) => void): void {
      const attempt = openTunnel(proxy, target, (error, socket) => {
        pending.delete(attempt)
        done(error, socket)
      })
      pending.add(attempt)
    },
    close(): void {
      for (const attempt of pending) attempt.destroy()
    },
  }
}
type Tunnels = ReturnType<typeof createTunnels>

class HttpTunnelAgent extends HttpAgent {
  readonly #tunnels: Tunnels
  constructor(options: AgentOptions, tunnels: Tunnels) {
    super(options)
    this.#tunnels = tunnels
  }
  override createConnection(_options: object, callback?: Connected): undefined {
    this.#tunnels.open((error, socket) => callback?.(error, socket as Duplex))
  }
  override destroy(): void {
    this.#tunnels.close()
    super.destroy()
  }
}

class HttpsTunnelAgent extends HttpsAgent {
  readonly #tunnels: Tunnels
  constructor(options: AgentOptions, tunnels: Tunnels) {
    super(options)
    this.#tunnels = tunnels
  }
  override createConnection(options: object, callback?: Connected): undefined {
    this.#tunnels.open((error, socket) => {
      if (error !== null) return callback?.(error, socket as Duplex)
      // `host` stays the server, so that the certificate is checked against its name.
      callback?.(null, super.createConnection({ ...options, socket } as object) as Duplex)
    })
  }
  override destroy(): void {
    this.#tunnels.close()
    super.destroy()
  }
}

/**
 * Creates a pool of connections to a server, through its proxy if it has one.
 *
 * @param proxy result of `proxyFor`
 */
export const createPool = (server: URL, proxy: ProxySettings | undefined, options: AgentOptions): HttpAgent => {
  const isTls = server.protocol === 'https:'
  if (proxy === undefined) return isTls ? new HttpsAgent(options) : new HttpAgent(options)
  const tunnels = createTunnels(proxy, { host: hostOf(server), port: portOf(server) })
  return isTls ? new HttpsTunnelAgent(options, tunnels) : new HttpTunnelAgent(options, tunnels)
}
