import { BlockList, isIP } from 'node:net'

/** Addresses that name no host an organisation means: metadata of clouds, groups, this network, nobody (IANA registries). */
const never = new BlockList()
for (const [address, prefix] of [
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['192.0.0.0', 24],
  ['224.0.0.0', 3],
] as const)
  never.addSubnet(address, prefix, 'ipv4')
// Metadata services that are not link-local: Alibaba, and Amazon over IPv6.
never.addAddress('100.100.100.200', 'ipv4')
never.addAddress('fd00:ec2::254', 'ipv6')
for (const [address, prefix] of [
  ['fe80::', 10],
  ['ff00::', 8],
] as const)
  never.addSubnet(address, prefix, 'ipv6')
never.addAddress('::', 'ipv6')

const own = new BlockList()
own.addSubnet('127.0.0.0', 8, 'ipv4')
own.addAddress('::1', 'ipv6')

/** IPv4 inside of IPv6 (mapped, 6to4-free): `::ffff:a.b.c.d`, in either spelling. */
const mapped = (address: string): string | undefined => {
  const match = /^::ffff:(?:(\d+\.\d+\.\d+\.\d+)|([0-9a-f]{1,4}):([0-9a-f]{1,4}))$/i.exec(address)
  if (match === null) return undefined
  if (match[1] !== undefined) return match[1]
  const [high, low] = [Number.parseInt(match[2] as string, 16), Number.parseInt(match[3] as string, 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

/** The canonical form: without a zone, IPv4 where it is hidden in IPv6. */
const plain = (address: string): string => {
  const bare = address.replace(/%.*$/, '')
  if (isIP(bare) !== 6) return bare
  const full = new URL(`http://[${bare}]`).hostname.slice(1, -1)
  return mapped(full) ?? full
}

const isIn = (list: BlockList, address: string): boolean => {
  const bare = plain(address)
  const family = isIP(bare)
  return family !== 0 && list.check(bare, family === 4 ? 'ipv4' : 'ipv6')
}

/** True for an address that nothing of ours may connect to. */
export const isForbiddenAddress = (address: string): boolean => isIP(plain(address)) === 0 || isIn(never, address)

/** True for an address of this machine. */
export const isLoopback = (address: string): boolean => isIn(own, address)

/** True when a host is spelled as this machine, so that whoever wrote it meant it. */
export const isSpelledLoopback = (host: string): boolean =>
  host.toLowerCase().replace(/\.$/, '') === 'localhost' || isLoopback(host)
