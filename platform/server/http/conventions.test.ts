// Invariant: The server does not start with a route that has no permission and is neither public nor agent.

import { connect, type Socket } from 'node:net'
import * as contract from '@portcullis/features/contract.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { rawHttp } from '@portcullis/server/test/builders.ts'
import { startCapabilityApp } from '@portcullis/server/test/capability-app.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { Type } from 'typebox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AnyOperation, operation } from '../../contract/operation.ts'

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
const raw = (text: string) => rawHttp(t, text)
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
  ])('%s → %i, even without permission', async (path, status) => {
    // A raw socket, because clients and frameworks normalise paths.
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

  it('over 16 KiB are rejected', async () => {
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
    ['__proto__=1', 400, 'query.__proto__'],
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

  it('lists the known names and suggests the closest one', async () => {
    const answer = await admin.get('/prime/webui/agents?HostIdentifer=x')
    const known = Object.keys(contract.getAgents.query?.properties ?? {}).join(', ')
    const message = `is unknown; did you mean HostIdentifier?; known names: ${known}`
    expect(answer.json()).toMatchObject({
      code: 'validation_failed',
      detail: `query.HostIdentifer ${message}.`,
      errors: [{ field: 'query.HostIdentifer', message }],
    })
    const sorted = await admin.get('/prime/webui/agents?SortBy=hostIdentifer_desc')
    expect(field(sorted)).toBe('query.SortBy')
    expect(sorted.json().detail).toMatch(
      /must be one of hostIdentifier, .*, with _asc or _desc; did you mean hostIdentifier\?/,
    )
    const notices = await admin.get('/prime/webui/systemNotification/riskNotifications?knd=blocked')
    expect(notices.json().detail).toMatch(
      /^query\.knd is unknown; did you mean kind\?; known names: .*riskNotificationViewQuery/,
    )
    const body = await admin.post('/prime/webui/agents/exportagentcsv', { hostIdentifer: 'x' })
    expect(body.json().detail).toMatch(
      /^body\.hostIdentifer is unknown; did you mean hostIdentifier\?; known names: form, uuid, /,
    )
  })

  const enumerated = (Object.values(contract) as unknown as Partial<AnyOperation>[]).flatMap((one) =>
    one?.method !== 'GET'
      ? []
      : Object.entries((one.query?.properties ?? {}) as Record<string, { 'x-values'?: readonly string[] }>).flatMap(
          ([name, schema]) =>
            schema['x-values'] === undefined ? [] : [[one.path as string, name, schema['x-values']] as const],
        ),
  )
  it.each(enumerated)(
    'lists the values of the filter %s?%s and suggests the closest one',
    async (path, name, values) => {
      const [value = ''] = values
      const misspelt = `${value.slice(0, -1)}${value.endsWith('x') ? 'z' : 'x'}`
      const answer = await admin.get(
        `${path.replace(/\{\w+\}/g, '0197f6e0-6a4c-7c3e-8f2a-2d1c6b5a4e3f')}?${name}=${encodeURIComponent(misspelt)}`,
      )
      expect([answer.statusCode, field(answer)], answer.body).toEqual([400, `query.${name}`])
      const { message } = answer.json().errors[0]
      for (const known of values) expect(message).toContain(known)
      expect(message).toContain('did you mean ')
    },
  )

  it('suggests nothing for a name far from all known ones', async () => {
    const [fault] = (await admin.get('/prime/webui/agents?colour=red')).json().errors
    expect(fault.message).toMatch(/^is unknown; known names: Uuid, HostIdentifier, .*GlobalSearch, Query$/)
    const group = await admin.post('/prime/webui/systemNotification/notifications/update', { id: 1, colour: 'red' })
    expect(group.json().detail).toMatch(
      /^body\.colour is unknown; known names: id, groupName, .*quietHours, updatedAt, updatedBy, ifUpdatedAt\.$/,
    )
  })

  it('reports only the actual fault of a nullable member', async () => {
    const update = async (quietHours: unknown) =>
      (await admin.post('/prime/webui/systemNotification/notifications/update', { id: 1, quietHours })).json().errors
    const hours = { from: '25:00', to: '06:00', timeZone: 'UTC', passSeverity: null }
    expect((await update(hours)).map(({ field }: { field: string }) => field)).toEqual(['body.quietHours.from'])
    expect(await update(5)).toEqual([{ field: 'body.quietHours', message: 'must be object or null' }])
  })

  it('names all faults of a request', async () => {
    const { errors } = (await admin.get('/prime/webui/agents?PageSize=0&Foo=1&SortBy=&PageNumber=x')).json()
    expect(errors.map((e: { field: string }) => e.field)).toEqual(['query.PageSize', 'query.Foo', 'query.PageNumber'])
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
  it('is path, method, credential, profile, media type and size, schema', async () => {
    const bad = { type: 'text/plain', body: 'x' }
    expect((await send('POST', '/prime/webui/nothing', bad)).statusCode).toBe(404)
    const wrongMethod = await send('PUT', tokens, bad)
    expect([wrongMethod.statusCode, wrongMethod.headers.allow]).toEqual([405, 'GET, HEAD, POST'])
    const anonymous = await send('POST', tokens, bad)
    expect([anonymous.statusCode, anonymous.headers['www-authenticate']]).toEqual([401, 'Bearer'])
    const low = await send('POST', tokens, { ...bad, token: user.token })
    expect([low.statusCode, low.json().detail]).toEqual([403, 'This operation requires the profile Administrator.'])
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
  ])('treats %s as no authentication', async (authorization) => {
    const answer = await t.request({ method: 'GET', url: '/prime/webui/agents', headers: { authorization } })
    expect([answer.statusCode, answer.json().code]).toEqual([401, 'unauthorized'])
  })

  it.each(['TRACE', 'OPTIONS', 'PATCH', 'PUT', 'DELETE'])('answers %s of a list with 405', async (method) => {
    const answer = await t.request({ method: method as 'GET', url: '/prime/webui/agents' })
    expect([answer.statusCode, answer.headers.allow]).toEqual([405, 'GET, HEAD'])
  })

  it('answers HEAD wherever GET works, with the same status and no body', async () => {
    const ask = async (method: string, path: string, lines = '') => {
      const answer = await raw(`${method} ${path} HTTP/1.1\r\nhost: x\r\n${lines}connection: close\r\n\r\n`)
      const at = answer.indexOf('\r\n\r\n')
      const header = (name: string) => new RegExp(`^${name}: (.*)$`, 'im').exec(answer.slice(0, at))?.[1]?.trim()
      return { status: answer.slice(9, 12), header, body: answer.slice(at + 4) }
    }
    const authorization = `authorization: ${(await bearer()).authorization}\r\n`
    for (const path of [
      '/prime/webui/agents',
      '/prime/webui/agents?PageSize=x',
      '/prime/webui/agents/agent/nobody',
      '/prime/webui/agents/AgentExportFile',
      '/prime/webui/admin/PrimeVersion',
      '/prime/webui/nothing',
      '/openapi.json',
      '/docs',
      '/healthz',
      '/metrics',
    ]) {
      const [got, head] = [await ask('GET', path, authorization), await ask('HEAD', path, authorization)]
      expect([head.status, head.header('content-type'), head.body], path).toEqual([
        got.status,
        got.header('content-type'),
        '',
      ])
      // A time of day or a measured value may differ between the two.
      if (head.header('content-length') !== undefined && path === '/prime/webui/agents')
        expect(head.header('content-length')).toBe(got.header('content-length'))
    }
    expect((await ask('HEAD', '/prime/webui/agents')).status).toBe('401')
    expect(await ask('HEAD', '/prime/webui/live', authorization)).toMatchObject({ status: '200', body: '' })
    expect((await ask('HEAD', '/prime/webui/agents/deleteAgents', authorization)).status).toBe('405')
  })

  it('frees the database connection of a large page after HEAD', async () => {
    await insertFleet(t, 2_100)
    const headers = await bearer()
    const asked = Array.from({ length: 12 }, () =>
      t.request({ method: 'HEAD', url: '/prime/webui/agents?PageSize=1000000', headers }),
    )
    const answers = await Promise.all(asked)
    expect(answers.map(({ statusCode, body }) => [statusCode, body])).toEqual(answers.map(() => [200, '']))
    expect((await admin.get('/prime/webui/agents?PageSize=1000000')).json().data).toHaveLength(2_100)
  })

  it('rejects unknown methods', async () => {
    for (const method of ['CONNECT', 'PROPFIND', 'FOO', 'get']) {
      const head = await raw(`${method} /prime/webui/agents HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`)
      expect(head === '' || /^HTTP\/1\.1 4\d\d/.test(head), `${method}: ${head.slice(0, 40)}`).toBe(true)
    }
  })

  it('rejects requests that two servers may read differently', async () => {
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
    // Two Host headers, followed by another request: one refusal, and no other answer.
    const two = await raw('GET /healthz HTTP/1.1\r\nhost: x\r\nHost: y\r\n\r\nGET /healthz HTTP/1.1\r\nhost: x\r\n\r\n')
    expect(two.match(/HTTP\/1\.1 \d{3}/g)).toEqual(['HTTP/1.1 400'])
  })
})

describe('a stopping server', () => {
  it('does not wait for connections that never sent anything', async () => {
    const own = await startTestApp({ listen: true })
    const sockets = await Promise.all(
      [1, 2, 3].map(
        () =>
          new Promise<Socket>((resolve) => {
            const socket = connect({ host: '127.0.0.1', port: Number(new URL(own.address).port) }, () =>
              resolve(socket),
            )
            socket.on('error', () => {})
          }),
      ),
    )
    const startedAt = performance.now()
    await own.close()
    expect(performance.now() - startedAt).toBeLessThan(4_000)
    for (const socket of sockets) socket.destroy()
  })
})

describe('every response', () => {
  it('has the security headers', async () => {
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

  it('to a change from a foreign origin is 403', async () => {
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

  it('to an internal failure reveals no internals', async () => {
    const app = await startCapabilityApp((http) => {
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
        startCapabilityApp((http) => http.register({ ...open, permission } as never, async () => null as never)),
      ).rejects.toThrow(/has no known permission: refusing to start/)
  })

  it('of the contract answer 401 without a credential, and 403 below their profile', async () => {
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
