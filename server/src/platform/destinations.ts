/**
 * Where the server itself connects to, because somebody wrote it into the configuration: mail, directories, providers,
 * webhooks. A name is resolved once, its addresses are judged, and the connection goes to what was judged.
 */
import { lookup } from 'node:dns/promises'
import { BlockList, isIP, type LookupFunction } from 'node:net'

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
}

/** `unresolved`: no such name, or no answer; `refused`: an address the server never connects to. */
export type DestinationFault = 'unresolved' | 'refused'

export class DestinationError extends Error {
  readonly fault: DestinationFault
  readonly host: string
  constructor(fault: DestinationFault, host: string, cause?: unknown) {
    super(
      fault === 'unresolved'
        ? `${host} can not be resolved.`
        : `${host} is an address this server does not connect to.`,
      cause === undefined ? {} : { cause },
    )
    this.name = 'DestinationError'
    this.fault = fault
    this.host = host
  }
}

/** All addresses of a name, in the order of the system. */
export type Resolver = (host: string) => Promise<readonly DestinationAddress[]>

/** Resolvers of the system give up after tens of seconds only. */
const resolveMs = 5_000

const never = new BlockList()
// "This network", link-local (metadata services of clouds among them), protocol assignments, multicast, reserved, broadcast.
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['192.0.0.0', 24],
  ['224.0.0.0', 4],
  ['240.0.0.0', 4],
] as const)
  never.addSubnet(network, prefix, 'ipv4')
// Metadata services that are not link-local: Alibaba, Azure, AWS.
for (const address of ['100.100.100.200', '168.63.129.16']) never.addAddress(address, 'ipv4')
never.addAddress('fd00:ec2::254', 'ipv6')
never.addAddress('::', 'ipv6')
for (const [network, prefix] of [
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const)
  never.addSubnet(network, prefix, 'ipv6')

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** The eight groups of an IPv6 address; the URL parser knows every spelling. */
const groupsOf = (address: string): number[] => {
  const plain = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1)
  const [left = '', right] = plain.split('::')
  const parse = (text: string | undefined): number[] =>
    text === undefined || text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
  const [head, tail] = [parse(left), parse(right)]
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail]
}

/** The IPv4 address that an IPv6 address is only another way to: mapped, compatible, NAT64, 6to4. */
const embedded = (address: string): string | null => {
  const groups = groupsOf(address)
  const ipv4 = (at: number): string => {
    const [high = 0, low = 0] = groups.slice(at, at + 2)
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  }
  const starts = (...prefix: readonly number[]): boolean => prefix.every((group, i) => groups[i] === group)
  if (starts(0, 0, 0, 0, 0, 0xffff)) return ipv4(6)
  // `::` and `::1` are their own.
  if (starts(0, 0, 0, 0, 0, 0) && (groups[6] !== 0 || (groups[7] as number) > 1)) return ipv4(6)
  if (starts(0x64, 0xff9b, 0, 0, 0, 0) || starts(0x64, 0xff9b, 1)) return ipv4(6)
  if (starts(0x2002)) return ipv4(1)
  return null
}

const inList = (list: BlockList, address: string): boolean => {
  if (isIP(address) === 4) return list.check(address, 'ipv4')
  const inner = embedded(address)
  return list.check(address.split('%')[0] as string, 'ipv6') || (inner !== null && list.check(inner, 'ipv4'))
}

/** Loopback is for who says so: `localhost`, or the address itself. A name elsewhere that points here is a trap. */
const isSpelledAsLoopback = (host: string): boolean =>
  host.toLowerCase() === 'localhost' || (isIP(host) !== 0 && inList(loopback, host))

const mayConnect = (host: string, address: string): boolean =>
  isIP(address) !== 0 && !inList(never, address) && (!inList(loopback, address) || isSpelledAsLoopback(host))

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

/** Resolves a host (name or address, IPv6 with or without brackets) and judges it. Throws `DestinationError`. */
export const resolveDestination = async (given: string, resolver: Resolver = systemResolver): Promise<Destination> => {
  const host = given.replace(/^\[|\]$/g, '')
  const family = isIP(host)
  const found: readonly DestinationAddress[] =
    family !== 0
      ? [{ address: host, family: family === 6 ? 6 : 4 }]
      : await withinLimit(resolver(host)).catch((cause: unknown) => {
          throw new DestinationError('unresolved', host, cause)
        })
  const allowed = found.filter(({ address }) => mayConnect(host, address))
  const [first] = allowed
  if (first === undefined) throw new DestinationError(found.length === 0 ? 'unresolved' : 'refused', host)
  return {
    ...first,
    host,
    lookup: (_name, options, done) => {
      const family = options.family === 'IPv6' ? 6 : options.family === 'IPv4' ? 4 : (options.family ?? 0)
      const usable = allowed.filter((one) => family === 0 || one.family === family)
      const [one] = usable
      if (one === undefined) done(Object.assign(new Error(`no address of ${host}`), { code: 'ENOTFOUND' }), '', 0)
      // All of them: Node tries the next when one does not answer.
      else if (options.all === true) done(null, [...usable])
      else done(null, one.address, one.family)
    },
  }
}
