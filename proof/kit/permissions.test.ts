import { expect, it } from 'vitest'
import { contractById } from './operations.ts'
import { writtenPermissions } from './permissions.ts'

it('matches the contract for every operation, although both lists are written separately', () => {
  const operations = [...contractById.values()].filter(({ permission }) => permission !== 'agent')
  expect(Object.fromEntries(operations.map(({ id, permission }) => [id, permission]))).toEqual(writtenPermissions)
})
