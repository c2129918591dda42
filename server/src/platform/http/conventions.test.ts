import { connect } from 'node:net'
import * as contract from '@portcullis/contract'
import { type AnyOperation, operation } from '@portcullis/contract'
import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '#test/app.ts'
import { startFeatureApp } from '#test/feature-app.ts'
import { type Person, person } from '#test/people.ts'

let t: TestApp
let admin: ReturnType<TestApp['as']>
let manager: Person
let user: Person

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  admin = await t.admin()
  manager = await person(t, { profile: 20 })
  user = await person(t, { profile: 30 })
})
afterAll(() => t.close())

const tokens = '/prime/webui/agents/enrollmenttokens'
const bearer = async () => ({ authorization: `Bearer ${await t.signIn()}` })
const field = (answer: { body: string }): string => JSON.parse(answer.body).errors[0]?.field

describe('paths', () => {
  it.each([
    ['/prime/webui/agents', 200],
    ['/prime/webui/agents/', 200],
    ['/PRIME/WebUI/Agents', 200],
    ['/prime/webui/Agents/', 200],
    ['/prime/webui/%61gents', 200],
    ['/prime/webui/AGENTS?pagesize=1', 200],
    ['/prime/webui/agents//', 404],
    ['//prime/webui/agents', 404],
    ['/prime//webui/agents', 404],
    ['/prime/webui/./agents', 404],
    ['/prime/webui/x/../agents', 404],
    ['/prime/webui/%2e/agents', 404],
    ['/prime/webui/x/%2e%2e/agents', 404],
    ['/prime/webui%2fagents', 404],
    ['/prime/webui/agents;x=1', 404],
    ['/prime/webui/agents%3Bx', 404],
    ['/prime/webui/agents%00', 404],
    ['/prime/webui/agents%20', 404],
    ['/prime/webui/agents.json', 404],
    ['/prime/webui/agents/agent', 404],
    ['/prime/webui/agents/agent/', 404],
    ['/prime/webui/%zz', 400],
    ['/prime/webui/agents/agent/%ff', 400],
    ['/prime/webui/nothing', 404],
  ])('%s → %i, also for who may not', async (path, status) => {
    // A raw socket: clients and frameworks in between tidy paths up.
    const head = await raw(
      `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: ${(await bearer()).authorization}\r\nconnection: close\r\n\r\n`,
    )
    expect(Number(head.slice(9, 12)), head).toBe(status)
    const anonymous = await raw(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
    expect(Number(anonymous.slice(9, 12)), anonymous).toBe(status === 200 ? 401 : status)
  })

  it('keep the case of their parameters', async () => {
    const answer = await admin.get('/prime/webui/agents/agent/ABC')
    expect([answer.statusCode, answer.json().instance]).toEqual([404, '/prime/webui/agents/agent/ABC'])
  })

  it('over 16 KiB are refused', async () => {
    const answer = await admin.get(`/prime/webui/agents?_x=${'a'.repeat(16_384)}`)
    expect([answer.statusCode, answer.json().code]).toEqual([400, 'validation_failed'])
    expect((await admin.get(`/prime/webui/agents?_x=${'a'.repeat(16_000)}`)).statusCode).toBe(200)
  })
})

describe('query', () => {
  it.each([
    ['PageSize=10&pagenumber=1', 200, ''],
    ['pAgEsIzE=10', 200, ''],
    ['_=1234&_ts=5', 200, ''],
    ['Status=', 200, ''],
    ['GlobalSearch=', 200, ''],
    ['PageSize', 200, ''],
    ['&&PageSize=1&', 200, ''],
    ['PageSize=1000000', 200, ''],
    ['PageNumber=2147483647&PageSize=1000000', 200, ''],
    ['HostIdentifier=a+b%2Bc', 200, ''],
    ['HostIdentifier=%F0%9F%98%80', 200, ''],
    ['Severity=%3E%3D30', 200, ''],
    ['Severity=10,30', 200, ''],
    ['HasKnownAttackTools=True', 200, ''],
    ['HasKnownAttackTools=fALSE', 200, ''],
    ['Status=free,ARMED', 200, ''],
    ['SortBy=lastConfiguration_desc', 200, ''],
    ['SortBy=-IPADDRESS', 200, ''],
    ['PageSize=0', 400, 'query.PageSize'],
    ['PageSize=-1', 400, 'query.PageSize'],
    ['PageSize=1000001', 400, 'query.PageSize'],
    ['PageSize=0x10', 400, 'query.PageSize'],
    ['PageSize=1e3', 400, 'query.PageSize'],
    ['PageSize=1.0', 400, 'query.PageSize'],
    ['PageSize=%2050', 400, 'query.PageSize'],
    ['PageSize=NaN', 400, 'query.PageSize'],
    ['PageSize=99999999999999999999', 400, 'query.PageSize'],
    ['PageNumber=0', 400, 'query.PageNumber'],
    ['PageNumber=2147483648', 400, 'query.PageNumber'],
    ['PageSize=1&pagesize=1', 400, 'query.PageSize'],
    ['PageSize=1&PageSize=', 400, 'query.PageSize'],
    ['PageSize[]=1', 400, 'query.PageSize[]'],
    ['__proto__=1', 200, ''],
    ['constructor=1', 400, 'query.constructor'],
    ['toString=1', 400, 'query.toString'],
    ['hasOwnProperty=1', 400, 'query.hasOwnProperty'],
    ['HostIdentifier=%00', 400, 'query.HostIdentifier'],
    ['HostIdentifier=%ED%A0%80', 400, 'query.HostIdentifier'],
    ['HostIdentifier=%FF', 400, 'query.HostIdentifier'],
    ['HostIdentifier=%', 400, 'query.HostIdentifier'],
    ['%ff=1', 400, 'query.?'],
    ['Status=Broken', 400, 'query.Status'],
    ['Status=,', 400, 'query.Status'],
    ['Status=constructor', 400, 'query.Status'],
    ['HasKnownAttackTools=1', 400, 'query.HasKnownAttackTools'],
    ['Severity=high', 400, 'query.Severity'],
    ['Severity=2147483648', 400, 'query.Severity'],
    ['Severity=%3E%3D', 400, 'query.Severity'],
    ['Severity=99999999999', 400, 'query.Severity'],
    ['LastUpdated=yesterday', 400, 'query.LastUpdated'],
    ['LastUpdated=..', 400, 'query.LastUpdated'],
    ['LastUpdated=2031-02-30', 400, 'query.LastUpdated'],
    ['SortBy=constructor', 400, 'query.SortBy'],
    ['SortBy=__proto__', 400, 'query.SortBy'],
    ['SortBy=host', 400, 'query.SortBy'],
    ['SortBy=hostIdentifier_asc;drop', 400, 'query.SortBy'],
    ['SortBy=(select%201)', 400, 'query.SortBy'],
    ['SortBy=--hostIdentifier', 400, 'query.SortBy'],
  ])('%s → %i %s', async (query, status, at) => {
    const answer = await admin.get(`/prime/webui/agents?${query}`)
    expect(answer.statusCode, answer.body).toBe(status)
    if (status === 400) expect(field(answer)).toBe(at)
  })

  it('names the nearest known name', async () => {
    const answer = await admin.get('/prime/webui/agents?HostIdentifer=x')
    expect(answer.json()).toMatchObject({
      code: 'validation_failed',
      detail: 'query.HostIdentifer is unknown; did you mean HostIdentifier?.',
      errors: [{ field: 'query.HostIdentifer', message: 'is unknown; did you mean HostIdentifier?' }],
    })
  })

  it('names what was wrong in all of it', async () => {
    const { errors } = (await admin.get('/prime/webui/agents?PageSize=0&Foo=1&SortBy=&PageNumber=x')).json()
    expect(errors.map((e: { field: string }) => e.field)).toEqual(['query.PageSize', 'query.Foo', 'query.PageNumber'])
  })
})

describe('bodies', () => {
  const make = (body: string | undefined, headers: Record<string, string> = {}) => admin.post(tokens, body, headers)

  it.each([
    ['keys in other cases', '{"NAME":"a","expiresinhours":1}', 200, ''],
    ['blanks around', ' \n{"name":"a"}\t', 200, ''],
    ['a byte order mark', '\ufeff{"name":"a"}', 200, ''],
    ['a key twice in two cases', '{"name":"a","Name":"b"}', 400, 'body.name'],
    ['an unknown key', '{"name":"a","nam":1}', 400, 'body.nam'],
    ['__proto__', '{"name":"a","__proto__":{"profile":10}}', 400, 'body.__proto__'],
    ['constructor', '{"name":"a","constructor":{"prototype":{"polluted":1}}}', 400, 'body.constructor'],
    ['U+0000 in a value', '{"name":"a\\u0000b"}', 400, 'body.name'],
    ['half of a surrogate pair', '{"name":"\\ud800"}', 400, 'body.name'],
    ['U+0000 in a key', '{"name":"a","x\\u0000":1}', 400, 'body'],
    ['the wrong type', '{"name":["a"]}', 400, 'body.name'],
    ['a lacking member', '{}', 400, 'body'],
    ['null', 'null', 400, 'body'],
    ['nothing', undefined, 400, 'body'],
    ['an array', '[{"name":"a"}]', 400, 'body'],
    ['no JSON', '{"name":', 400, 'body'],
    ['two documents', '{"name":"a"}{"name":"b"}', 400, 'body'],
    ['a number over int32', '{"name":"a","maxUses":2147483648}', 400, 'body.maxUses'],
    ['NaN', '{"name":"a","maxUses":NaN}', 400, 'body'],
  ])('with %s', async (_what, body, status, at) => {
    const answer = await make(body)
    expect(answer.statusCode, answer.body).toBe(status)
    if (status === 400) expect(field(answer)).toBe(at)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  it('that are no UTF-8 are refused', async () => {
    const answer = await t.request({
      method: 'POST',
      url: tokens,
      headers: { ...(await bearer()), 'content-type': 'application/json' },
      payload: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]),
    })
    expect([answer.statusCode, answer.json().detail]).toEqual([400, 'body is not valid UTF-8.'])
  })

  it('nested without end are refused', async () => {
    const deep = `${'{"name":'.repeat(20_000)}1${'}'.repeat(20_000)}`
    expect((await make(deep)).statusCode).toBe(400)
    expect((await make('['.repeat(100_000))).statusCode).toBe(400)
  })

  it('over 8 MiB are 413', async () => {
    const answer = await make(`{"name":"${'x'.repeat(8 * 1024 * 1024)}"}`)
    expect([answer.statusCode, answer.json().code]).toEqual([413, 'payload_too_large'])
  })

  it('that may be absent may be null or empty', async () => {
    for (const body of [undefined, 'null', '', '[]'])
      expect((await admin.post('/prime/webui/agents/deleteAgents', body)).json()).toEqual({
        accepted: [],
        notFound: [],
      })
  })

  it('where none is taken may be nothing, null or {}', async () => {
    const url = `${tokens}/01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f`
    const send = async (payload: string) =>
      (
        await t.request({
          method: 'DELETE',
          url,
          headers: { ...(await bearer()), 'content-type': 'application/json' },
          payload,
        })
      ).statusCode
    expect(await Promise.all(['', 'null', '{}', ' {} ', '{"a":1}', '[]', '1'].map(send))).toEqual([
      404, 404, 404, 404, 400, 400, 400,
    ])
  })

  it('of a GET are ignored, with their media type', async () => {
    const answer = await t.request({
      method: 'GET',
      url: '/prime/webui/agents',
      headers: { ...(await bearer()), 'content-type': 'text/xml' },
      payload: '<x/>',
    })
    expect(answer.statusCode, answer.body).toBe(200)
  })
})

describe('media types', () => {
  const good = JSON.stringify({ name: 'typed' })
  const bad = JSON.stringify({ nome: 'typed' })

  /** Every way to write a Content-Type that made a framework skip validation once: none may let the bad body in. */
  it.each([
    ['application/json', true],
    ['application/json; charset=utf-8', true],
    ['application/json;charset=UTF-8', true],
    ['application/json ; charset="utf-8"', true],
    ['APPLICATION/JSON', true],
    ['application/json;', true],
    ['application/json ; x', true],
    ['application/json\t;charset=utf-8', true],
    ['application/json; charset=us-ascii', true],
    ['application/json; charset=iso-8859-1', true],
    ['text/json', true],
    ['text/json; charset=utf-8', true],
    ['application/vnd.api+json', true],
    ['application/merge-patch+json', true],
    ['application/json-patch+json', true],
    ['application/json; charset=none-such', false],
    ['text/plain', false],
    ['text/plain; application/json', false],
    ['application/x-www-form-urlencoded', false],
    ['multipart/form-data; boundary=x', false],
    ['application/jsonx', false],
    ['application/xml', false],
    ['xapplication/json', false],
    ['text/html', false],
    ['application/+json', false],
    ['*/*', false],
    ['json', false],
    [',application/json', false],
    ['application/json, text/plain', false],
  ])('%s', async (type, isTaken) => {
    const answer = await admin.post(tokens, good, { 'content-type': type })
    expect(answer.statusCode, answer.body).toBe(isTaken ? 200 : 415)
    const refused = await admin.post(tokens, bad, { 'content-type': type })
    expect(refused.statusCode).toBe(isTaken ? 400 : 415)
  })

  it('say how the bytes are to be read', async () => {
    const send = async (charset: string, payload: Buffer) =>
      (
        await t.request({
          method: 'POST',
          url: tokens,
          headers: { ...(await bearer()), 'content-type': `application/json; charset=${charset}` },
          payload,
        })
      ).json()
    expect((await send('iso-8859-1', Buffer.from('{"name":"\u00fcber"}', 'latin1'))).name).toBe('\u00fcber')
    expect((await send('utf-16le', Buffer.from('{"name":"\u20ac"}', 'utf16le'))).name).toBe('\u20ac')
    expect((await send('utf-16le', Buffer.from([0x00, 0xd8, 0x20, 0x00]))).code).toBe('validation_failed')
  })

  it('of several parts never pass for an absent body', async () => {
    const part = '--x\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n[]\r\n--x--\r\n'
    const answer = await admin.post('/prime/webui/agents/deleteAgents', part, {
      'content-type': 'multipart/form-data; boundary=x',
    })
    expect(answer.statusCode).toBe(415)
  })

  it('are needed for a body', async () => {
    const head = await raw(
      `POST ${tokens} HTTP/1.1\r\nhost: x\r\nauthorization: ${(await bearer()).authorization}\r\ncontent-length: ${good.length}\r\nconnection: close\r\n\r\n${good}`,
    )
    expect(head.slice(0, 12)).toBe('HTTP/1.1 415')
  })

  it.each([
    [undefined, 'application/json; charset=utf-8'],
    ['*/*', 'application/json; charset=utf-8'],
    ['text/html,application/xhtml+xml', 'application/json; charset=utf-8'],
    ['text/json', 'text/json; charset=utf-8'],
    ['text/plain', 'text/plain; charset=utf-8'],
    ['application/json;q=0.1, text/json', 'text/json; charset=utf-8'],
    ['text/*', 'text/json; charset=utf-8'],
    ['text/plain, application/json, text/json', 'application/json; charset=utf-8'],
    ['application/json;q=0', 'application/json; charset=utf-8'],
    ['garbage', 'application/json; charset=utf-8'],
    [';;;,,,', 'application/json; charset=utf-8'],
  ])('Accept %s → %s', async (accept, type) => {
    const answer = await admin.get('/prime/webui/agents', accept === undefined ? {} : { accept })
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, type])
    expect(JSON.parse(answer.body).data).toEqual([])
  })

  it.each([
    [undefined, 'application/problem+json; charset=utf-8'],
    ['application/json', 'application/problem+json; charset=utf-8'],
    ['*/*', 'application/problem+json; charset=utf-8'],
    ['text/plain', 'text/plain; charset=utf-8'],
    ['text/plain, application/json', 'application/problem+json; charset=utf-8'],
  ])('problems for Accept %s are %s', async (accept, type) => {
    const answer = await admin.get('/prime/webui/agents?PageSize=0', accept === undefined ? {} : { accept })
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([400, type])
    if (type.startsWith('text/')) expect(answer.body).toBe('query.PageSize must be at least 1.')
    else
      expect(Object.keys(answer.json())).toEqual([
        'type',
        'title',
        'status',
        'detail',
        'instance',
        'code',
        'errors',
        'traceId',
      ])
  })
})

describe('order of checks', () => {
  const send = async (method: string, url: string, options: { token?: string; type?: string; body?: string } = {}) => {
    const answer = await t.request({
      method: method as 'GET',
      url,
      headers: {
        ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
        ...(options.type === undefined ? {} : { 'content-type': options.type }),
      },
      ...(options.body === undefined ? {} : { payload: options.body }),
    })
    return answer
  }
  it('is path, method, who, profile, media type and size, shape', async () => {
    const bad = { type: 'text/plain', body: 'x' }
    expect((await send('POST', '/prime/webui/nothing', bad)).statusCode).toBe(404)
    const wrongMethod = await send('PUT', tokens, bad)
    expect([wrongMethod.statusCode, wrongMethod.headers.allow]).toEqual([405, 'GET, POST'])
    const anonymous = await send('POST', tokens, bad)
    expect([anonymous.statusCode, anonymous.headers['www-authenticate']]).toEqual([401, 'Bearer'])
    const low = await send('POST', tokens, { ...bad, token: user.token })
    expect([low.statusCode, low.json().detail]).toEqual([403, 'This needs profile Administrator.'])
    expect((await send('POST', tokens, { ...bad, token: manager.token })).statusCode).toBe(403)
    const token = await t.signIn()
    expect((await send('POST', tokens, { ...bad, token })).statusCode).toBe(415)
    const huge = 'x'.repeat(9 * 1024 * 1024)
    expect((await send('POST', tokens, { type: 'application/json', body: huge, token })).statusCode).toBe(413)
    expect((await send('POST', tokens, { type: 'application/json', body: huge, token: user.token })).statusCode).toBe(
      403,
    )
    expect((await send('POST', tokens, { type: 'application/json', body: '{}', token })).statusCode).toBe(400)
  })

  it.each([
    'Basic YWRtaW46eA==',
    'Bearer',
    'Bearer  ',
    'bearer ',
    'Bearer a b',
    "Bearer ' or 1=1--",
    'Token x',
    'Bearer \u00ff',
  ])('takes %s for no authentication', async (authorization) => {
    const answer = await t.request({ method: 'GET', url: '/prime/webui/agents', headers: { authorization } })
    expect([answer.statusCode, answer.json().code]).toEqual([401, 'unauthorized'])
  })

  it.each(['HEAD', 'TRACE', 'OPTIONS', 'PATCH', 'PUT', 'DELETE'])('answers %s of a list with 405', async (method) => {
    const answer = await t.request({ method: method as 'GET', url: '/prime/webui/agents' })
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET'])
  })

  it('refuses methods that are none', async () => {
    for (const method of ['CONNECT', 'PROPFIND', 'FOO', 'get']) {
      const head = await raw(`${method} /prime/webui/agents HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
      expect(head === '' || /^HTTP\/1\.1 4\d\d/.test(head), `${method}: ${head.slice(0, 40)}`).toBe(true)
    }
  })

  it('refuses requests that two servers may read in two ways', async () => {
    const authorization = `authorization: ${(await bearer()).authorization}`
    for (const lines of [
      'content-length: 5\r\ntransfer-encoding: chunked',
      'content-length: 5\r\ncontent-length: 6',
      'transfer-encoding: xchunked',
      'content-length: +5',
      'x: a\r\n b: c\r\n y',
    ]) {
      const head = await raw(
        `POST ${tokens} HTTP/1.1\r\nhost: x\r\n${authorization}\r\ncontent-type: application/json\r\n${lines}\r\n\r\n0\r\n\r\n`,
      )
      expect(head.slice(0, 12), lines).toBe('HTTP/1.1 400')
    }
    expect((await raw('GET /prime/webui/agents HTTP/1.1\r\n\r\n')).slice(0, 12)).toBe('HTTP/1.1 400')
  })
})

describe('every answer', () => {
  it('carries the headers that keep a browser safe', async () => {
    const token = await t.signIn()
    const asks = [
      ['GET', '/prime/webui/agents', 200, token],
      ['GET', '/prime/webui/agents?x=1', 400, token],
      ['GET', '/prime/webui/agents', 401, undefined],
      ['POST', tokens, 403, user.token],
      ['GET', '/prime/webui/nothing', 404, token],
      ['GET', '/nothing/at/all.js', 404, undefined],
      ['PUT', '/prime/webui/agents', 405, token],
      ['POST', '/agent/v1/enrol', 400, undefined],
      ['GET', '/healthz', 200, undefined],
      ['GET', '/openapi.json', 200, undefined],
      ['GET', '/prime/webui/%zz', 400, undefined],
    ] as const
    for (const [method, url, status, as] of asks) {
      const answer = await t.request({
        method,
        url,
        headers: as === undefined ? {} : { authorization: `Bearer ${as}` },
      })
      expect(answer.statusCode, `${method} ${url}`).toBe(status)
      expect(answer.headers, `${method} ${url}`).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'x-frame-options': 'DENY',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
      })
      expect(answer.headers['content-security-policy']).toMatch(/default-src 'none'/)
      expect(answer.headers['cache-control']).toMatch(/no-store|no-cache/)
      expect(answer.headers.server ?? answer.headers['x-powered-by']).toBeUndefined()
    }
  })

  it('to a foreign origin that changes something is 403', async () => {
    const send = (origin: string, host = 'portcullis.test') =>
      t.request({
        method: 'POST',
        url: '/prime/webui/Auth/LocalLogin',
        headers: { origin, host, 'content-type': 'application/json' },
        payload: '{"username":"admin","password":"x"}',
      })
    for (const origin of [
      'https://evil.example',
      'null',
      'http://portcullis.test.evil.example',
      'garbage',
      'http://portcullis.test:81',
    ])
      expect((await send(origin)).json().code, origin).toBe('origin_refused')
    expect((await send('http://portcullis.test')).json().code).toBe('credentials_wrong')
  })

  it('of a failure tells nothing of the inside', async () => {
    const app = await startFeatureApp((http) => {
      const secret = operation({
        id: 'fails',
        method: 'GET',
        path: '/prime/webui/fails',
        tag: 'Test',
        summary: 'Fails',
        permission: 'public',
        response: Type.Null(),
      })
      http.register(secret, () =>
        Promise.reject(Object.assign(new Error('password=hunter2 at /srv/x.ts'), { code: '42601' })),
      )
    })
    try {
      const answer = await app.request({ method: 'GET', url: '/prime/webui/fails' })
      expect([answer.statusCode, answer.json().code]).toEqual([500, 'internal_error'])
      expect(answer.body).not.toMatch(/hunter2|42601|srv|Error:/)
    } finally {
      await app.close()
    }
  })
})

describe('operations', () => {
  it('without a permission do not start', async () => {
    const open = {
      id: 'x',
      method: 'GET',
      path: '/prime/webui/x',
      tag: 'T',
      summary: 'x',
      response: Type.Null(),
    } as const
    for (const permission of [undefined, 'nobody', 'constructor', '__proto__'])
      await expect(
        startFeatureApp((http) => http.register({ ...open, permission } as never, async () => null as never)),
      ).rejects.toThrow(/declares no known permission: refusing to start/)
  })

  it('of the contract answer 401 to whoever is nobody, and 403 below their profile', async () => {
    const all = (Object.values(contract) as unknown[]).filter(
      (value): value is AnyOperation =>
        typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'permission' in value,
    )
    const known = t.app.operations
    expect(known.length).toBeGreaterThan(30)
    const missing = all.filter((o) => !known.some((k) => k.id === o.id)).map((o) => o.id)
    // Check-ins are answered before the router (ingest/check-in-path.ts).
    expect(missing, 'in the contract, not served').toEqual(['agentCheckIn'])
    for (const o of known) {
      if (o.permission === 'public' || o.permission === 'agent' || o.openOnLoopback === true) continue
      const url = o.path.replace(/\{\w+\}/g, '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f')
      const answers = await Promise.all(
        [undefined, user.token, manager.token].map(async (token) => {
          const given = await t.request({
            method: o.method,
            url: `${url}?PageSize=0&nonsense=1`,
            headers: {
              ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
              'content-type': 'application/json',
            },
            ...(o.method === 'GET' ? {} : { payload: '"nonsense"' }),
          })
          return given.statusCode
        }),
      )
      const needed = contract.permissionTable[o.permission]
      const expected = [401, needed < 30 ? 403 : 400, needed < 20 ? 403 : 400]
      expect([o.id, ...answers]).toEqual([o.id, ...expected])
    }
  })
})

/** Bytes out, text back, until the server closes. */
const raw = (text: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: Number(new URL(t.address).port) })
    let got = ''
    socket.setTimeout(3_000, () => socket.destroy())
    socket.on('data', (data) => {
      got += data.toString('utf8')
      // A refusal of the parser is all there is to wait for.
      if (!text.includes('connection: close') && got.includes('\r\n\r\n')) socket.destroy()
    })
    socket.on('error', () => {})
    socket.on('close', () => resolve(got))
    socket.write(text)
  })
