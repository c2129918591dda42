import type { IncomingMessage } from 'node:http'
import { expect, it } from 'vitest'
import { createClientAddress } from './client-address.ts'

it.each([
  ['a client without a proxy', '192.0.2.7', '203.0.113.9', '192.0.2.7'],
  ['a mapped address', '::ffff:192.0.2.7', undefined, '192.0.2.7'],
  ['a client behind a proxy', '10.0.0.1', '192.0.2.7', '192.0.2.7'],
  ['a client that states another address', '10.0.0.1', '203.0.113.9, 192.0.2.7', '192.0.2.7'],
  ['a client behind two proxies', '::ffff:10.0.0.1', '203.0.113.9, 192.0.2.7, 10.0.0.2', '192.0.2.7'],
  ['a proxy itself', '10.0.0.1', undefined, '10.0.0.1'],
  ['a proxy that states no address', '10.0.0.1', 'unknown', ''],
])('returns the address of %s', (_, remoteAddress, forwarded, address) => {
  const request = { socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }
  expect(createClientAddress(['10.0.0.0/8'])(request as unknown as IncomingMessage)).toBe(address)
})
