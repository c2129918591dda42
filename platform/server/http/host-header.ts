import type { IncomingMessage } from 'node:http'

/**
 * Returns whether a request names its host as RFC 9112 (3.2) requires: once, or at most once in HTTP/1.0. Node takes
 * the first of two, and a proxy may have used the second.
 */
export const namesOneHost = ({
  rawHeaders,
  httpVersion,
}: Pick<IncomingMessage, 'rawHeaders' | 'httpVersion'>): boolean => {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]
    if (name?.length === 4 && name.toLowerCase() === 'host') hosts++
  }
  return hosts === 1 || (hosts === 0 && httpVersion !== '1.1')
}
