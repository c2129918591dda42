import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '#test/app.ts'

let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

/** A live stream; `ended` resolves when the server ends it. */
const watch = async (token: string) => {
  const answer = await fetch(`${t.address}/prime/webui/live`, { headers: { authorization: `Bearer ${token}` } })
  expect(answer.status).toBe(200)
  let isOpen = true
  const ended = (async () => {
    for await (const _ of answer.body as unknown as AsyncIterable<Uint8Array>);
    isOpen = false
  })()
  return { ended, isOpen: () => isOpen }
}

describe('a live stream', () => {
  it('ends with the rights it was opened by, others go on', async () => {
    const admin = await t.admin()
    const add = async (userName: string) => {
      const password = 'a long enough one'
      expect((await admin.post('/prime/webui/admin/adduser', { userName, password, userProfile: 30 })).statusCode).toBe(
        200,
      )
      return t.signIn(userName, password)
    }
    const changes: [string, (name: string, token: string) => Promise<{ statusCode: number }>][] = [
      ['disabled', (userName) => admin.post('/prime/webui/admin/updateuser', { userName, isEnabled: false })],
      ['deleted', (userName) => admin.post('/prime/webui/admin/deleteUsers', [userName])],
      ['signed out', (_, token) => t.as(token).post('/prime/webui/Auth/Logout')],
    ]
    const other = await watch(await add('bystander'))
    for (const [name, change] of changes) {
      const token = await add(name)
      const stream = await watch(token)
      expect((await change(name, token)).statusCode).toBe(200)
      await stream.ended
    }
    expect(other.isOpen()).toBe(true)
  })
})
