import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { rawHttp } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

let t: TestApp
let admin: ReturnType<TestApp['as']>

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  admin = await t.admin()
})
afterAll(() => t.close())

const tokens = '/prime/webui/agents/enrollmenttokens'
const bearer = async () => ({ authorization: `Bearer ${await t.signIn()}` })
const raw = (text: string) => rawHttp(t, text)
const field = (answer: { body: string }): string => JSON.parse(answer.body).errors[0]?.field

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
    ['a missing member', '{}', 400, 'body'],
    ['null', 'null', 400, 'body'],
    ['nothing', undefined, 400, 'body'],
    ['an array', '[{"name":"a"}]', 400, 'body'],
    ['invalid JSON', '{"name":', 400, 'body'],
    ['two documents', '{"name":"a"}{"name":"b"}', 400, 'body'],
    ['a number over int32', '{"name":"a","maxUses":2147483648}', 400, 'body.maxUses'],
    ['NaN', '{"name":"a","maxUses":NaN}', 400, 'body'],
  ])('with %s', async (_what, body, status, at) => {
    const answer = await make(body)
    expect(answer.statusCode, answer.body).toBe(status)
    if (status === 400) expect(field(answer)).toBe(at)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })

  it('are rejected if they are not UTF-8', async () => {
    const answer = await t.request({
      method: 'POST',
      url: tokens,
      headers: { ...(await bearer()), 'content-type': 'application/json' },
      payload: Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]),
    })
    expect([answer.statusCode, answer.json().detail]).toEqual([400, 'body is not valid UTF-8.'])
  })

  it('nested too deeply are rejected', async () => {
    const deep = `${'{"name":'.repeat(20_000)}1${'}'.repeat(20_000)}`
    expect((await make(deep)).statusCode).toBe(400)
    expect((await make('['.repeat(100_000))).statusCode).toBe(400)
  })

  it('over 8 MiB are 413', async () => {
    const answer = await make(`{"name":"${'x'.repeat(8 * 1024 * 1024)}"}`)
    expect([answer.statusCode, answer.json().code]).toEqual([413, 'payload_too_large'])
  })

  it.each(['gzip', 'br', 'deflate, gzip'])('with the encoding %s are 415', async (encoding) => {
    const answer = await make('{"name":"a"}', { 'content-encoding': encoding })
    expect([answer.statusCode, answer.json().detail]).toEqual([
      415,
      'Send the body uncompressed, without the header Content-Encoding.',
    ])
  })

  it('may be null or empty if they are optional', async () => {
    for (const body of [undefined, 'null', '', '[]'])
      expect((await admin.post('/prime/webui/agents/deleteAgents', body)).json()).toEqual({
        accepted: [],
        notFound: [],
      })
  })

  it('of operations without a body may be absent, null or {}', async () => {
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

  it('of a GET are ignored, including their media type', async () => {
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

  /** Content-Type spellings that once made a framework skip validation: none may let the bad body in. */
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

  it('select the charset of the body', async () => {
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

  it('of multipart bodies are never treated as an absent body', async () => {
    const part = '--x\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\n[]\r\n--x--\r\n'
    const answer = await admin.post('/prime/webui/agents/deleteAgents', part, {
      'content-type': 'multipart/form-data; boundary=x',
    })
    expect(answer.statusCode).toBe(415)
  })

  it.each([
    ['generalconfig/importtags', { imported: 0, failed: 0, errors: [] }],
    [
      'agents/agentless/uploadconnectiondetailsfile',
      { added: 0, updated: 0, failed: 0, errors: [], lines: [], secondPerson: false },
    ],
  ])('of a form without its optional file get zero counts from %s', async (path, none) => {
    const url = `/prime/webui/${path}`
    const form = { 'content-type': 'multipart/form-data; boundary=x' }
    const part = (head: string, value: string) =>
      `--x\r\ncontent-disposition: form-data; ${head}\r\n\r\n${value}\r\n--x--\r\n`
    for (const body of [
      '--x--\r\n',
      part('name="file"', ''),
      part('name="file"; filename=""', ''),
      part('name="note"', 'no file'),
    ]) {
      const answer = await admin.post(url, body, form)
      expect([answer.statusCode, answer.json()], body).toEqual([200, none])
    }
    const empty = await t.request({ method: 'POST', url, headers: { ...(await bearer()), ...form } })
    expect([empty.statusCode, empty.json()]).toEqual([200, none])
    for (const body of [part('name="data"; filename="f"', 'x'), part('name="file"', 'x')]) {
      const answer = await admin.post(url, body, form)
      expect([answer.statusCode, field(answer)], body).toEqual([400, 'body.file'])
    }
    const json = await admin.post(url, 'null')
    expect([json.statusCode, json.json().detail]).toEqual([
      415,
      'Send the file as multipart/form-data, in one part named file.',
    ])
    const document = (await admin.get('/openapi.json')).json()
    const { requestBody, responses } = document.paths[url].post
    expect([requestBody.required, requestBody.content['multipart/form-data'].schema.required]).toEqual([
      false,
      undefined,
    ])
    expect(JSON.stringify(document.components.responses[responses['415'].$ref.split('/').at(-1)])).not.toContain(
      'JSON body',
    )
  })

  it('are required for a body', async () => {
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

describe('forms', () => {
  const file = '--x\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\nType,Identifier,Name,Tags\r\n'
  it.each([
    ['with another boundary', 'y', `${file}--x--\r\n`],
    ['that end early', 'x', file],
    [
      'of many fields',
      'x',
      `${'--x\r\ncontent-disposition: form-data; name="a"\r\n\r\n1\r\n'.repeat(9)}${file}--x--\r\n`,
    ],
  ])('%s are rejected', async (_what, boundary, form) => {
    const answer = await admin.post('/prime/webui/generalconfig/importtags', form, {
      'content-type': `multipart/form-data; boundary=${boundary}`,
    })
    expect([answer.statusCode, answer.json().code], answer.body).toEqual([400, 'validation_failed'])
  })

  it('without a boundary are rejected', async () => {
    const answer = await admin.post('/prime/webui/generalconfig/importtags', file, {
      'content-type': 'multipart/form-data',
    })
    expect(answer.statusCode, answer.body).toBe(400)
  })
})

describe('a name in a path', () => {
  it.each(['x', '1.5', '1e3', '-1', '2147483648', '%F0%9F%98%80', '..%2F1'])(
    'returns 404 if it must be a number but is %s',
    async (given) => {
      for (const answer of [
        await admin.get(`/prime/webui/systemNotification/notices/${given}`),
        await admin.post(`/prime/webui/generalconfig/rollback/${given}`),
      ])
        expect([answer.statusCode, answer.json().code], answer.body).toEqual([404, 'not_found'])
    },
  )

  it('returns 404 if it is longer than any name', async () => {
    const answer = await admin.delete(`/prime/webui/policy/rules/${'x'.repeat(2_000)}`)
    expect([answer.statusCode, answer.json().code]).toEqual([404, 'not_found'])
  })
})
