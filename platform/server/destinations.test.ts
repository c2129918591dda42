// Invariant: The server connects only to the address that it checked.

import { connect, createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { createDestinations, type DestinationAddress, DestinationError, type Resolver } from './destinations.ts'

const answers = (...addresses: string[]) => {
  const asked: string[] = []
  return {
    asked,
    resolver: async (host: string): Promise<DestinationAddress[]> => {
      asked.push(host)
      return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
    },
  }
}

const resolveDestination = (host: string, { resolver }: { resolver?: Resolver } = {}) =>
  createDestinations([], resolver)(host)

const faultOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof DestinationError ? error.fault : error),
  )

describe('a destination', () => {
  it.each([
    '169.254.169.254',
    '169.254.0.1',
    '0.0.0.0',
    '0.1.2.3',
    '224.0.0.1',
    '239.255.255.250',
    '240.0.0.1',
    '255.255.255.255',
    '100.100.100.200',
    '168.63.129.16',
    '192.0.0.192',
    '::',
    'fe80::1',
    'febf::1',
    'fec0::1',
    'ff02::1',
    'fd00:ec2::254',
    'fd00:0ec2:0:0::254',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '::a9fe:a9fe',
    '64:ff9b::a9fe:a9fe',
    '64:ff9b:1::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '::ffff:0:a9fe:a9fe',
    '2001:0:a9fe:a9fe::1',
  ])('is never %s, spelled out or behind a name', async (address) => {
    expect(await faultOf(resolveDestination(address))).toBe('refused')
    expect(await faultOf(resolveDestination(`[${address}]`))).toBe('refused')
    expect(await faultOf(resolveDestination('directory.example.org', { resolver: answers(address).resolver }))).toBe(
      'refused',
    )
  })

  it.each(['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1', '64:ff9b::7f00:1'])(
    'is never %s without PORTCULLIS_OUTBOUND_ALLOW, spelled out or behind a name',
    async (address) => {
      expect(await faultOf(resolveDestination(address))).toBe('refused')
      for (const name of ['localhost', 'LOCALHOST.', 'rebind.example.org', '127.1', '0x7f.1', '2130706433'])
        expect(await faultOf(resolveDestination(name, { resolver: answers(address).resolver }))).toBe('refused')
      await expect(resolveDestination(address)).rejects.toThrow(/not in PORTCULLIS_OUTBOUND_ALLOW/)
      const allowed = createDestinations(['127.0.0.0/8', '::1'], answers(address).resolver)
      expect((await allowed(address)).address).toBe(address)
      expect((await allowed('localhost')).address).toBe(address)
    },
  )

  it.each(['10.1.2.3', '192.168.1.1', '172.16.0.1', '198.51.100.7', '2001:db8::7', 'fd12:3456::1', '::ffff:10.1.2.3'])(
    'may be %s',
    async (address) => {
      expect((await resolveDestination('directory.example.org', { resolver: answers(address).resolver })).address).toBe(
        address,
      )
    },
  )

  it('is loopback behind a name only if the operator allowed it', async () => {
    const within = (allow: string[], ...addresses: string[]) =>
      createDestinations(allow, answers(...addresses).resolver)
    const host = 'mail.example.org'
    expect(await within(['127.0.0.0/8'], '127.0.0.2')(host)).toMatchObject({ isAllowedLoopback: true })
    expect(await within(['127.0.0.0/8'], '::ffff:127.0.0.2')(host)).toMatchObject({ isAllowedLoopback: true })
    expect(await within(['::1'], '::1')(host)).toMatchObject({ isAllowedLoopback: true })
    expect(await faultOf(within(['127.0.0.0/8'], '::1')(host))).toBe('refused')
    expect(await faultOf(within(['127.0.0.1'], '127.0.0.2')(host))).toBe('refused')
    expect(await faultOf(within(['127.0.5.0/24'], '127.0.6.1')(host))).toBe('refused')
    for (const never of ['169.254.169.254', '0.0.0.0', 'fe80::1'])
      expect(await faultOf(within(['127.0.0.0/8', '::1'], never)(host))).toBe('refused')
    // Another host is not loopback, although some of its addresses are.
    expect(await within(['127.0.0.0/8'], '127.0.0.1', '10.1.2.3')(host)).toMatchObject({ isAllowedLoopback: false })
  })

  it('keeps the allowed ones of several addresses', async () => {
    const { resolver } = answers('fe80::1', '10.1.2.3', '169.254.169.254')
    expect(await resolveDestination('directory.example.org', { resolver })).toMatchObject({
      address: '10.1.2.3',
      family: 4,
    })
  })

  it('is unresolved without an address, or when the resolver fails', async () => {
    expect(await faultOf(resolveDestination('directory.example.org', { resolver: answers().resolver }))).toBe(
      'unresolved',
    )
    const failing = () => Promise.reject(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }))
    expect(await faultOf(resolveDestination('directory.example.org', { resolver: failing }))).toBe('unresolved')
  })

  it('is connected to at the checked address, although the name changed meanwhile', async () => {
    const server = createServer((socket) => socket.end('here'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as { port: number }
    const { asked, resolver } = answers('127.0.0.1')
    const destination = await createDestinations(['127.0.0.0/8'], resolver)('localhost')
    const said = await new Promise<string>((resolve, reject) => {
      // Nothing resolves this name: only the pinned address can answer.
      connect({ host: 'name.invalid', port, lookup: destination.lookup })
        .on('data', (data) => resolve(data.toString()))
        .on('error', reject)
    })
    await new Promise((resolve) => server.close(resolve))
    expect([said, asked]).toEqual(['here', ['localhost']])
  })
})
