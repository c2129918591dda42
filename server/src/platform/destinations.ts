/**
 * Where the server itself connects to, because somebody wrote it into the configuration: mail, directories, providers,
 * webhooks. A name is resolved once, its addresses are judged, and the connection goes to what was judged.
 */
import { lookup } from 'node:dns/promises'
import { isIP, type LookupFunction } from 'node:net'
import { isForbiddenAddress, isLoopback, type LoopbackNetworks, loopbackNetworks } from '@portcullis/domain'

export interface DestinationAddress {
  address: string
  family: 4 | 6
}

/** A host that was resolved and may be connected to. */
export interface Destination extends DestinationAddress {
  /** As it was configured, without brackets: the name a certificate has to hold. */
  host: string
  /** For `lookup` of connect options in net, tls, http and https: gives what was judged, never asks again. */
  lookup: LookupFunction
  /** True when all its addresses are of this machine and the operator named them by PORTCULLIS_OUTBOUND_ALLOW. */
  isAllowedLoopback: boolean
}

/** Resolves a host (name or address, IPv6 with or without brackets) and judges it. Throws `DestinationError`. */
export type ResolveDestination = (host: string) => Promise<Destination>

/** `unresolved`: no such name, or no answer; `refused`: an address the server does not connect to. */
export type DestinationFault = 'unresolved' | 'refused'

export class DestinationError extends Error {
  readonly fault: DestinationFault
  readonly host: string
  constructor(fault: DestinationFault | 'loopback', host: string, cause?: unknown) {
    super(
      fault === 'unresolved'
        ? `${host} cannot be resolved.`
        : fault === 'loopback'
          ? `${host} is an address this server does not connect to: it is on this machine, and PORTCULLIS_OUTBOUND_ALLOW does not name it.`
          : `${host} is an address this server does not connect to.`,
      cause === undefined ? {} : { cause },
    )
    this.name = 'DestinationError'
    this.fault = fault === 'loopback' ? 'refused' : fault
    this.host = host
  }
}

/** All addresses of a name, in the order of the system. */
export type Resolver = (host: string) => Promise<readonly DestinationAddress[]>

/** Resolvers of the system give up after tens of seconds only. */
const resolveMs = 5_000

const systemResolver: Resolver = async (host) =>
  (await lookup(host, { all: true })).map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }))

const withinLimit = async <T>(work: Promise<T>): Promise<T> => {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer of the resolver')), resolveMs)
  })
  try {
    return await Promise.race([work, limit])
  } finally {
    clearTimeout(timer)
  }
}

const resolveWith = async (given: string, resolver: Resolver, allowed: LoopbackNetworks): Promise<Destination> => {
  const host = given.replace(/^\[|\]$/g, '')
  const family = isIP(host)
  const found: readonly DestinationAddress[] =
    family !== 0
      ? [{ address: host, family: family === 6 ? 6 : 4 }]
      : await withinLimit(resolver(host)).catch((cause: unknown) => {
          throw new DestinationError('unresolved', host, cause)
        })
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
      // All of them: Node tries the next when one does not answer.
      else if (options.all === true) done(null, [...fitting])
      else done(null, one.address, one.family)
    },
  }
}

/** The way of this process to its destinations, handed out by compose; `allow` is PORTCULLIS_OUTBOUND_ALLOW. */
export const createDestinations = (
  allow: readonly string[],
  resolver: Resolver = systemResolver,
): ResolveDestination => {
  const allowed = loopbackNetworks(allow)
  return (host) => resolveWith(host, resolver, allowed)
}
