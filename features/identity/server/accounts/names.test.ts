import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let t: TestApp
beforeAll(async () => {
  t = await startTestApp()
})
afterAll(() => t.close())

describe('account names', () => {
  it.each([
    ['system', 400],
    ['System', 400],
    ['anonymous', 400],
    ['admin\u200b', 400],
    ['\u202enimda', 400],
    ['ad\u00admin', 400],
    ['systems', 200],
    ['Zoë Müller', 200],
    ['admin@example.org', 200],
    ['王小明', 200],
  ])('answers a new account named %j with %i', async (userName, status) => {
    const answer = await (await t.admin()).post('/prime/webui/admin/adduser', { userName, userProfile: 30 })
    expect(answer.statusCode, answer.body).toBe(status)
    if (status === 400) expect(answer.json().errors[0].field).toBe('body.userName')
  })
})
