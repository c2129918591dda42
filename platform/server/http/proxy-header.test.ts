import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readProxyHeader } from './proxy-header.ts'

const signature = [0x0d, 0x0a, 0x0d, 0x0a, 0, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]
const binary = (command: number, family: number, addresses: number[], length = addresses.length): Buffer =>
  Buffer.from([...signature, command, family, length >> 8, length & 255, ...addresses])
const v4 = [192, 0, 2, 7, 198, 51, 100, 1, 0xc0, 0x01, 0x1f, 0x90]
const v6 = [0x20, 1, 0xd, 0xb8, ...Array(11).fill(0), 7, ...Array(16).fill(0), 0xc0, 0x01, 0x1f, 0x90]
const line = (text: string): Buffer => Buffer.from(`${text}\r\n`)

describe('a PROXY header', () => {
  it.each<[string, Buffer, object | null]>([
    ['version 1, IPv4', line('PROXY TCP4 192.0.2.7 198.51.100.1 49153 8080'), { address: '192.0.2.7', port: 49153 }],
    ['version 1, IPv6', line('PROXY TCP6 2001:DB8:0::7 ::1 49153 8080'), { address: '2001:db8::7', port: 49153 }],
    ['version 1, unknown', line('PROXY UNKNOWN ffff::1 2 3 4 anything'), null],
    ['version 2, IPv4', binary(0x21, 0x11, v4), { address: '192.0.2.7', port: 49153 }],
    ['version 2, IPv4 with extensions', binary(0x21, 0x11, [...v4, 4, 0, 1, 0]), { address: '192.0.2.7', port: 49153 }],
    ['version 2, IPv6', binary(0x21, 0x21, v6), { address: '2001:db8::7', port: 49153 }],
    ['version 2, local', binary(0x20, 0x00, []), null],
    ['version 2, local with addresses', binary(0x20, 0x11, v4), null],
    ['version 2, a UNIX socket', binary(0x21, 0x31, Array(216).fill(1)), null],
  ])('of %s', (_, header, client) => {
    const later = Buffer.from('\x16\x03\x01 later bytes')
    expect(readProxyHeader(Buffer.concat([header, later]))).toEqual({ size: header.length, client })
    for (let size = 0; size < header.length; size++)
      expect(readProxyHeader(header.subarray(0, size)), `${size} bytes`).toBe('incomplete')
  })

  it.each<[string, Buffer]>([
    ['a TLS handshake', Buffer.from([0x16, 3, 1, 2, 0])],
    ['a request', Buffer.from('GET / HTTP/1.1\r\n')],
    ['a longer word', line('PROXYX TCP4 192.0.2.7 198.51.100.1 1 2')],
    ['another protocol', line('PROXY UDP4 192.0.2.7 198.51.100.1 1 2')],
    ['a name', line('PROXY TCP4 localhost 198.51.100.1 1 2')],
    ['an address of the other family', line('PROXY TCP4 ::1 198.51.100.1 1 2')],
    ['an address with a zone', line('PROXY TCP6 fe80::1%lo ::1 1 2')],
    ['a port that is too large', line('PROXY TCP4 192.0.2.7 198.51.100.1 65536 2')],
    ['a port with a sign', line('PROXY TCP4 192.0.2.7 198.51.100.1 +1 2')],
    ['a missing port', line('PROXY TCP4 192.0.2.7 198.51.100.1 1')],
    ['a further word', line('PROXY TCP4 192.0.2.7 198.51.100.1 1 2 3')],
    ['a line without an end', Buffer.from(`PROXY UNKNOWN ${'x'.repeat(200)}`)],
    ['version 3', binary(0x31, 0x11, v4)],
    ['an unknown command', binary(0x22, 0x11, v4)],
    ['addresses that are too short', binary(0x21, 0x11, v4.slice(0, 8))],
    ['IPv6 with the addresses of IPv4', binary(0x21, 0x21, v4)],
    ['a length over the limit', binary(0x21, 0x11, v4, 5_000)],
  ])('is not %s', (_, start) => expect(readProxyHeader(start)).toBe('invalid'))

  it('is decided for any bytes', () => {
    const starts = fc.oneof(
      fc.uint8Array({ maxLength: 64 }),
      fc.uint8Array({ maxLength: 64 }).map((rest) => Uint8Array.from([...signature, ...rest])),
      fc.string({ maxLength: 120 }).map((rest) => Buffer.from(`PROXY ${rest}`)),
    )
    fc.assert(
      fc.property(starts, (bytes) => {
        const header = readProxyHeader(Buffer.from(bytes))
        if (typeof header === 'object') expect(header.size).toBeLessThanOrEqual(bytes.length)
      }),
    )
  })
})
