import { createDestinations } from '@portcullis/platform/server/destinations.ts'
import { createAuthority } from '@portcullis/server/test/certificates.ts'
import { startHttpsPeer } from '@portcullis/server/test/peers/https-peer.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { NacFault } from './fault.ts'
import { exchange, type PeerAddress } from './peer.ts'
import { createTraffic } from './traffic.ts'

const authority = await createAuthority()
let peer: Awaited<ReturnType<typeof startHttpsPeer>>
let address: PeerAddress
beforeAll(async () => {
  peer = await startHttpsPeer(await authority.issue(['localhost']), () => ({
    status: 200,
    type: 'text/plain',
    body: 'yes',
  }))
  address = { url: new URL(peer.url), ca: [authority.pem], resolve: createDestinations(['127.0.0.0/8', '::1']) }
})
afterAll(() => peer.close())

const get = { method: 'GET', path: '/', headers: {} } as const
const trafficNow = () => createTraffic({ clock: { now: () => 0 }, name: 'Cisco ISE' })
const away = expect.objectContaining({ kind: 'away', message: expect.stringMatching(/did not answer in time/) })
/** Takes all ten slots and returns a function that releases them. */
const fill = (traffic: ReturnType<typeof trafficNow>) => {
  const { promise, resolve } = Promise.withResolvers<void>()
  const all = Promise.all(Array.from({ length: 10 }, () => traffic.run(() => promise)))
  return async () => {
    resolve()
    await all
  }
}

describe('a request that is aborted', () => {
  it('before it is sent is never sent', async () => {
    const seen = peer.seen.length
    await expect(exchange(address, get, AbortSignal.abort())).rejects.toEqual(away)
    // During the name resolution.
    const during = new AbortController()
    const looked = exchange(address, get, during.signal)
    during.abort()
    await expect(looked).rejects.toEqual(away)
    expect(peer.seen).toHaveLength(seen)
    expect((await exchange(address, get, new AbortController().signal)).text).toBe('yes')
  })

  it('while it waits uses up no turn', async () => {
    const traffic = trafficNow()
    const free = fill(traffic)
    const end = new AbortController()
    const { signal } = end
    const reads = Array.from({ length: 50 }, () =>
      traffic.run(() => exchange(address, get, signal), { signal, isLive: true }),
    )
    const patient = traffic.run(async () => 'served')
    const seen = peer.seen.length
    end.abort()
    const results = await Promise.allSettled(reads)
    expect(results).toEqual(Array(50).fill({ status: 'rejected', reason: away }))
    await free()
    expect(await patient).toBe('served')
    await expect(traffic.run(async () => 'late', { signal })).rejects.toEqual(away)
    expect(peer.seen).toHaveLength(seen)
  })
})

describe('the turns of one system', () => {
  it('go to quarantines first, then to live views and tests', async () => {
    const traffic = trafficNow()
    const free = fill(traffic)
    const served: string[] = []
    const all = [
      traffic.run(async () => served.push('live'), { isLive: true }),
      traffic.run(async () => served.push('trial'), { isTest: true }),
      traffic.run(async () => served.push('quarantine')),
    ]
    await free()
    await Promise.all(all)
    expect(served).toEqual(['quarantine', 'live', 'trial'])
  })

  it('do not pause after failed tests or our own aborts', async () => {
    const fail = (): Promise<never> => Promise.reject(new NacFault('away', 'connect', 'down'))
    const traffic = trafficNow()
    const end = new AbortController()
    for (let i = 0; i < 3; i++) await expect(traffic.run(fail, { isTest: true })).rejects.toThrow('down')
    const ended = Promise.all(
      Array.from({ length: 3 }, () =>
        expect(
          traffic.run(
            async () => {
              end.abort()
              return fail()
            },
            { signal: end.signal },
          ),
        ).rejects.toBeInstanceOf(NacFault),
      ),
    )
    await ended
    expect(await traffic.run(async () => 'asked')).toBe('asked')
    for (let i = 0; i < 5; i++) await expect(traffic.run(fail)).rejects.toThrow('down')
    await expect(traffic.run(async () => 'asked')).rejects.toThrow(/pause for 30 seconds/)
    // A test that works, for example with another password, says nothing about the other requests.
    expect(await traffic.run(async () => 'tried', { isTest: true })).toBe('tried')
    await expect(traffic.run(async () => 'asked')).rejects.toThrow(/pause for 30 seconds/)
  })
})
