import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as contract from '@portcullis/features/contract.ts'
import { describe, expect, it } from 'vitest'
import { openApiDocument, operationsOf } from '../../platform/server/http/openapi.ts'
import { ROOT } from '../bootstrap/say.mjs'
import { accepted } from './accepted.ts'
import { incompatibilities, type Surface, surfaceOf } from './compare.ts'

const host = {
  type: 'object',
  required: ['name', 'state'],
  properties: { name: { type: 'string' }, state: { type: 'string', enum: ['on', 'off'] }, note: { type: 'string' } },
}
const documentOf = (
  change: (parts: { query: object; body: object; answer: object; paths: object }) => object = () => ({}),
) => {
  const query = { name: 'limit', in: 'query', required: false, schema: { type: 'integer', maximum: 100 } }
  const body = {
    type: 'object',
    required: ['name'],
    properties: { name: { type: 'string', maxLength: 64 }, kind: { type: 'string', enum: ['a', 'b'] } },
  }
  const parts = { query, body, answer: { type: 'array', items: { $ref: '#/components/schemas/Host' } }, paths: {} }
  const now = { ...parts, ...change(parts) }
  return {
    components: { schemas: { Host: host } },
    paths: {
      '/hosts': {
        post: {
          parameters: [now.query],
          requestBody: { required: true, content: { 'application/json': { schema: now.body } } },
          responses: { 200: { content: { 'application/json': { schema: now.answer } } } },
        },
      },
      ...now.paths,
    },
  }
}
const older = surfaceOf(documentOf())
const hostWithout = (name: 'name' | 'state') => ({
  ...host,
  properties: Object.fromEntries(Object.entries(host.properties).filter(([key]) => key !== name)),
})

describe('comparison of interfaces', () => {
  it('accepts additions', () => {
    const newer = documentOf(({ body }) => ({
      query: { name: 'limit', in: 'query', required: false, schema: { type: 'integer', maximum: 500 } },
      body: { ...body, properties: { ...(body as typeof host).properties, tag: { type: 'string' } } },
      answer: { type: 'array', items: { ...host, properties: { ...host.properties, more: { type: 'string' } } } },
      paths: { '/tags': { get: { responses: { 200: {} } } } },
    }))
    expect(incompatibilities(older, surfaceOf(newer))).toEqual([])
  })

  it.each<[string, Parameters<typeof documentOf>[0], string]>([
    [
      'a parameter that is gone',
      () => ({ query: { name: 'top', in: 'query', schema: {} } }),
      'query.limit is no longer taken',
    ],
    [
      'a lower maximum',
      () => ({ query: { name: 'limit', in: 'query', schema: { type: 'integer', maximum: 50 } } }),
      'query.limit: maximum is tighter',
    ],
    [
      'a new required parameter',
      ({ query }) => ({ query: { ...query, required: true } }),
      'query.limit is required now',
    ],
    [
      'a new required field',
      ({ body }) => ({ body: { ...body, required: ['name', 'kind'] } }),
      'body.kind is required now',
    ],
    [
      'a value that is no longer taken',
      () => ({ body: { properties: { name: { type: 'string' }, kind: { type: 'string', enum: ['a'] } } } }),
      'body.kind no longer takes b',
    ],
    [
      'a field that is no longer taken',
      () => ({ body: { properties: { name: { type: 'string' } } } }),
      'body.kind is no longer taken',
    ],
    [
      'another type',
      () => ({ body: { properties: { name: { type: 'integer' }, kind: {} } } }),
      'body.name is no longer taken as string',
    ],
    [
      'a field that is gone',
      () => ({ answer: { type: 'array', items: hostWithout('name') } }),
      'response[].name is gone',
    ],
    [
      'a field that may be absent',
      () => ({ answer: { type: 'array', items: { ...host, required: ['name'] } } }),
      'response[].state may be absent now',
    ],
    [
      'a field that may be null',
      () => ({
        answer: {
          type: 'array',
          items: {
            ...host,
            properties: { ...host.properties, note: { anyOf: [{ type: 'string' }, { type: 'null' }] } },
          },
        },
      }),
      'response[].note may be null now',
    ],
  ])('names %s', (_, change, said) => {
    expect(incompatibilities(older, surfaceOf(documentOf(change)))).toEqual([`POST /hosts: ${said}`])
  })

  it('reports a removed operation', () => {
    expect(incompatibilities(older, {})).toEqual(['POST /hosts is gone'])
  })
})

describe('the interface', () => {
  const baseline = JSON.parse(readFileSync(join(ROOT, 'docs/reference/interface-0.1.json'), 'utf8')) as Surface
  const document = openApiDocument(operationsOf(contract), '0.1.0', contract) as unknown as Record<string, unknown>
  const all = incompatibilities(baseline, surfaceOf(document))

  it('accepts everything that clients of version 0.1 send, and sends everything that they read', () => {
    expect(Object.keys(baseline).length).toBeGreaterThan(200)
    expect(all.filter((one) => !accepted.some(({ matches }) => matches.test(one)))).toEqual([])
  })

  it('has every accepted difference', () => {
    expect(accepted.filter(({ matches }) => !all.some((one) => matches.test(one))).map(({ why }) => why)).toEqual([])
  })
})
