import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { pageOf } from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AnyOperation, listPolicyGrants, type PolicyChange } from '#features/contract.ts'

const rules = '/prime/webui/policy/rules'
const grants = '/prime/webui/policy/grants'
let t: TestApp
let api: Awaited<ReturnType<TestApp['admin']>>
beforeAll(async () => {
  t = await startTestApp()
  api = await t.admin()
})
afterAll(() => t.close())

const end = (hours: number) => new Date(t.clock.now() + hours * 3_600_000).toISOString()
const ids = async (path: string) =>
  (await pageOf<{ id: string; level: string }>(t, path)).data.map(({ id, level }) => `${level} ${id}`)
const added = async (path: string, body: object): Promise<string> =>
  (await api.post(path, { vid: '0781', reason: 'test', ...body })).json<PolicyChange>().rule?.id ?? ''

it('writes, lists and ends grants under the path of rules and under the deprecated paths', async () => {
  const rule = await added(rules, { effect: 'allow' })
  const grant = await added(rules, { effect: 'allow', isGrant: true, expiresAt: end(2) })
  const old = await added(grants, { expiresAt: end(1) })
  expect(await ids('policy/rules')).toEqual([`global ${rule}`])
  expect((await ids('policy/rules?level=grant')).sort()).toEqual([`grant ${grant}`, `grant ${old}`].sort())
  expect(await ids('policy/grants')).toEqual([`grant ${old}`, `grant ${grant}`])
  expect((await ids('policy/rules?level=global,grant')).length).toBe(3)

  const body = { vid: '0781', reason: 'longer', expiresAt: end(3) }
  expect((await api.put(`${rules}/${old}`, { ...body, effect: 'allow', isGrant: true })).statusCode).toBe(200)
  expect((await api.put(`${grants}/${grant}`, body)).statusCode).toBe(200)
  expect((await api.put(`${rules}/${grant}`, { ...body, effect: 'allow' })).statusCode).toBe(404)
  expect((await api.put(`${grants}/${rule}`, body)).statusCode).toBe(404)

  expect((await api.delete(`${grants}/${rule}`)).statusCode).toBe(404)
  for (const path of [`${rules}/${grant}`, `${grants}/${old}`, `${rules}/${rule}`])
    expect((await api.delete(path)).statusCode).toBe(200)
  expect([...(await ids('policy/rules')), ...(await ids('policy/grants'))]).toEqual([])
})

it('refuses a grant without an end, beyond the limit, or that denies', async () => {
  for (const [body, field] of [
    [{ effect: 'allow' }, 'body.expiresAt'],
    [{ effect: 'allow', expiresAt: end(100_000) }, 'body.expiresAt'],
    [{ effect: 'deny', expiresAt: end(1) }, 'body.effect'],
  ] as const) {
    const refused = await api.post(rules, { vid: '0781', reason: 'test', isGrant: true, ...body })
    expect([refused.statusCode, refused.body]).toEqual([400, expect.stringContaining(field)])
  }
})

it('marks the paths of grants as deprecated', async () => {
  const { paths } = (await api.get('/openapi.json')).json()
  const { path }: AnyOperation = listPolicyGrants
  const calls = [...Object.values(paths[path]), ...Object.values(paths[`${path}/{id}`])]
  expect(calls).toEqual(Array.from({ length: 4 }, () => expect.objectContaining({ deprecated: true })))
  expect(paths[rules].post).not.toHaveProperty('deprecated')
})

it('refuses to change or delete a rule that another person changed meanwhile, and says who', async () => {
  const { api: ben } = await person(t, { userName: 'ben', profile: 20 })
  const created = (await api.post(rules, { effect: 'allow', vid: '0781', reason: 'first' })).json<PolicyChange>().rule
  const path = `${rules}/${created?.id}`
  const body = { effect: 'allow', vid: '0781' }
  t.clock.advance(1_000)
  const saved = await ben.put(path, { ...body, reason: 'of ben', ifChangedAt: created?.changedAt })
  expect(saved.statusCode).toBe(200)
  const refused = await api.put(path, { ...body, reason: 'of admin', ifChangedAt: created?.changedAt })
  expect([refused.statusCode, refused.json()]).toEqual([
    409,
    expect.objectContaining({ code: 'conflict', detail: expect.stringMatching(/^ben changed this rule at /) }),
  ])
  const query = `?ifChangedAt=${encodeURIComponent(created?.changedAt ?? '')}`
  expect((await api.delete(`${path}${query}`)).statusCode).toBe(409)
  const [left] = (await pageOf<{ reason: string; changedAt: string }>(t, 'policy/rules')).data
  expect(left?.reason).toBe('of ben')
  expect((await api.put(path, { ...body, reason: 'merged', ifChangedAt: left?.changedAt })).statusCode).toBe(200)
  expect((await api.put(path, { ...body, reason: 'by a script' })).statusCode).toBe(200)
  expect((await api.delete(path)).statusCode).toBe(200)
})
