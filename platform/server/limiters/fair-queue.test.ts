import { describe, expect, it } from 'vitest'
import { createFairQueue, type Source } from './fair-queue.ts'

const refusal = new Error('turned away')
const setUp = (given: { atOnce?: number; strangersAtOnce?: number; waiting?: number; perKey?: number } = {}) => {
  const { turn } = createFairQueue({
    atOnce: 1,
    strangersAtOnce: given.atOnce ?? 1,
    waiting: 10,
    perKey: 10,
    refusal: () => refusal,
    ...given,
  })
  const order: string[] = []
  let running = 0
  let most = 0
  const ask = (key: string, lane: Source['lane'] = 'stranger') =>
    turn({ lane, key }, async () => {
      most = Math.max(most, ++running)
      await new Promise((resolve) => setImmediate(resolve))
      running--
      order.push(key)
    })
  return { ask, order, most: () => most }
}

describe('a fair queue', () => {
  it('limits concurrent work', async () => {
    const { ask, most, order } = setUp({ atOnce: 2, waiting: 100, perKey: 100 })
    await Promise.all(Array.from({ length: 50 }, (_, i) => ask(`192.0.2.${i}`)))
    expect(most()).toBe(2)
    expect(order).toHaveLength(50)
    await ask('192.0.2.1')
  })

  it('gives an address its turn after one of each other address', async () => {
    const { ask, order } = setUp()
    await Promise.all([...Array.from({ length: 8 }, () => ask('192.0.2.1')), ask('198.51.100.1')])
    expect(order.indexOf('198.51.100.1')).toBe(2)
  })

  it('gives a network its turn after one of each other network', async () => {
    const { ask, order } = setUp()
    await Promise.all([...Array.from({ length: 8 }, (_, i) => ask(`192.0.2.${i}`)), ask('198.51.100.1')])
    expect(order.indexOf('198.51.100.1')).toBe(2)
  })

  it('gives known callers every second turn', async () => {
    const { ask, order } = setUp()
    await Promise.all([
      ...Array.from({ length: 8 }, (_, i) => ask(`192.0.${i}.1`)),
      ask('198.51.100.1', 'known'),
      ask('198.51.101.1', 'known'),
    ])
    expect(order.indexOf('198.51.100.1')).toBe(1)
    expect(order.indexOf('198.51.101.1')).toBe(3)
  })

  it('reserves one slot for known callers', async () => {
    const { ask, most, order } = setUp({ atOnce: 2, strangersAtOnce: 1 })
    await Promise.all(Array.from({ length: 8 }, (_, i) => ask(`192.0.${i}.1`)))
    expect(most()).toBe(1)
    await Promise.all([...Array.from({ length: 8 }, (_, i) => ask(`192.0.${i}.1`)), ask('198.51.100.1', 'known')])
    expect(most()).toBe(2)
    expect(order.indexOf('198.51.100.1')).toBeLessThan(10)
  })

  it('refuses the address with most callers when full, not the newcomer', async () => {
    const { ask, order } = setUp({ waiting: 5 })
    const flood = Array.from({ length: 6 }, () => ask('192.0.2.1'))
    const settled = Promise.allSettled([...flood, ask('198.51.100.1'), ask('203.0.113.1')])
    const states = (await settled).map(({ status }) => status)
    // One runs and five wait; the two newcomers displace the two that came last.
    expect(states).toEqual([...Array(4).fill('fulfilled'), 'rejected', 'rejected', 'fulfilled', 'fulfilled'])
    expect(order).toHaveLength(6)
  })

  it('counts addresses of one network together when it is full', async () => {
    const { ask } = setUp({ waiting: 5 })
    const flood = Array.from({ length: 6 }, (_, i) => ask(`2001:db8:1:${i}::/64`))
    const states = (await Promise.allSettled([...flood, ask('198.51.100.1')])).map(({ status }) => status)
    expect(states.at(-1)).toBe('fulfilled')
    expect(states.filter((state) => state === 'rejected')).toHaveLength(1)
  })

  it('refuses the newcomer if no address has more callers', async () => {
    const { ask } = setUp({ waiting: 2 })
    const all = [ask('192.0.2.1'), ask('198.51.100.1'), ask('203.0.113.1'), ask('100.64.0.1')]
    await expect(all[3]).rejects.toBe(refusal)
    await Promise.all(all.slice(0, 3))
  })

  it('limits the waiting callers of one address', async () => {
    const { ask } = setUp({ perKey: 2 })
    const states = (await Promise.allSettled(Array.from({ length: 5 }, () => ask('192.0.2.1')))).map((r) => r.status)
    expect(states.filter((state) => state === 'rejected')).toHaveLength(2)
  })

  it('continues after work that failed', async () => {
    const { turn } = createFairQueue({ atOnce: 1, strangersAtOnce: 1, waiting: 1, perKey: 1, refusal: () => refusal })
    const source: Source = { lane: 'known', key: 'a' }
    const first = turn(source, () => Promise.reject(new Error('failed')))
    await expect(first).rejects.toThrow('failed')
    expect(await turn(source, async () => 1)).toBe(1)
  })
})
