import { hidFunctions } from '@portcullis/domain'
import { randomReportDescriptors, reportDescriptors } from '@portcullis/domain/testing'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const of = (hex: string) => hidFunctions(Buffer.from(hex, 'hex'))
const keys = '05071500256575089506190029658100'

describe('hidFunctions', () => {
  it.each(reportDescriptors)('reads $what', ({ bytes, types }) => {
    expect(hidFunctions(Uint8Array.from(bytes)).keyboard).toBe(types)
  })

  it('reads combinations', () => {
    let state = 7
    const random = (): number => {
      state = (state * 1_103_515_245 + 12_345) % 2 ** 31
      return state / 2 ** 31
    }
    const wrong = randomReportDescriptors(500, random).filter(
      ({ bytes, types }) => hidFunctions(Uint8Array.from(bytes)).keyboard !== types,
    )
    expect(wrong).toEqual([])
  })

  it.each([
    ['a truncated item', `05010906a101${keys}c026ff`],
    ['a long item', `fe0201aabb05010906a101${keys}c0`],
    ['an open collection', `05010906a101${keys}`],
    ['a collection that closes twice', `05010906a101${keys}c0c0`],
    ['an unbalanced pop', `b405010906a101${keys}c0`],
    ['five pushes', `a4a4a4a4a405010906a101${keys}c0`],
    ['report 0', `05010906a1018500${keys}c0`],
    ['a maximum below the minimum', `05010906a10105071510250575089506190029658100c0`],
    ['fields of 257 bits', `05010906a10105071500256576010195061900296581 00c0`.replace(' ', '')],
    ['nested delimiters', `05010906a101a901a901a900a900${keys}c0`],
  ])('returns nothing for %s, which the kernel rejects', (_, hex) => {
    expect(of(`05010906a101${keys}c0`).keyboard).toBe(true)
    expect(Object.values(of(hex)).filter((is) => is)).toEqual([])
  })

  it('takes a list of collections for what they say', () => {
    expect(of('0601000a0600a101c0')).toMatchObject({ keyboard: true })
    expect(of('0601000a0200a101c0')).toMatchObject({ keyboard: false, mouse: true })
  })

  it('never throws and takes little time, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        expect(Object.keys(hidFunctions(bytes)).slice(0, 3)).toEqual(['keyboard', 'mouse', 'fido'])
      }),
    )
    const ranges = Buffer.from(`${'1800'.repeat(3)}${'2affff'.repeat(1200)}`, 'hex')
    expect(hidFunctions(ranges).keyboard).toBe(false)
  })
})
