import { closed } from '@portcullis/contract/shapes.ts'
import { startCapabilityApp } from '@portcullis/server/test/capability-app.ts'
import { Type } from 'typebox'
import { expect, it } from 'vitest'
import { operation } from '../../contract/operation.ts'
import { AppError } from '../app-error.ts'

const refuse = operation({
  id: 'refuse',
  method: 'GET',
  path: '/refuse',
  tag: 'Test',
  summary: 'Refuses',
  permission: 'public',
  query: closed({ code: Type.Enum(['conflict', 'unprocessable']) }),
  response: Type.String(),
  errors: ['conflict'],
})

it('turns a problem that the contract does not list into a 500, and fails the tests of the file', async () => {
  const app = await startCapabilityApp((http) =>
    http.register(refuse, async ({ query: { code } }) => {
      throw new AppError(code, { detail: 'Refused.' })
    }),
  )
  const ask = async (code: string) => (await app.as(null).get(`/refuse?code=${code}`)).statusCode
  expect([await ask('conflict'), await ask('unprocessable'), await ask('other')]).toEqual([409, 500, 400])
  await expect(app.close()).rejects.toThrow(
    'the response of refuse does not match the contract: its errors lack unprocessable',
  )
})
