import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { advance, parseVisits, type Snapshot } from './visit.ts'

const minute = 60_000
const look = (at: number, connected = 1): Snapshot => ({
  at,
  numbers: { connected, armed: 0, attackTools: 0, vulnerable: 0, violating: 0 },
})

describe('visits of an account', () => {
  it('has no comparison on the first visit', () => {
    expect(advance(null, look(0))).toEqual({ before: null, latest: look(0) })
  })

  it('keeps the same comparison during a visit', () => {
    const start = advance({ before: look(0), latest: look(100 * minute) }, look(120 * minute, 5))
    expect(start).toEqual({ before: look(0), latest: look(120 * minute, 5) })
  })

  it('compares with the last look after a pause', () => {
    const next = advance({ before: look(0), latest: look(10 * minute, 3) }, look(41 * minute, 7))
    expect(next).toEqual({ before: look(10 * minute, 3), latest: look(41 * minute, 7) })
  })

  it('accepts any text from storage', () => {
    expect(parseVisits(JSON.stringify({ before: null, latest: look(3) }))).toEqual({ before: null, latest: look(3) })
    expect(parseVisits('{"latest":{"at":1,"numbers":{}}}')).toBeNull()
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(() => parseVisits(text)).not.toThrow()
      }),
    )
  })
})
