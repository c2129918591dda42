import { allCsvRecords } from '@portcullis/server/test/csv.ts'
import { Type } from 'typebox'
import { expect, it } from 'vitest'
import { csvOf } from './computed-lists.ts'
import type { ExportColumn } from './exportable-list.ts'

const plain = { form: 'plain', labels: {}, schema: Type.String() } as const
const columns: ExportColumn[] = [
  { key: 'host', kind: 'text', label: 'Host', heading: 'Host', ...plain },
  { key: 'count', kind: 'number', label: 'Approved, attached', heading: 'Approved, attached', ...plain },
]

it.each([
  ['fixed', 'host,count'],
  ['readable', 'Host,"Approved, attached"'],
] as const)('a file of computed rows in the form %s has defused cells in the right columns', async (form, head) => {
  const hosts = ['=1+1', "'=1", 'x;=1', 'a,b', 'say "hi"', 'two\r\nlines', 'plain']
  const rows = hosts.map((host, i) => ({ host, count: -i }))
  const bytes = Buffer.concat(await csvOf(columns, rows, form).toArray())
  expect(bytes.toString().startsWith(`\ufeff${head}\r\n`)).toBe(true)
  const [, ...records] = await allCsvRecords(bytes)
  expect(records.map((record) => ('cells' in record ? record.cells : record))).toEqual(
    ["'=1+1", "''=1", "x;'=1", 'a,b', 'say "hi"', 'two\r\nlines', 'plain'].map((host, i) => [host, String(-i)]),
  )
})
