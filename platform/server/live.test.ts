import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

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
  it('ends when its caller loses access, while others continue', async () => {
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

  it('is limited to 20 per account; another one is refused until one ends, without affecting other accounts', async () => {
    const [one, other] = [await person(t), await person(t)]
    const ask = async (token: string) => {
      const abort = new AbortController()
      const headers = { authorization: `Bearer ${token}` }
      const answer = await fetch(`${t.address}/prime/webui/live`, { headers, signal: abort.signal })
      return { answer, abort }
    }
    const open = await Promise.all(Array.from({ length: 20 }, () => ask(one.token)))
    expect(open.map(({ answer }) => answer.status)).toEqual(open.map(() => 200))
    const { answer } = await ask(one.token)
    expect([answer.status, ((await answer.json()) as { code: string }).code]).toEqual([429, 'too_many_requests'])
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThan(0)
    const others = await ask(other.token)
    expect(others.answer.status).toBe(200)
    open[0]?.abort.abort()
    await expect
      .poll(async () => {
        const again = await ask(one.token)
        open.push(again)
        return again.answer.status
      })
      .toBe(200)
    for (const { abort } of [...open, others]) abort.abort()
  })
})
