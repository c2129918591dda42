import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '#test/app.ts'

let t: TestApp
beforeAll(async () => {
  t = await startTestApp()
})
afterAll(() => t.close())

describe('metrics without a token', () => {
  const get = (host: string) => t.request({ method: 'GET', url: '/metrics', headers: { host } })
  it.each([
    ['127.0.0.1:8080', 200],
    ['localhost', 200],
    ['[::1]:8080', 200],
    ['buildhost:8080', 200],
    ['evil.example', 401],
    ['evil.example:8080', 401],
    ['127.0.0.1.evil.example:8080', 401],
  ])('by the name %s', async (host, status) => expect((await get(host)).statusCode).toBe(status))
})
