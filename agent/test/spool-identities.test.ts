import type { DeviceChange } from '@portcullis/contract/agent-protocol.ts'
import { describe, expect, it } from 'vitest'
import { attached, countOf, removed, setUp, times } from './spools.ts'

describe('a host without a connection', () => {
  it.each([
    ['at one port', () => '1-2'],
    [
      'at all ports of a hub that the device pretends to be',
      (n: number) => `1-2.${(n % 7) + 1}.${(Math.floor(n / 7) % 7) + 1}`,
    ],
  ])('keeps all other changes while a device returns with 10,000 identities %s', (_, portOf) => {
    const { open, faults } = setUp()
    const spool = open()
    const others: DeviceChange[] = []
    const flap = (n: number) => [attached(1 + n, portOf(n), n), removed(1 + n, portOf(n))]
    for (let n = 0; n < 10_000; n += 20) {
      spool.add(Array.from({ length: 20 }, (_, i) => flap(n + i)).flat())
      if (n % 100 === 0) {
        others.push(attached(1 + n, '2-1', n, 4_096))
        spool.add(others.slice(-1))
      }
    }
    const { changes } = open().pending(0)
    expect(changes).toEqual(spool.pending(0).changes)
    expect(changes.filter((change) => 'device' in change && change.device.portPath === '2-1')).toEqual(
      others.map((change) => ({ ...change, beforeRestart: true })),
    )
    const dropped = changes.filter(({ op }) => op === 'dropped')
    expect(dropped).toMatchObject([{ portPath: '1-2' }])
    const kept = changes.filter((change) => 'device' in change && change.device.portPath.startsWith('1-2'))
    // The first eight changes of each port stay.
    for (const port of new Set([0, 1, 2, 3].map((n) => portOf(n))))
      expect(times(kept.filter((change) => 'device' in change && change.device.portPath === port)).slice(0, 4)).toEqual(
        Array.from({ length: 10_000 }, (_, n) => n)
          .filter((n) => portOf(n) === port)
          .slice(0, 4)
          .map((n) => 1 + n),
      )
    // A removal is dropped before the first sight of an identity.
    expect(changes.filter(({ op }) => op === 'removed').length).toBeLessThan(kept.length)
    expect(times(changes)).toContain(10_000)
    expect(countOf(changes)).toBe(20_000 + others.length)
    expect(changes.length).toBeLessThan(2_048)
    expect(faults).not.toEqual([])
  })
})
