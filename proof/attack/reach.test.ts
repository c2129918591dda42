import { expect, it } from 'vitest'
import type { Offered } from '../kit/operations.ts'
import type { HttpRequest, Wire } from '../kit/wire.ts'
import { recordReached } from './reach.ts'

const offered = (id: string, method: string, path: string): Offered => ({
  id,
  method,
  path,
  described: { operationId: id, responses: {} },
  example: undefined,
  isStream: false,
  isUpload: false,
})
const operations = [
  offered('readRule', 'GET', '/rules/{id}'),
  offered('countRules', 'GET', '/rules/count'),
  offered('addRule', 'POST', '/rules'),
]

it('counts an operation as reached when it returns 200 to any caller', async () => {
  const wire: Pick<Wire, 'send'> = {
    send: async ({ path }: HttpRequest) => ({ status: path.endsWith('7') ? 404 : 200, headers: {}, text: '' }),
  }
  const reached = recordReached(wire, operations)
  await wire.send({ method: 'GET', path: '/rules/7' })
  await wire.send({ method: 'GET', path: '/elsewhere' })
  expect([...reached]).toEqual([])
  await wire.send({ method: 'GET', path: '/rules/count?PageSize=1' })
  expect([...reached]).toEqual(['countRules'])
  await wire.send({ method: 'GET', path: '/rules/8' })
  await wire.send({ method: 'POST', path: '/rules' })
  expect([...reached]).toEqual(['countRules', 'readRule', 'addRule'])
})
