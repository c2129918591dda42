import { expect, it } from 'vitest'
import { contractById } from './operations.ts'
import { writtenPermissions } from './permissions.ts'

it('says of each operation what the contract says, each of them written by its own hand', () => {
  const said = [...contractById.values()].filter(({ permission }) => permission !== 'agent')
  expect(Object.fromEntries(said.map(({ id, permission }) => [id, permission]))).toEqual(writtenPermissions)
})
