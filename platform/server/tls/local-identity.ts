import { isIP } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'

/**
 * Returns the names that other hosts may use for this machine: its host name, all addresses, and the listen address.
 */
export const localIdentity = (listenHost: string): { names: string[]; addresses: string[] } => {
  const addresses = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    // Link-local addresses need a zone, which only the calling host knows.
    .filter(({ address }) => !/^fe[89ab]/i.test(address))
    .map(({ address }) => address.replace(/%.*/, ''))
  const isAny = listenHost === '0.0.0.0' || listenHost === '::'
  const isAddress = isIP(listenHost) !== 0
  return {
    names: [hostname(), ...(isAddress ? [] : [listenHost])],
    addresses: [...addresses, ...(isAddress && !isAny ? [listenHost] : [])],
  }
}
