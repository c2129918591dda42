import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  applyKnowledge,
  errorTotal,
  getKnowledge,
  previewKnowledge,
  reloadUncommonPeripherals,
  reloadVulnerablePeripherals,
  rollbackKnowledge,
  spoofedIdentities,
  uncommonPeripherals,
  uniqueWhitelistViolation,
  uploadKnowledge,
  vulnerablePeripherals,
} from '#features/contract.ts'

let t: TestApp
let user: Person
let manager: Person

beforeAll(async () => {
  t = await startTestApp()
  user = await person(t, { profile: 30 })
  manager = await person(t, { profile: 20 })
})
afterAll(() => t.close())

const insights = [
  uncommonPeripherals,
  reloadUncommonPeripherals,
  vulnerablePeripherals,
  reloadVulnerablePeripherals,
  spoofedIdentities,
  uniqueWhitelistViolation,
  errorTotal,
]
const call = (who: Person | null, { method, path }: { method: string; path: string }) => {
  const api = who === null ? t.as(undefined) : who.api
  return method === 'GET' ? api.get(path) : api.post(path)
}

describe('access to insights and knowledge', () => {
  it.each(insights.map((operation) => [operation.id, operation] as const))(
    '%s: every account',
    async (_id, operation) => {
      expect((await call(null, operation)).statusCode).toBe(401)
      const answer = await call(user, operation)
      expect(answer.statusCode, answer.body).toBe(200)
      expect((await user.api.get(`${operation.path}?colour=red`)).statusCode).toBe(400)
    },
  )

  it.each([
    [getKnowledge, 200, 200],
    [previewKnowledge, 403, 404],
    [uploadKnowledge, 403, 403],
    [applyKnowledge, 403, 403],
    [rollbackKnowledge, 403, 403],
  ] as const)('knowledge operation %#: a User and a Manager', async (operation, asUser, asManager) => {
    expect((await call(null, operation)).statusCode).toBe(401)
    expect((await call(user, operation)).statusCode).toBe(asUser)
    expect((await call(manager, operation)).statusCode).toBe(asManager)
  })

  it('shows an Administrator what is missing', async () => {
    const admin = await t.admin()
    expect((await admin.post(uploadKnowledge.path, {})).statusCode).toBe(400)
    expect((await admin.post(applyKnowledge.path, { id: 'nothing' })).statusCode).toBe(404)
    expect((await admin.post(rollbackKnowledge.path)).statusCode).toBe(409)
  })
})
