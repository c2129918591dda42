import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createAuthority } from '@portcullis/server/test/certificates.ts'
import { afterEach, describe, expect, it } from 'vitest'
import { createDestinations } from './destinations.ts'
import { createOutboundFetch } from './outbound-fetch.ts'

const authority = await createAuthority()
const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

const serve = async (listener: RequestListener, names = ['127.0.0.1']): Promise<string> => {
  const server = createServer(await authority.issue(names), listener)
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}`
}
const get = createOutboundFetch({
  ca: [authority.pem],
  timeoutMs: 2_000,
  mostBytes: 1_000,
  resolve: createDestinations(['127.0.0.0/8', '::1']),
})
const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => 'answered',
    (error: { code?: string; fault?: string; message: string }) => error.code ?? error.fault ?? error.message,
  )

describe('a request that leaves the server', () => {
  it('carries method, headers and body', async () => {
    const url = await serve((request, response) => {
      request.setEncoding('utf8').on('data', (body: string) => {
        response.setHeader('x-seen', `${request.method} ${request.headers['content-type']} ${body}`).end('{"ok":true}')
      })
    })
    const answer = await get(`${url}/path`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ a: 'b c' }),
    })
    expect([answer.status, answer.headers.get('x-seen'), await answer.json()]).toEqual([
      200,
      'POST application/x-www-form-urlencoded a=b+c',
      { ok: true },
    ])
  })

  it('follows no redirect', async () => {
    let asked = 0
    const elsewhere = await serve(() => asked++)
    const url = await serve((_request, response) => response.writeHead(302, { location: elsewhere }).end())
    expect([(await get(url)).status, asked]).toEqual([302, 0])
  })

  it('aborts a response that is too long or too slow', async () => {
    const long = await serve((_request, response) => response.end('x'.repeat(1_001)))
    expect(await codeOf(get(long))).toBe('ETOOLARGE')
    const stalled = await serve((_request, response) => void response.write('x'))
    const stop = new AbortController()
    const pending = codeOf(get(stalled, { signal: stop.signal }))
    stop.abort()
    expect(await pending).toBe('ETIMEDOUT')
  })

  it('uses https only, verifies the certificate, and never connects to a forbidden address', async () => {
    expect(await codeOf(get('http://127.0.0.1:1'))).toBe('EINSECURE')
    expect(await codeOf(get(await serve(() => {}, ['other.example.org'])))).toBe('ERR_TLS_CERT_ALTNAME_INVALID')
    const untrusting = createOutboundFetch({
      ca: [],
      timeoutMs: 2_000,
      mostBytes: 1_000,
      resolve: createDestinations(['127.0.0.0/8', '::1']),
    })
    expect(await codeOf(untrusting(await serve(() => {})))).toMatch(/UNABLE_TO|SELF_SIGNED/)
    expect(await codeOf(get('https://169.254.169.254/latest/meta-data'))).toBe('refused')
    expect(await codeOf(get('https://[::ffff:169.254.169.254]/'))).toBe('refused')
  })
})
