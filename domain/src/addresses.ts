import { BlockList, isIP } from 'node:net'

/** Addresses that are never the address of an organisation's host (IANA registries), and cloud metadata services. */
const never = new BlockList()
// "This network", link-local (including cloud metadata services), protocol assignments, multicast, reserved, broadcast.
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
  // Teredo addresses hide their destination, and organisations do not use them for servers.
  ['2001::', 32],
  ['fe80::', 10],
  ['fec0::', 10],
  ['ff00::', 8],
] as const)
  never.addSubnet(network, prefix, 'ipv6')

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')

/** Returns the eight groups of an IPv6 address. The URL parser accepts every spelling. */
const groupsOf = (address: string): number[] => {
  const plain = new URL(`http://[${address.split('%')[0]}]`).hostname.slice(1, -1)
  const [left = '', right] = plain.split('::')
  const parse = (text: string | undefined): number[] =>
    text === undefined || text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16))
  const [head, tail] = [parse(left), parse(right)]
  return [...head, ...Array<number>(8 - head.length - tail.length).fill(0), ...tail]
}

/** Returns the IPv4 address that an IPv6 address contains: mapped, translated, compatible, NAT64 or 6to4. */
const embedded = (address: string): string | null => {
  const groups = groupsOf(address)
  function ipv4(at: number): string {
    const [high = 0, low = 0] = groups.slice(at, at + 2)
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  }
  const starts = (...prefix: readonly number[]): boolean => prefix.every((group, i) => groups[i] === group)
  if (starts(0, 0, 0, 0, 0, 0xffff) || starts(0, 0, 0, 0, 0xffff, 0)) return ipv4(6)
  // `::` and `::1` contain no IPv4 address.
  if (starts(0, 0, 0, 0, 0, 0) && (groups[6] !== 0 || (groups[7] ?? 0) > 1)) return ipv4(6)
  if (starts(0x64, 0xff9b, 0, 0, 0, 0) || starts(0x64, 0xff9b, 1)) return ipv4(6)
  if (starts(0x2002)) return ipv4(1)
  return null
}

const isIn = (list: BlockList, address: string): boolean => {
  if (isIP(address) === 0) return false
  if (isIP(address) === 4) return list.check(address, 'ipv4')
  const inner = embedded(address)
  return list.check(address.replace(/%.*$/s, ''), 'ipv6') || (inner !== null && list.check(inner, 'ipv4'))
}

/** Returns true for an IPv4 or IPv6 address without a zone. */
export const isAddress = (text: string): boolean => isIP(text) !== 0 && !text.includes('%')

/** Returns true for addresses that the product must not connect to, and for invalid addresses. */
export const isForbiddenAddress = (address: string): boolean => isIP(address) === 0 || isIn(never, address)

/** Returns true for a loopback address. */
export const isLoopback = (address: string): boolean => isIn(loopback, address)

/** Returns true if a host name or address explicitly names this machine. */
export const isSpelledLoopback = (host: string): boolean =>
  host.toLowerCase().replace(/\.$/, '') === 'localhost' || isLoopback(host)

/** Loopback networks that an operator allowed. */
export interface LoopbackNetworks {
  /** Returns true for an address in one of the networks. */
  has(address: string): boolean
}

/** Parses `address/prefix`. Returns null if it is not a loopback network. */
const parseLoopback = (text: string): { address: string; family: 'ipv4' | 'ipv6'; prefix: number } | null => {
  const [address = '', digits, ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0 || address.includes('%')) return null
  // An IPv4-mapped spelling would need another prefix.
  if (!isLoopback(address) || (version === 6 && embedded(address) !== null)) return null
  const [most, least] = version === 4 ? [32, 8] : [128, 128]
  if (digits !== undefined && !/^\d{1,3}$/.test(digits)) return null
  const prefix = digits === undefined ? most : Number(digits)
  return prefix >= least && prefix <= most ? { address, family: version === 4 ? 'ipv4' : 'ipv6', prefix } : null
}

/** Returns true for valid input of `loopbackNetworks`: an address or network in 127.0.0.0/8, or ::1. */
export const isLoopbackNetwork = (text: string): boolean => parseLoopback(text) !== null

export const loopbackNetworks = (texts: readonly string[]): LoopbackNetworks => {
  const list = new BlockList()
  for (const text of texts) {
    const network = parseLoopback(text)
    if (network === null) throw new RangeError(`${text} is not a loopback network`)
    list.addSubnet(network.address, network.prefix, network.family)
  }
  return { has: (address) => isIn(list, address) }
}

/**
 * Returns true if a worker may connect to an address for a host with this name. A foreign name that resolves to this
 * machine is an attack. The server itself connects to loopback only if the operator allowed it.
 */
export const mayConnectTo = (host: string, address: string): boolean =>
  !isForbiddenAddress(address) && (!isLoopback(address) || isSpelledLoopback(host))
