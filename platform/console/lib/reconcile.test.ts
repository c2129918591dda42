import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { reconcile } from './reconcile.ts'

interface Row {
  id: string
  v: number
}
const idOf = (row: Row) => row.id
const row = (id: string, v = 0): Row => ({ id, v })

describe('reconciling a page with its newer version', () => {
  it('changes values in place and counts new rows', () => {
    const result = reconcile([row('a'), row('b')], [row('new'), row('a', 1), row('b')], idOf)
    expect(result.rows).toEqual([row('a', 1), row('b')])
    expect(result).toMatchObject({ changed: ['a'], arrived: 1, moved: 2 })
  })

  it('keeps a removed row until the reader refreshes', () => {
    const result = reconcile([row('a'), row('b')], [row('b')], idOf)
    expect(result.rows.map(idOf)).toEqual(['a', 'b'])
    expect(result.moved).toBe(2)
  })

  it('reports nothing if nothing changed', () => {
    expect(reconcile([row('a')], [row('a')], idOf)).toEqual({ rows: [row('a')], changed: [], arrived: 0, moved: 0 })
  })

  it('never moves a row', () => {
    const page = fc.uniqueArray(fc.record({ id: fc.stringMatching(/^[a-h]$/), v: fc.nat(3) }), {
      selector: (r) => r.id,
    })
    fc.assert(
      fc.property(page, page, (shown, fresh) => {
        const result = reconcile(shown, fresh, idOf)
        expect(result.rows.map(idOf)).toEqual(shown.map(idOf))
        for (const r of result.rows)
          expect(fresh.find((f) => f.id === r.id) ?? shown.find((s) => s.id === r.id)).toEqual(r)
      }),
    )
  })
})
