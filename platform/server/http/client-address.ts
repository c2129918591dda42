import type { IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import { plainAddress } from '../address.ts'
import { isIn } from '../networks.ts'

/**
 * Returns a function that finds the address of a client: that of the connection or, behind trusted proxies, the last one
 * in X-Forwarded-For that no trusted proxy has. Empty if that is not an address.
 */
export const createClientAddress = (trustedProxies: readonly string[]) => {
  const isProxy = isIn(trustedProxies)
  return ({ socket, headers }: Pick<IncomingMessage, 'socket' | 'headers'>): string => {
    let address = plainAddress(socket.remoteAddress ?? '')
    const forwarded = headers['x-forwarded-for']
    if (forwarded === undefined || !isProxy(address)) return address
    const hops = String(forwarded).split(',')
    for (let hop = hops.pop(); hop !== undefined && isProxy(address); hop = hops.pop())
      address = plainAddress(hop.trim())
    return isIP(address) === 0 ? '' : address
  }
}
