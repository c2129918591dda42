import { allCsvRecords } from '@portcullis/server/test/csv.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defuse, undefuse } from './csv.ts'
import type { CsvRecord } from './csv-records.ts'

const read = (text: string): Promise<CsvRecord[]> => allCsvRecords(Buffer.from(text))

const quote = (cell: string) => (/[",\r\n]/.test(cell) || cell === '' ? `"${cell.replaceAll('"', '""')}"` : cell)

/** Returns the cells that spreadsheets may see: any separators, with and without quotes. */
const cellsSeen = (file: string): string[] => {
  const lines = file.split(/\r\n|[\r\n]/)
  const split = [',', ';', '\t', '|'].flatMap((one) => lines.flatMap((line) => line.split(one)))
  return [...split, ...lines.flatMap((line) => line.split(/[,;\t|]/))].map((cell) =>
    cell.replace(/^[ "\u00a0\u3000]+/, ''),
  )
}
const formula = /^[=+\-@＝＋－＠]/

describe('defuse', () => {
  it('leaves no formula in any cell that a spreadsheet may see, and is reversible', () => {
    const unit = fc.constantFrom(...`=+-@＝＋－＠'",;|\t\r\n \u00a0\u3000aé1`)
    fc.assert(
      fc.property(fc.array(fc.string({ unit, maxLength: 12 }), { minLength: 1, maxLength: 4 }), (texts) => {
        const cells = texts.map(defuse)
        expect(cells.map(undefuse)).toEqual(texts)
        expect(cellsSeen(cells.map(quote).join(',')).filter((cell) => formula.test(cell))).toEqual([])
        expect(
          cellsSeen(cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')).filter((cell) =>
            formula.test(cell),
          ),
        ).toEqual([])
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    ['=1', "'=1"],
    ["'=1", "''=1"],
    ["x;=cmd|' /C calc'!A0", "x;'=cmd|' /C calc'!A0"],
    ['x; "@SUM(1)"|-1', `x; "'@SUM(1)"|'-1`],
    ['x\n=1', "x\n'=1"],
    ['Logitech, Inc. (1-2); a=b, c+d', 'Logitech, Inc. (1-2); a=b, c+d'],
    ["'a;'b", "'a;'b"],
  ])('writes %j as %j', (text, cell) => {
    expect(defuse(text)).toBe(cell)
  })

  it('takes linear time', () => {
    const startedAt = performance.now()
    for (const unit of ["'", '"', ' ', ';', '\t', "'=", '" ']) defuse(`;${unit.repeat(500_000)}`)
    expect(performance.now() - startedAt).toBeLessThan(5_000)
  })
})

describe('readCsv', () => {
  it('reads back what was written, with the first line of each record', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\r\n', '\n', 'ü', '😀', "'", '='), maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(cell, { minLength: 2, maxLength: 4 }), { maxLength: 20 }),
        fc.boolean(),
        async (rows, withMark) => {
          let line = 1
          const expected = rows.map((cells) => {
            const record = { line, cells }
            line += 1 + cells.join('').split('\n').length - 1
            return record
          })
          const text = rows.map((cells) => `${cells.map(quote).join(',')}\r\n`).join('')
          expect(await read((withMark ? '\ufeff' : '') + text)).toEqual(expected)
        },
      ),
      { numRuns: 200 },
    )
  })

  it('takes the separator from the header: comma, semicolon or tab', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '\t', '\n', 'ü'), maxLength: 6 })
    const quoteAll = (cells: readonly string[], separator: string): string =>
      cells
        .map((one) => (/[",;\t\r\n]/.test(one) || one === '' ? `"${one.replaceAll('"', '""')}"` : one))
        .join(separator)
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(',', ';', '\t'),
        fc.constantFrom('', '\r\n'),
        fc.array(fc.tuple(cell, cell, cell), { maxLength: 8 }),
        async (separator, blank, rows) => {
          const all = [['Computer', 'Tags, more; or less', 'User'], ...rows]
          const records = await read(blank + all.map((cells) => `${quoteAll(cells, separator)}\r\n`).join(''))
          expect(records.map((record) => ('cells' in record ? record.cells : record))).toEqual(all)
        },
      ),
    )
  })

  it('continues after an invalid line', async () => {
    expect(await read('\ufeffh,i\n1,"bad"q\n2,ok\n\n3,"x\ny"\n"4,open\n5,last')).toEqual([
      { line: 1, cells: ['h', 'i'] },
      { line: 2, fault: expect.stringContaining('quote') },
      { line: 3, cells: ['2', 'ok'] },
      { line: 5, cells: ['3', 'x\ny'] },
      { line: 7, fault: expect.stringContaining('quote') },
      { line: 8, cells: ['5', 'last'] },
    ])
  })

  it('limits a record and the number of faults', async () => {
    const records = await read(`a,b\n"${'x'.repeat(70_000)}",1\n2,ok\n${'"a\n'.repeat(5_000)}`)
    expect(records.slice(0, 3)).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 2, fault: expect.stringContaining('not closed') },
      { line: 3, cells: ['2', 'ok'] },
    ])
    expect(records.length).toBeLessThan(1_100)
  })
  it('limits a record with many cells', async () => {
    expect(await read(`a,b\n${','.repeat(70_000)}\n2,ok`)).toEqual([
      { line: 1, cells: ['a', 'b'] },
      { line: 2, fault: expect.stringContaining('longer') },
      { line: 3, cells: ['2', 'ok'] },
    ])
  })

  it('yields to the event loop, also within blank lines', async () => {
    for (const text of ['a,b\n'.repeat(200_000), '\n'.repeat(800_000)]) {
      let turns = 0
      let isOver = false
      const other = (): void => {
        turns++
        if (!isOver) setImmediate(other)
      }
      setImmediate(other)
      await read(text)
      isOver = true
      expect(turns).toBeGreaterThan(40)
    }
  })
})
