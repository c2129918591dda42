import { BlockList, isIP } from 'node:net'

/** Addresses that name no host an organisation means (IANA registries), and metadata services of clouds. */
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
  // Teredo: the address it leads to is hidden in it, and nobody reaches a server of an organisation by it.
  ['2001::', 32],
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

/** The IPv4 address that an IPv6 address is only another way to: mapped, translated, compatible, NAT64, 6to4. */
const embedded = (address: string): string | null => {
  const groups = groupsOf(address)
  function ipv4(at: number): string {
    const [high = 0, low = 0] = groups.slice(at, at + 2)
    return [high >> 8, high & 255, low >> 8, low & 255].join('.')
  }
  const starts = (...prefix: readonly number[]): boolean => prefix.every((group, i) => groups[i] === group)
  if (starts(0, 0, 0, 0, 0, 0xffff) || starts(0, 0, 0, 0, 0xffff, 0)) return ipv4(6)
  // `::` and `::1` are their own.
  if (starts(0, 0, 0, 0, 0, 0) && (groups[6] !== 0 || (groups[7] as number) > 1)) return ipv4(6)
  if (starts(0x64, 0xff9b, 0, 0, 0, 0) || starts(0x64, 0xff9b, 1)) return ipv4(6)
  if (starts(0x2002)) return ipv4(1)
  return null
}

const isIn = (list: BlockList, address: string): boolean => {
  if (isIP(address) === 0) return false
  if (isIP(address) === 4) return list.check(address, 'ipv4')
  const inner = embedded(address)
  return list.check(address.split('%')[0] as string, 'ipv6') || (inner !== null && list.check(inner, 'ipv4'))
}

/** True for an IPv4 or IPv6 address without a zone. */
export const isAddress = (text: string): boolean => isIP(text) !== 0 && !text.includes('%')

/** True for an address that nothing of ours may connect to, and for what is no address. */
export const isForbiddenAddress = (address: string): boolean => isIP(address) === 0 || isIn(never, address)

/** True for an address of this machine. */
export const isLoopback = (address: string): boolean => isIn(loopback, address)

/** True when a host is spelled as this machine, so that whoever wrote it meant it. */
export const isSpelledLoopback = (host: string): boolean =>
  host.toLowerCase().replace(/\.$/, '') === 'localhost' || isLoopback(host)

/** Networks on loopback that an operator named. */
export interface LoopbackNetworks {
  /** True for an address in one of them. */
  has(address: string): boolean
}

/** The part of `address/prefix` that counts: its address, family and prefix; null when it is no network on loopback. */
const parseLoopback = (text: string): { address: string; family: 'ipv4' | 'ipv6'; prefix: number } | null => {
  const [address = '', digits, ...more] = text.split('/')
  const version = isIP(address)
  if (version === 0 || more.length > 0 || address.includes('%')) return null
  // Another spelling of an IPv4 network has another prefix.
  if (!isLoopback(address) || (version === 6 && embedded(address) !== null)) return null
  const [most, least] = version === 4 ? [32, 8] : [128, 128]
  if (digits !== undefined && !/^\d{1,3}$/.test(digits)) return null
  const prefix = digits === undefined ? most : Number(digits)
  return prefix >= least && prefix <= most ? { address, family: version === 4 ? 'ipv4' : 'ipv6', prefix } : null
}

/** True for what `loopbackNetworks` takes: an address or network in 127.0.0.0/8, or ::1. */
export const isLoopbackNetwork = (text: string): boolean => parseLoopback(text) !== null

export const loopbackNetworks = (texts: readonly string[]): LoopbackNetworks => {
  const list = new BlockList()
  for (const text of texts) {
    const network = parseLoopback(text)
    if (network === null) throw new RangeError(`${text} is no network on loopback`)
    list.addSubnet(network.address, network.prefix, network.family)
  }
  return { has: (address) => isIn(list, address) }
}

/**
 * Whether a worker may connect to an address for a host of this spelling: a name elsewhere that leads to this machine is a
 * trap. The server itself never connects to loopback unless the operator named it.
 */
export const mayConnectTo = (host: string, address: string): boolean =>
  !isForbiddenAddress(address) && (!isLoopback(address) || isSpelledLoopback(host))
