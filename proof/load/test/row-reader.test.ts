import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createRowReader } from '../row-reader.ts'

const answerOf = (rows: readonly unknown[]): Buffer =>
  Buffer.from(`{"recordsTotal":${rows.length},"recordsFiltered":${rows.length},"data":${JSON.stringify(rows)}}`)

const readIn = (bytes: Buffer, cuts: readonly number[]) => {
  const reader = createRowReader()
  let from = 0
  for (const cut of [...cuts, bytes.length].map((c) => Math.min(c, bytes.length)).sort((a, b) => a - b)) {
    reader.add(bytes.subarray(from, cut))
    from = cut
  }
  return reader.end()
}

describe('row reader', () => {
  it('counts every row, wherever chunks end', () => {
    const row = fc.dictionary(
      fc.string({ unit: 'grapheme' }),
      fc.oneof(fc.string({ unit: 'grapheme' }), fc.record({ a: fc.string() })),
    )
    fc.assert(
      fc.property(fc.array(row, { maxLength: 12 }), fc.array(fc.nat(600), { maxLength: 12 }), (rows, cuts) => {
        expect(readIn(answerOf(rows), cuts)).toEqual({ total: rows.length, count: rows.length, isComplete: true })
      }),
    )
  })

  it('detects a truncated response and invalid rows', () => {
    const bytes = answerOf([{ a: 1 }, { b: '}' }])
    expect(readIn(bytes.subarray(0, -1), []).isComplete).toBe(false)
    expect(readIn(bytes.subarray(0, -4), []).isComplete).toBe(false)
    expect(() => readIn(Buffer.from('{"recordsTotal":1,"recordsFiltered":1,"data":[{"a":}]}'), [])).toThrow()
    expect(() => readIn(Buffer.from('{"recordsTotal":2,"recordsFiltered":2,"data":[{"a":1} {"a":1}]}'), [])).toThrow()
  })
})
