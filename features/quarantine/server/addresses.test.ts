import { describe, expect, it } from 'vitest'
import { addressesOf, assertAddresses } from './addresses.ts'

describe('a list of addresses', () => {
  it('accepts the usual spellings', () => {
    expect([...addressesOf(' 00:1b:21:aa:BB:cc, 00-1B-21-AA-BB-CD ,,001b21aabbce,001b.21aa.bbcf')]).toEqual([
      '00:1B:21:AA:BB:CC',
      '00:1B:21:AA:BB:CD',
      '00:1B:21:AA:BB:CE',
      '00:1B:21:AA:BB:CF',
    ])
    expect(addressesOf('').size).toBe(0)
    assertAddresses('X', '')
  })

  it.each([
    '00:1b:21:aa:bb',
    '00:1b-21:aa:bb:cc',
    '00:1b:21:aa:bb:cc 00:1b:21:aa:bb:cd',
    'router',
    '00:1b:21:aa:bb:cg',
  ])('is rejected with an invalid address: %s', (text) => {
    expect(() => assertAddresses('X', `00:1b:21:aa:bb:cc,${text}`)).toThrow(/not a MAC address/)
  })
})
