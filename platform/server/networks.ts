import { BlockList, isIP } from 'node:net'

const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.1/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
}

/** Returns whether this is an address, or a network as address and prefix length. */
export const isNetwork = (text: string): boolean => {
  const [address = '', bits, more] = text.split('/')
  const family = isIP(address)
  const most = family === 6 ? 128 : 32
  return family !== 0 && more === undefined && (bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= most))
}

/** Returns a function that checks whether an address is in one of the networks. Ignores what is no network. */
export const isIn = (networks: readonly string[]): ((address: string) => boolean) => {
  const listed = new BlockList()
  for (const network of networks.flatMap((one) => named[one] ?? [one])) {
    if (!isNetwork(network)) continue
    const [address = '', bits] = network.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (bits === undefined) listed.addAddress(address, family)
    else listed.addSubnet(address, Number(bits), family)
  }
  return (address) => isIP(address) !== 0 && listed.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}
