/**
 * Destinations that the server itself connects to, because the configuration names them: mail servers, directories,
 * providers, webhooks. It resolves a name once, checks the addresses, and connects only to checked ones.
 */
import { lookup } from 'node:dns/promises'
import type { Agent } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import {
  isForbiddenAddress,
  isLoopback,
  isSpelledLoopback,
  type LoopbackNetworks,
  loopbackNetworks,
} from '@portcullis/domain'
import { type OutboundProxy, tunnelAgent } from './outbound-proxy.ts'

export interface DestinationAddress {
  address: string
  family: 4 | 6
}

/** A resolved host that connections are allowed to. */
export interface Destination extends DestinationAddress {
  /** The configured name without brackets, which the certificate must contain. */
  host: string
  /** `lookup` for connect options in net, tls, http and https: returns the checked addresses without another query. */
  lookup: LookupFunction
  /** Whether all its addresses are on this machine and PORTCULLIS_OUTBOUND_ALLOW contains them. */
  isAllowedLoopback: boolean
}

/** How an https request reaches its destination: options for `https.request`. */
export interface HttpsRoute extends Pick<Destination, 'host' | 'isAllowedLoopback'> {
  /** Undefined through a proxy, which resolves the name itself. */
  lookup?: LookupFunction
  /** False: a connection of its own. */
  agent: Agent | false
}

export interface ResolveDestination {
  /** Resolves and checks a host (name or address, IPv6 with or without brackets). Throws `DestinationError`. */
  (host: string): Promise<Destination>
  /** Finds the route of an https request, which may lead through the proxy of this server. Throws `DestinationError`. */
  route?: (host: string, port: number) => Promise<HttpsRoute>
}

/** Returns the route of an https request. Without a proxy, it leads directly to the checked addresses. */
export const routeTo = async (resolve: ResolveDestination, host: string, port: number): Promise<HttpsRoute> => {
  if (resolve.route !== undefined) return resolve.route(host, port)
  const { host: plain, lookup, isAllowedLoopback } = await resolve(host)
  return { host: plain, lookup, isAllowedLoopback, agent: false }
}

/** `unresolved`: unknown name, or no response; `refused`: an address that the server does not connect to. */
export type DestinationFault = 'unresolved' | 'refused'

export class DestinationError extends Error {
  readonly fault: DestinationFault
  readonly host: string
  constructor(fault: DestinationFault | 'loopback', host: string, cause?: unknown) {
    super(
      fault === 'unresolved'
        ? `${host} cannot be resolved.`
        : fault === 'loopback'
          ? `This server does not connect to ${host}: the address is on this machine and not in PORTCULLIS_OUTBOUND_ALLOW.`
          : `This server does not connect to the address ${host}.`,
      cause === undefined ? {} : { cause },
    )
    this.name = 'DestinationError'
    this.fault = fault === 'loopback' ? 'refused' : fault
    this.host = host
  }
}

/** Returns all addresses of a name in the order of the system. */
export type Resolver = (host: string) => Promise<readonly DestinationAddress[]>

/** Time limit, because the system's resolver gives up only after tens of seconds. */
const resolveMs = 5_000

const systemResolver: Resolver = async (host) =>
  (await lookup(host, { all: true })).map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))

const withinLimit = async <T>(work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('the resolver did not answer')), resolveMs)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}

const addressesOf = async (host: string, resolver: Resolver): Promise<readonly DestinationAddress[]> => {
  const family = isIP(host)
  if (family !== 0) return [{ address: host, family: family === 6 ? 6 : 4 }]
  return withinLimit(resolver(host)).catch((cause: unknown) => {
    throw new DestinationError('unresolved', host, cause)
  })
}

const resolveWith = async (given: string, resolver: Resolver, allowed: LoopbackNetworks): Promise<Destination> => {
  const host = given.replace(/^\[|\]$/g, '')
  const found = await addressesOf(host, resolver)
  const usable = found.filter(
    ({ address }) => !isForbiddenAddress(address) && (!isLoopback(address) || allowed.has(address)),
  )
  const [first] = usable
  if (first === undefined)
    throw new DestinationError(
      found.length === 0 ? 'unresolved' : found.every(({ address }) => isLoopback(address)) ? 'loopback' : 'refused',
      host,
    )
  return {
    ...first,
    host,
    isAllowedLoopback: usable.every(({ address }) => allowed.has(address)),
    lookup: (_name, options, done) => {
      const family = options.family === 'IPv6' ? 6 : options.family === 'IPv4' ? 4 : (options.family ?? 0)
      const fitting = usable.filter((one) => family === 0 || one.family === family)
      const [one] = fitting
      if (one === undefined) done(Object.assign(new Error(`no address of ${host}`), { code: 'ENOTFOUND' }), '', 0)
      // All addresses, so that Node tries the next if one does not answer.
      else if (options.all === true) done(null, [...fitting])
      else done(null, one.address, one.family)
    },
  }
}

/**
 * Creates the resolver of destinations for this process; `allow` is PORTCULLIS_OUTBOUND_ALLOW.
 *
 * A proxy opens no way around the checks (ADR 52): a name with any forbidden or loopback address never goes through it. A name
 * that only the proxy resolves does, because such a connection always verifies a certificate before it sends anything.
 */
export const createDestinations = (
  allow: readonly string[],
  resolver: Resolver = systemResolver,
  proxy: OutboundProxy | null = null,
): ResolveDestination => {
  const allowed = loopbackNetworks(allow)
  const resolve = (host: string): Promise<Destination> => resolveWith(host, resolver, allowed)
  if (proxy === null) return resolve

  async function direct(given: string): Promise<HttpsRoute> {
    const { host, lookup, isAllowedLoopback } = await resolve(given)
    return { host, lookup, isAllowedLoopback, agent: false }
  }
  return Object.assign(resolve, {
    route: async (given: string, port: number): Promise<HttpsRoute> => {
      const host = given.replace(/^\[|\]$/g, '')
      if (proxy.exceptions.has(host, port)) return direct(given)
      const found = await addressesOf(host, resolver).catch((): DestinationAddress[] => [])
      // Loopback of the proxy is another machine, so these connections are direct, if they are allowed at all.
      if (isSpelledLoopback(host) || (found.length > 0 && found.every(({ address }) => isLoopback(address))))
        return direct(given)
      if (found.some(({ address }) => isForbiddenAddress(address) || isLoopback(address)))
        throw new DestinationError('refused', host)
      return { host, isAllowedLoopback: false, agent: tunnelAgent(proxy, host, port) }
    },
  })
}
