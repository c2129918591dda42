import { closed } from '@portcullis/contract/shapes.ts'
import { startCapabilityApp } from '@portcullis/server/test/capability-app.ts'
import { Type } from 'typebox'
import { expect, it } from 'vitest'
import { listQuery, operation } from '../../contract/operation.ts'

const listed = operation({
  id: 'listed',
  method: 'GET',
  path: '/listed',
  tag: 'Test',
  summary: 'Waits',
  permission: 'fleet:read',
  query: closed(listQuery),
  response: Type.String(),
})

it('one account runs two composed queries at once, without keeping others or plain lists waiting', async () => {
  const ends: (() => void)[] = []
  const app = await startCapabilityApp((http) =>
    http.register(listed, ({ query }) =>
      query.Query === undefined ? Promise.resolve('plain') : new Promise<string>((end) => ends.push(() => end('done'))),
    ),
  )
  const started = async (count: number) => expect.poll(() => ends.length).toBe(count)
  const asked = ['a', 'b', 'c'].map((text) => app.as('user').get(`/listed?Query=${text}`))
  await started(2)
  expect((await app.as('user').get('/listed')).statusCode).toBe(200)
  const other = app.as('manager').get('/listed?Query=d')
  await started(3)
  ends[0]?.()
  await started(4)
  for (const end of ends) end()
  expect((await Promise.all([...asked, other])).map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200])
  await app.close()
})
