/** Returns an address as it is shown: a mapped IPv4 address as IPv4. */
export const plainAddress = (ip: string): string => /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(ip)?.[1] ?? ip

/** Returns the eight groups of an IPv6 address, without leading zeros. */
const groupsOf = (ip: string): string[] => {
  const [head = '', tail] = ip.split('%')[0]?.toLowerCase().split('::') ?? []
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length)
  return [...left, ...Array.from({ length: zeros }, () => '0'), ...right].map((group) => group.replace(/^0+(?=.)/, ''))
}

/**
 * Returns the address by which limits count. An IPv6 /64 network is one customer; a mapped IPv4 address counts as IPv4.
 */
export const addressBucket = (given: string): string => {
  const ip = plainAddress(given)
  return ip.includes(':') ? `${groupsOf(ip).slice(0, 4).join(':')}::/64` : ip
}

/**
 * Returns the network of an address bucket, /24 or /48: an attacker with many addresses usually holds a whole network.
 */
export const networkOf = (bucket: string): string =>
  bucket.includes(':') ? `${bucket.split(':').slice(0, 3).join(':')}::/48` : bucket.split('.').slice(0, 3).join('.')
