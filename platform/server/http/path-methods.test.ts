import * as contract from '@portcullis/features/contract.ts'
import type { InjectOptions } from 'fastify'
import { beforeAll, expect, it } from 'vitest'
import type { AnyOperation } from '../../contract/operation.ts'
import { createLog } from '../log.ts'
import { createMetrics } from '../metrics.ts'
import { Secret } from '../secret.ts'
import { compiledOf } from './compiled.ts'
import { createHttpApp, type HttpApp } from './http-app.ts'

const operations = (Object.values(contract) as unknown[]).filter(
  (one): one is AnyOperation => typeof one === 'object' && one !== null && 'path' in one && 'permission' in one,
)
const verbs = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE'] as const
let app: HttpApp

beforeAll(async () => {
  app = await createHttpApp({
    log: createLog('silent'),
    clock: { now: () => 0 },
    authenticate: async () => null,
    allowedOrigins: () => [],
    localAccess: { isOpen: () => true, key: new Secret(Buffer.alloc(32)) },
    trustedProxies: [],
    proxyProtocolFrom: [],
    tls: null,
    validateResponses: false,
    metrics: createMetrics(),
  })
  for (const one of operations)
    if (one.permission === 'agent')
      app.registerMachine(one as never, { credential: 'header', check: () => null }, async () => null as never)
    else app.register(one as never, async () => null as never)
  app.seal()
})

const ask = async (method: string, url: string) => {
  const { statusCode, headers } = await app.fastify.inject({ method, url } as InjectOptions)
  return [statusCode, headers.allow]
}

it('answers 405 even if a pattern with a parameter supports the method', async () => {
  const paths = [...new Set(operations.map(({ path }) => path))]
  const others = (path: string): AnyOperation[] =>
    operations.filter(
      (one) =>
        one.path !== path &&
        new RegExp(`^${one.path.replace(/\{\w+\}/g, '[^/]+')}$`, 'i').test(path.replace(/[{}]/g, '')),
    )
  const asked = paths.flatMap((path) => {
    const taken = new Set(
      operations.flatMap((one) => {
        if (one.path !== path) return []
        return one.method === 'GET' && one.responseKind !== 'redirect' ? ['GET', 'HEAD'] : [one.method]
      }),
    )
    return others(path)
      .filter(({ method }) => !taken.has(method))
      .map(({ method }) => ({ method, path: path.replace(/[{}]/g, ''), allow: [...taken].join(', ') }))
  })
  expect(asked.length).toBeGreaterThan(0)
  for (const { method, path, allow } of asked)
    expect([method, path, ...(await ask(method, path))]).toEqual([method, path, 405, allow])
})

it('matches paths like the router: case, escapes, one trailing slash, empty and long parameters', async () => {
  const known = [405, 'GET, HEAD']
  const unknown = [404, undefined]
  const one = '/prime/webui/agents/agent/'
  expect(await ask('DELETE', '/prime/webui/agents/')).toEqual(known)
  expect(await ask('DELETE', '/PRIME/webui/%61gents?PageSize=1')).toEqual(known)
  expect(await ask('DELETE', '/prime/webui/agents//')).toEqual(unknown)
  expect(await ask('DELETE', '/prime/webui/agents%2f')).toEqual(unknown)
  expect(await ask('DELETE', `${one}${'x'.repeat(512)}`)).toEqual(known)
  expect(await ask('DELETE', `${one}${'x'.repeat(513)}`)).toEqual(unknown)
  expect(await ask('GET', '/prime/webui/jobs//cancel')).toEqual([405, 'POST'])
  for (const verb of verbs) expect(await ask(verb, '/prime/webui/nothing')).toEqual(unknown)
})

it('can check every body and response, which are compiled on first use', () => {
  for (const { id, body, response } of operations)
    for (const schema of [body, response])
      if (schema !== undefined) expect(typeof compiledOf(schema).Check({}), id).toBe('boolean')
})
