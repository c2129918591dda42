import { expect, it } from 'vitest'
import { allCsvRecords } from '../../../../test/csv.ts'
import { csvOf } from './computed-lists.ts'
import type { ExportColumn } from './exportable-list.ts'

const columns = [
  { key: 'host', kind: 'text' },
  { key: 'count', kind: 'number' },
] as ExportColumn[]

it('a file of computed rows has defused cells in the right columns', async () => {
  const hosts = ['=1+1', "'=1", 'a,b', 'say "hi"', 'two\r\nlines', 'plain']
  const rows = hosts.map((host, i) => ({ host, count: -i }))
  const bytes = Buffer.concat(await csvOf(columns, rows).toArray())
  expect(bytes.toString().startsWith('\ufeffhost,count\r\n')).toBe(true)
  const [, ...records] = await allCsvRecords(bytes)
  expect(records.map((record) => ('cells' in record ? record.cells : record))).toEqual(
    ["'=1+1", "''=1", 'a,b', 'say "hi"', 'two\r\nlines', 'plain'].map((host, i) => [host, String(-i)]),
  )
})
