import * as contract from '@portcullis/features/contract.ts'
import { expect, it } from 'vitest'
import { slimContract } from './slim-contract.ts'

const lists = Object.entries(contract as Record<string, unknown>).filter(
  (entry): entry is [string, contract.ListDefinition] =>
    typeof entry[1] === 'object' && entry[1] !== null && 'row' in entry[1] && 'table' in entry[1],
)

it.each(lists)('gives the browser all columns and filters of %s', async (name, list) => {
  const { load } = slimContract() as unknown as { load: (id: string) => Promise<string> }
  const code = await load(`\0virtual:contract/${name}`)
  const slim: contract.ListDefinition = JSON.parse(code.slice(code.indexOf('=') + 1))
  const columns = ({ row }: contract.ListDefinition) =>
    Object.values(contract.columnsOf(row)).map(({ schema: _, ...column }) => column)
  expect(columns(slim)).toEqual(columns(list))
  expect(contract.filtersOf(slim)).toEqual(contract.filtersOf(list))
  expect(slim.table).toEqual(list.table)
})
