import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

describe('the served console', () => {
  let t: TestApp
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-console-'))
  beforeAll(async () => {
    mkdirSync(join(dir, 'assets'))
    writeFileSync(join(dir, 'index.html'), '<meta name="csp-nonce" content="__CSP_NONCE__">')
    writeFileSync(join(dir, 'assets', 'app-1.js'), `// ${'x'.repeat(4_000)}`)
    writeFileSync(join(dir, 'assets', 'built-2.js'), `// ${'y'.repeat(4_000)}`)
    writeFileSync(join(dir, 'assets', 'built-2.js.br'), 'brotli of the build')
    writeFileSync(join(dir, 'assets', 'built-2.js.gz'), 'gzip of the build')
    mkdirSync(join(help, 'guide'))
    writeFileSync(join(help, 'guide', 'alerts.html'), '<h1>Alerts</h1>')
    t = await startTestApp({ consoleDir: dir, helpDir: help })
  })
  const help = mkdtempSync(join(tmpdir(), 'portcullis-help-'))
  afterAll(async () => {
    await t.close()
    rmSync(dir, { recursive: true })
    rmSync(help, { recursive: true })
  })

  it('serves its page for views, with a new nonce each time', async () => {
    const [first, second] = await Promise.all(['/', '/agents/x?open=1'].map((url) => t.request({ method: 'GET', url })))
    const nonces = [first, second].map((r) => /content="([^"]+)"/.exec(r?.body ?? '')?.[1])
    expect(nonces[0]).not.toBe(nonces[1])
    expect(first?.headers['content-security-policy']).toContain(`'nonce-${nonces[0]}'`)
    expect(first?.headers['content-security-policy']).toContain("require-trusted-types-for 'script'")
  })

  it('lets browsers cache files with a hash in their name', async () => {
    const answer = await t.request({
      method: 'GET',
      url: '/assets/app-1.js',
      headers: { 'accept-encoding': 'gzip, br' },
    })
    expect([answer.statusCode, answer.headers['content-encoding']]).toEqual([200, undefined])
    expect(answer.headers['cache-control']).toContain('immutable')
  })

  it.each([
    ['gzip, br', 'br', 'brotli of the build'],
    ['gzip', 'gzip', 'gzip of the build'],
    ['identity', undefined, `// ${'y'.repeat(4_000)}`],
  ])('serves the file that the build compressed for %s', async (accepted, encoding, body) => {
    const answer = await t.request({
      method: 'GET',
      url: '/assets/built-2.js',
      headers: { 'accept-encoding': accepted },
    })
    expect([answer.headers['content-encoding'], answer.body]).toEqual([encoding, body])
    expect(answer.headers.vary).toBe('accept-encoding')
  })

  it('serves the help without a script, and no console below it', async () => {
    const answer = await t.request({ method: 'GET', url: '/help/guide/alerts' })
    expect([answer.statusCode, answer.body]).toEqual([200, '<h1>Alerts</h1>'])
    expect(answer.headers['content-security-policy']).toMatch(
      /^default-src 'none'; style-src 'sha256-.*; img-src 'self'$/,
    )
    expect((await t.request({ method: 'GET', url: '/help/guide/none' })).statusCode).toBe(404)
  })

  it('compresses its page, with a nonce in header and body', async () => {
    const answer = await t.request({ method: 'GET', url: '/', headers: { 'accept-encoding': 'gzip, br' } })
    expect(answer.headers['content-encoding']).toBe('gzip')
    const nonce = /content="([^"]+)"/.exec(gunzipSync(answer.rawPayload).toString('utf8'))?.[1]
    expect(answer.headers['content-security-policy']).toContain(`'nonce-${nonce}'`)
  })

  it.each([
    '/prime//agents',
    '/prime/webui/nothing',
    '/agent/v1/nothing',
    '/assets/none.js',
    '/assets/built-2.js.br',
    '/assets',
    '/a//b',
    '/index.htm',
  ])('leaves %s to the 404 handler', async (url) => {
    const answer = await t.request({ method: 'GET', url })
    expect([answer.statusCode, answer.json().code]).toEqual([404, 'not_found'])
  })

  it.each([
    '/prime',
    '/prime/',
    '/PRIME/WebUI/agent',
    '/prime/webui',
    '/prime/webui/agents/agent/',
    '/prime/webui/agents/nothing/more',
    '/prime/webui/systemNotifications',
    '/prime/other',
    '/%70rime/webui/nothing',
    '/%2570rime/webui/nothing',
    '/prime;v=1/webui/agents',
    '/prime%20/webui/agents',
    '/prime./webui/agents',
    '/agent',
    '/agent/v1',
    '/agent/v2/check-in',
    '/worker/v1/nothing',
    '/docs/nothing',
    '/metrics/nothing',
    '/healthz/nothing',
    '/openapi.json/nothing',
  ])('answers the unknown API path %s with a problem, never with the page', async (url) => {
    for (const method of ['GET', 'HEAD'] as const) {
      const answer = await t.request({ method, url, headers: { accept: 'text/html,*/*' } })
      expect([answer.statusCode, answer.headers['content-type']]).toEqual([
        404,
        'application/problem+json; charset=utf-8',
      ])
      expect(answer.body).not.toContain('csp-nonce')
    }
  })
})
