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
    ['LOCALHOST:8080', 200],
    ['localhost.', 401],
    ['127.8.9.10', 401],
    ['127.0.0.1.:8080', 401],
    ['[::ffff:127.0.0.1]:8080', 401],
    ['[::ffff:7f00:1]', 401],
    ['127.0.0.2', 401],
    ['127.1', 401],
    ['2130706433', 401],
    ['0x7f.1:8080', 401],
    ['evil.com.', 401],
    ['evil.com.:8080', 401],
    ['buildhost:8080', 401],
    ['localhost.evil.com', 401],
    ['evil.com:80@localhost', 401],
    ['128.0.0.1', 401],
    ['0.0.0.0', 401],
    ['[::ffff:8.8.8.8]', 401],
    ['[::2]', 401],
    ['evil.example', 401],
    ['evil.example:8080', 401],
    ['127.0.0.1.evil.example:8080', 401],
  ])('answer host %s with %i', async (host, status) => expect((await get(host)).statusCode).toBe(status))
})
