import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { localAccessPurpose, localProof } from '@portcullis/platform/server/http/local-caller.ts'
import { loadKeys } from '@portcullis/platform/server/keys.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'

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

describe('a server that others can reach', () => {
  const statusOf = async (app: TestApp, headers: Record<string, string> = {}, remoteAddress = '127.0.0.1') =>
    (await app.request({ method: 'GET', url: '/metrics', remoteAddress, headers: { host: 'localhost', ...headers } }))
      .statusCode

  it.each([
    ['listens on all addresses', { host: '0.0.0.0' }],
    ['listens on an address of the network', { host: '192.0.2.7' }],
    ['is behind a balancer', { proxyProtocolFrom: ['127.0.0.1'] }],
  ])('requires a token on the same machine if it %s', async (_, options) => {
    const app = await startTestApp(options)
    try {
      expect(await statusOf(app)).toBe(401)
    } finally {
      await app.close()
    }
  })

  it('requires a token on the same machine from the moment it has a public address', async () => {
    const app = await startTestApp()
    try {
      expect(await statusOf(app)).toBe(200)
      const admin = await app.admin()
      const answer = await admin.post('/prime/webui/generalconfig/SetServerDomainName', {
        SERVER_DOMAIN_NAME: 'https://portcullis.example.org',
      })
      expect(answer.statusCode).toBe(200)
      await vi.waitFor(async () => expect(await statusOf(app)).toBe(401), { timeout: 10_000 })
    } finally {
      await app.close()
    }
  })

  it('admits programs that can read the key file, for two minutes and only on the same machine', async () => {
    const keyDir = mkdtempSync(join(tmpdir(), 'portcullis-keys-'))
    const app = await startTestApp({ host: '0.0.0.0', keyDir })
    const key = loadKeys(join(keyDir, 'key')).derive(localAccessPurpose)
    const proof = () => ({ authorization: `Bearer ${localProof(key, app.clock.now())}` })
    try {
      const sent = proof()
      expect(await statusOf(app, sent)).toBe(200)
      expect(await statusOf(app, sent, '192.0.2.1')).toBe(401)
      expect(await statusOf(app, { ...sent, 'x-forwarded-for': '192.0.2.1' })).toBe(401)
      const other = await app.request({ method: 'GET', url: '/prime/webui/agents', headers: sent })
      expect(other.statusCode).toBe(401)
      app.clock.advance(120_000)
      expect(await statusOf(app, sent)).toBe(401)
      expect(await statusOf(app, proof())).toBe(200)
    } finally {
      await app.close()
    }
  })
})
