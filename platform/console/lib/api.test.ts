import { primeVersion } from '@portcullis/features/contract.ts'
import { describe, expect, it } from 'vitest'
import type { AnyOperation } from '../../contract/operation.ts'
import { addressOf, createApi } from './api.ts'
import { CallFailure } from './problem.ts'

const get = primeVersion
const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json', ...headers } })
const problem = (status: number, code: string) =>
  json({ status, code, detail: 'why', errors: [], traceId: 't' }, status)

interface Call {
  address: string
  authorization: string | null
  body: string | null
}

/** Creates a client with a scripted server; `answer` receives each call with the number of refreshes so far. */
const clientBefore = (
  answer: (call: Call, refreshes: number) => Response | Promise<Response>,
  refresh?: () => Promise<void>,
  confirm: () => boolean | Promise<boolean> = () => true,
) => {
  const calls: Call[] = []
  let refreshes = 0
  let signedOut = 0
  let confirmations = 0
  const api = createApi({
    fetch: async (address, init) => {
      const headers = new Headers(init?.headers)
      const call = {
        address: String(address),
        authorization: headers.get('authorization'),
        body: typeof init?.body === 'string' ? init.body : null,
      }
      calls.push(call)
      return answer(call, refreshes)
    },
    refresh: async () => {
      await refresh?.()
      refreshes++
      return { token: `token-${refreshes}` }
    },
    onSignedOut: () => {
      signedOut++
    },
    confirmIdentity: async () => {
      confirmations++
      return await confirm()
    },
    exclusively: (work) => work(),
  })
  return { api, calls, counts: () => ({ refreshes, signedOut }), confirmations: () => confirmations }
}

const isFresh = (call: Call) => call.authorization === 'Bearer token-1'

describe('the address of a call', () => {
  it('encodes path parameters and omits empty query values', () => {
    const operation = { path: '/a/{id}/b' } as AnyOperation
    expect(
      addressOf(operation, {
        params: { id: '../x?y' },
        query: { Q: 'a&b', none: '', gone: undefined, list: ['x', 'y'] },
      }),
    ).toBe('/a/..%2Fx%3Fy/b?Q=a%26b&list=x%2Cy')
  })

  it('rejects a path without its parameter', () => {
    expect(() => addressOf({ path: '/a/{id}' } as AnyOperation, { params: { id: '' } })).toThrow(/id is missing/)
  })
})

describe('the client', () => {
  it('renews an expired token once for all waiting calls and repeats each of them', async () => {
    const { api, calls, counts } = clientBefore((call) =>
      isFresh(call) ? json({ ok: true }) : problem(401, 'unauthorized'),
    )
    const answers = await Promise.all([api.call(get), api.call(get), api.call(get)])
    expect(answers).toEqual([{ ok: true }, { ok: true }, { ok: true }])
    expect(counts()).toEqual({ refreshes: 1, signedOut: 0 })
    expect(calls).toHaveLength(6)
  })

  it('renews again when the token expires a second time', async () => {
    const { api, counts } = clientBefore((call, refreshes) =>
      call.authorization === `Bearer token-${Math.max(1, refreshes)}` && refreshes !== 1
        ? json(1)
        : problem(401, 'unauthorized'),
    )
    await api.call(get).catch(() => undefined)
    await api.call(get)
    expect(counts().refreshes).toBe(2)
  })

  it('ends the session when the refresh is refused', async () => {
    const { api, counts } = clientBefore(
      () => problem(401, 'unauthorized'),
      async () => {
        throw new CallFailure('unauthorized', 'over', { status: 401 })
      },
    )
    await expect(api.call(get)).rejects.toMatchObject({ code: 'unauthorized' })
    expect(counts()).toEqual({ refreshes: 0, signedOut: 1 })
  })

  it('keeps the session when the server is unreachable during the refresh', async () => {
    const { api, counts } = clientBefore(
      () => problem(401, 'unauthorized'),
      async () => {
        throw new CallFailure('network', 'No answer came back.')
      },
    )
    await expect(api.call(get)).rejects.toMatchObject({ code: 'network' })
    expect(counts().signedOut).toBe(0)
  })

  it('does not renew for a wrong second factor, because the session is still valid', async () => {
    const { api, calls, counts } = clientBefore(() => problem(401, 'mfa_code_wrong'))
    await expect(api.call(get)).rejects.toMatchObject({ code: 'mfa_code_wrong' })
    expect([calls.length, counts()]).toEqual([1, { refreshes: 0, signedOut: 0 }])
  })

  it('does not renew when the profile lacks a permission', async () => {
    const { api, counts } = clientBefore(() => problem(403, 'forbidden'))
    await expect(api.call(get)).rejects.toMatchObject({ code: 'forbidden', status: 403, traceId: 't' })
    expect(counts()).toEqual({ refreshes: 0, signedOut: 0 })
  })

  it('distinguishes no response, the response of a proxy and a long wait', async () => {
    const away = clientBefore(() => Promise.reject(new TypeError('failed to fetch')))
    await expect(away.api.call(get)).rejects.toMatchObject({ code: 'network' })
    const proxy = clientBefore(() => new Response('<h1>Bad gateway</h1>', { status: 502 }))
    await expect(proxy.api.call(get)).rejects.toMatchObject({ code: 'unreadable', status: 502 })
    const busy = clientBefore(() => json({ code: 'too_many_requests', detail: '' }, 429, { 'retry-after': '90' }))
    await expect(busy.api.call(get)).rejects.toMatchObject({ code: 'too_many_requests', retryAfter: 90 })
  })

  it('reports a cancelled call as cancelled, not as a failure of the server', async () => {
    const controller = new AbortController()
    const { api } = clientBefore(async () => {
      controller.abort(new DOMException('gone', 'AbortError'))
      throw controller.signal.reason
    })
    await expect(api.call(get, { signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' })
  })

  it('names a download as the server does', async () => {
    const { api } = clientBefore(
      () =>
        new Response('a,b', {
          headers: { 'content-disposition': 'attachment; filename="tags-1.csv"; filename*=UTF-8\'\'tags-1.csv' },
        }),
    )
    const { blob, name } = await api.download(get)
    expect([await blob.text(), name]).toEqual(['a,b', 'tags-1.csv'])
  })
})

describe('an operation that needs fresh authentication', () => {
  const post = { method: 'POST', path: '/x' } as AnyOperation

  it('asks the person, repeats the call once with the same body and keeps the session', async () => {
    let asked = 0
    const { api, calls, counts, confirmations } = clientBefore(() =>
      asked++ === 0 ? problem(401, 'reauthentication_required') : json({ done: true }),
    )
    expect(await api.call(post, { params: {}, body: { typed: 'kept' } })).toEqual({ done: true })
    expect(calls.map(({ body }) => body)).toEqual(['{"typed":"kept"}', '{"typed":"kept"}'])
    expect([counts(), confirmations()]).toEqual([{ refreshes: 0, signedOut: 0 }, 1])
  })

  it('is abandoned when the person cancels, and nothing is sent again', async () => {
    const { api, calls, counts, confirmations } = clientBefore(
      () => problem(401, 'reauthentication_required'),
      undefined,
      () => false,
    )
    await expect(api.call(post, { params: {} })).rejects.toMatchObject({
      code: 'not_confirmed',
    })
    expect(calls).toHaveLength(1)
    expect([counts(), confirmations()]).toEqual([{ refreshes: 0, signedOut: 0 }, 1])
  })

  it('asks only once', async () => {
    const { api, calls, confirmations } = clientBefore(() => problem(401, 'reauthentication_required'))
    await expect(api.call(post, { params: {} })).rejects.toMatchObject({
      code: 'reauthentication_required',
    })
    expect(calls).toHaveLength(2)
    expect(confirmations()).toBe(1)
  })
})
