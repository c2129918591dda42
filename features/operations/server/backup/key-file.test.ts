// Invariant: No HTTP operation returns the key file, whoever calls it.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { readArchive } from '@portcullis/platform/server/backup/index.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { AnyOperation } from '#features/contract.ts'
import * as contract from '#features/contract.ts'

let t: TestApp
beforeAll(async () => {
  t = await startTestApp()
})
afterAll(() => t.close())

const isOperation = (value: unknown): value is AnyOperation => {
  const operation = value as Partial<AnyOperation> | null
  return typeof operation === 'object' && typeof operation?.path === 'string' && operation.permission !== undefined
}
const operations = Object.values(contract as Readonly<Record<string, unknown>>).filter(isOperation)

interface Schema {
  type?: string
  properties?: Record<string, Schema>
  anyOf?: Schema[]
  const?: unknown
  enum?: unknown[]
  items?: Schema
  minItems?: number
  minimum?: number
}

const passphrase = 'correct horse battery staple'
/** Returns a body with every optional member present and every switch on, as a greedy caller would send it. */
const greedy = (schema: Schema): unknown => {
  if (schema.const !== undefined) return schema.const
  if (schema.enum !== undefined) return schema.enum[0]
  if (schema.anyOf !== undefined) return greedy(schema.anyOf.find(({ type }) => type !== 'null') ?? {})
  if (schema.type === 'object')
    return Object.fromEntries(Object.entries(schema.properties ?? {}).map(([name, one]) => [name, greedy(one)]))
  if (schema.type === 'array') return schema.items === undefined ? [] : [greedy(schema.items)]
  if (schema.type === 'boolean') return true
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1
  return passphrase
}

/** Returns the secrets of a key file as bytes, Base64, Base64url and hexadecimal. */
const formsOf = (text: string): Buffer[] => {
  const bytes = Buffer.from(text, 'base64')
  const forms = [text, text.replace(/=+$/, ''), bytes.toString('base64url'), bytes.toString('hex')]
  return [bytes, ...forms.map((form) => Buffer.from(form))]
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes
}
/** Returns a response and its decrypted contents, if it is a backup encrypted with the caller's passphrase. */
const unpacked = async (bytes: Buffer): Promise<Buffer> => {
  if (bytes.subarray(0, 30).includes('portcullis-backup')) {
    const isEncrypted = JSON.parse(bytes.subarray(0, bytes.indexOf(10)).toString()).encryption !== null
    const { parts } = await readArchive(once(bytes), isEncrypted ? new Secret(passphrase) : null)
    const found: Buffer[] = []
    for await (const part of parts) found.push(part.kind === 'data' ? part.bytes : Buffer.from(JSON.stringify(part)))
    return Buffer.concat(found)
  }
  const at = bytes.indexOf(Buffer.from([0x1f, 0x8b]))
  if (at < 0) return bytes
  try {
    return Buffer.concat([bytes, gunzipSync(bytes.subarray(at))])
  } catch {
    return bytes
  }
}

it('no operation returns any secret of the key file to an Administrator', async () => {
  const file = JSON.parse(readFileSync(join(t.keyDir, 'key'), 'utf8')) as Record<string, unknown>
  const secrets = Object.values(file).filter((value): value is string => typeof value === 'string')
  expect(secrets.length).toBeGreaterThanOrEqual(2)
  const forms = secrets.flatMap(formsOf)
  // An account keeps its newest 200 sessions, so each gets its own time.
  const session = () => {
    t.clock.advance(1)
    return t.signIn()
  }
  const { token } = (
    await (await t.admin()).post('/prime/webui/admin/apiTokens', { name: 'greedy', scopes: contract.permissionsOf(10) })
  ).json()
  const streams = operations.filter(({ responseKind }) => responseKind === 'stream')
  const called = operations.filter((operation) => !streams.includes(operation))
  expect([called.length > 75, streams.length]).toEqual([true, 2])
  let answered = 0
  for (const { id, method, path, body, examples } of called) {
    const example = examples as { request?: unknown } | undefined
    const bodies = body === undefined ? [undefined] : [example?.request, greedy(body as Schema)]
    const url = path.replace(/\{(\w+)\}/g, '1')
    for (const payload of bodies)
      for (const bearer of [await session(), String(token)]) {
        const answer = await t.request({
          method,
          url,
          headers: {
            authorization: `Bearer ${bearer}`,
            ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
          },
          ...(payload === undefined ? {} : { payload: JSON.stringify(payload) }),
        })
        if (answer.statusCode === 200) answered++
        const bytes = await unpacked(answer.rawPayload)
        expect(
          forms.some((form) => bytes.includes(form)),
          `${id} returned a part of the key file`,
        ).toBe(false)
      }
  }
  expect(answered).toBeGreaterThan(130)
}, 300_000)

it('a backup with keys is refused over HTTP with the command to use, and recorded', async () => {
  t.clock.advance(1)
  const admin = t.as(await t.signIn())
  for (const passphrase of ['correct horse battery', null]) {
    const answer = await admin.post('/prime/webui/admin/backup', { withKeys: true, passphrase })
    expect([answer.statusCode, answer.json().code]).toEqual([403, 'keys_command_line_only'])
    expect(answer.json().detail).toContain('portcullis backup make --with-keys')
  }
  const trail = (await admin.get('/prime/webui/events/GetAuditsIntegration?PageSize=5')).body
  expect(trail).toContain('backup.refused')
  const plain = await admin.post('/prime/webui/admin/backup', { withKeys: false })
  expect(plain.statusCode).toBe(200)
  const [head] = plain.rawPayload.toString('latin1').split('\n')
  expect(JSON.parse(head as string)).toMatchObject({ hasKeys: false, encryption: null })
})
