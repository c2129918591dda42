import { closed } from '@portcullis/contract/shapes.ts'
import { startCapabilityApp } from '@portcullis/server/test/capability-app.ts'
import { Type } from 'typebox'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listQuery, operation } from '../../contract/operation.ts'

const rest = {
  method: 'GET',
  tag: 'Test',
  summary: 'Times out',
  permission: 'public',
  response: Type.String(),
} as const
const filters = { Status: Type.Optional(Type.String()), ...listQuery }
const listed = operation({ ...rest, id: 'listed', path: '/listed', query: closed(filters) })
const other = operation({ ...rest, id: 'other', path: '/other', query: closed({ Status: filters.Status }) })
const chosen = operation({
  ...rest,
  id: 'chosen',
  method: 'POST',
  path: '/chosen',
  body: closed({ filter: Type.Optional(closed(filters)) }),
})

let app: Awaited<ReturnType<typeof startCapabilityApp>>
beforeAll(async () => {
  const timeout = async () => {
    throw Object.assign(new Error('canceling statement due to statement timeout'), { code: '57014' })
  }
  app = await startCapabilityApp((http) => {
    http.register(listed, timeout)
    http.register(other, timeout)
    http.register(chosen, timeout)
  })
})
afterAll(() => app.close())

const got = async (path: string) => {
  const answer = await app.as(null).get(path)
  return [answer.statusCode, answer.json().code]
}

it('says that a condition is too slow, if the caller gave one', async () => {
  for (const query of ['Status=a', 'GlobalSearch=a', 'Query=NOT%20a&PageSize=20'])
    expect(await got(`/listed?${query}`), query).toEqual([422, 'query_too_slow'])
  const answer = await app.as(null).post('/chosen', { filter: { Query: 'a OR b' } })
  expect([answer.statusCode, answer.json().code]).toEqual([422, 'query_too_slow'])
})

it('says that the server is unavailable, if the caller could not ask for less', async () => {
  for (const path of ['/listed', '/listed?PageNumber=2&PageSize=20&SortBy=id', '/other?Status=a'])
    expect(await got(path), path).toEqual([503, 'unavailable'])
  const answer = await app.as(null).post('/chosen', { filter: {} })
  expect([answer.statusCode, answer.headers['retry-after']]).toEqual([503, '2'])
})
