import { isIP } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'

/** What other hosts may call this machine by: its host name, all its addresses, and what it was told to listen on. */
export const localIdentity = (listenHost: string): { names: string[]; addresses: string[] } => {
  const addresses = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    // Link-local addresses need a zone that only the calling host knows.
    .filter(({ address }) => !/^fe[89ab]/i.test(address))
    .map(({ address }) => address.replace(/%.*/, ''))
  const isAny = listenHost === '0.0.0.0' || listenHost === '::'
  const isAddress = isIP(listenHost) !== 0
  return {
    names: [hostname(), ...(isAddress ? [] : [listenHost])],
    addresses: [...addresses, ...(isAddress && !isAny ? [listenHost] : [])],
  }
}
