import { describe, expect, it } from 'vitest'
import { devicesAddress, insightOf, shareText } from './insight.ts'

describe('insights', () => {
  it.each([
    [0, '0 %'],
    [0.00001, '< 0.01 %'],
    [0.003333, '0.33 %'],
    [0.0123, '1.2 %'],
    [0.5, '50 %'],
  ])('formats %d as %s', (share, text) => {
    expect(shareText(share)).toBe(text)
  })

  it('uses the first insight for unknown names', () => {
    expect(insightOf('uncommon').title).toBe('Uncommon')
    expect(insightOf('no such').id).toBe('attack-tools')
  })

  it('links to devices with filters of the list', () => {
    expect(devicesAddress({ vid: '046D', pid: 'C52B' }, { serialNumber: 'a&b' })).toBe(
      '/peripherals?vid=046D&pid=C52B&present=true&serialNumber=a%26b',
    )
  })
})
