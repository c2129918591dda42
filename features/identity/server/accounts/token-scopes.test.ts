// Invariant: An API token can use only the permissions among its scopes, whichever operation it calls.

import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { permissionsOf } from '#features/contract.ts'

const api = '/prime/webui'
const tokens = `${api}/admin/apiTokens`
const dayMs = 86_400_000

let t: TestApp
beforeAll(async () => {
  t = await startTestApp()
})
afterAll(() => t.close())

/** Creates a token of the first Administrator with these scopes. */
const tokenWith = async (scopes: string[] | null, more: object = {}) => {
  const made = await (await t.admin()).post(tokens, { name: 'scoped', ...(scopes === null ? {} : { scopes }), ...more })
  expect(made.statusCode, made.body).toBe(200)
  return {
    ...(made.json() as { id: string; token: string; expiresAt: string; scopes: string[] }),
    api: t.as(made.json().token),
  }
}

describe('scopes of API tokens', () => {
  it('a token cannot use a permission that is not among its scopes', async () => {
    const { api: token } = await tokenWith(['fleet:read'])
    expect((await token.get(`${api}/agents`)).statusCode).toBe(200)
    for (const [method, path, scope] of [
      ['get', 'admin/profile', 'self:read'],
      ['get', 'admin/all', 'accounts:read'],
      ['get', 'events/GetAuditsIntegration', 'audit:read'],
      ['post', 'agents/exportagentcsv', 'export:read'],
      ['post', 'reports/schedules', 'config:write'],
      ['post', 'Auth/Ticket', 'self:read'],
    ] as const) {
      const answer = method === 'get' ? await token.get(`${api}/${path}`) : await token.post(`${api}/${path}`, {})
      expect([path, answer.statusCode, answer.json().code]).toEqual([path, 403, 'scope_missing'])
      expect(answer.json().detail).toContain(scope)
    }
  })

  it('a token created without scopes can only read', async () => {
    const { api: token, scopes } = await tokenWith(null)
    expect(scopes).toEqual(permissionsOf(10).filter((name) => name.endsWith(':read')))
    expect((await token.get(`${api}/admin/profile`)).json().permissions).toEqual(scopes)
    expect((await token.get(`${api}/agents`)).statusCode).toBe(200)
    const refused = await token.post(`${api}/admin/adduser`, { userName: 'x', userProfile: 30 })
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'scope_missing'])
  })

  it('can be granted only by a person who has them, up to the profile of the token', async () => {
    const user = await person(t)
    const refused = await user.api.post(tokens, { name: 'x', scopes: ['fleet:read', 'fleet:write'] })
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'forbidden_object'])
    expect(refused.json().detail).toContain('fleet:write')
    const admin = await t.admin()
    const above = await admin.post(tokens, { name: 'x', userProfile: 30, scopes: ['fleet:write'] })
    expect([above.statusCode, above.json().errors[0].field]).toEqual([400, 'body.scopes'])
    expect((await user.api.get(tokens)).json()).toEqual([])
  })

  it('shrink with the profile of the account', async () => {
    const manager = await person(t, { profile: 20 })
    const made = (await manager.api.post(tokens, { name: 'x', scopes: ['audit:read', 'self:read'] })).json()
    const permissions = async () => (await t.as(made.token).get(`${api}/admin/profile`)).json().permissions as string[]
    expect(await permissions()).toEqual(['audit:read', 'self:read'])
    await (await t.admin()).post(`${api}/admin/updateuser`, { userName: manager.userName, userProfile: 30 })
    expect(await permissions()).toEqual(['self:read'])
  })

  it('a download ticket of a token has the scopes of the token', async () => {
    const { api: token } = await tokenWith(['self:read'])
    const { ticket } = (await token.post(`${api}/Auth/Ticket`)).json()
    const answer = await t.as(undefined).get(`${api}/agents?_ticket=${ticket}`)
    expect([answer.statusCode, answer.json().code]).toEqual([403, 'scope_missing'])
  })

  it('the configuration document changes no rules or tags for a token without fleet:write', async () => {
    const { api: token } = await tokenWith(['config:write'])
    for (const body of [{ rules: [] }, { tags: ['smuggled'] }]) {
      const answer = await token.post(`${api}/generalconfig/document`, body)
      expect([body, answer.statusCode, answer.json().code]).toEqual([body, 403, 'scope_missing'])
    }
    expect((await token.get(`${api}/generalconfig/document`)).json().code).toBe('scope_missing')
    expect(await t.db.query(sql`select 1 from tags g where g.name = 'smuggled'`)).toEqual([])
  })

  it('a token cannot read a report about a list that it may not read', async () => {
    const { api: token } = await tokenWith(['config:write', 'export:read'])
    const answer = await token.post(`${api}/reports/export`, { list: 'audit', format: 'csv' })
    expect([answer.statusCode, answer.json().code]).toEqual([403, 'scope_missing'])
  })

  it('a token cannot create an account with more permissions than its own', async () => {
    const { api: token } = await tokenWith(['accounts:write', 'accounts:read'])
    for (const userProfile of [10, 30]) {
      const answer = await token.post(`${api}/admin/adduser`, {
        userName: 'puppet',
        userProfile,
        password: 'strings attached 1',
      })
      expect([userProfile, answer.statusCode, answer.json().code]).toEqual([userProfile, 403, 'scope_missing'])
    }
    const target = await person(t)
    const refused = await token.post(`${api}/admin/updateuser`, {
      userName: target.userName,
      password: 'strings attached 1',
    })
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'scope_missing'])
    const whole = await tokenWith([...permissionsOf(30), 'accounts:write'])
    const made = await whole.api.post(`${api}/admin/adduser`, { userName: 'by-token', userProfile: 30 })
    expect(made.statusCode, made.body).toBe(200)
  })
})

describe('expiry of API tokens', () => {
  it('a new token expires after 90 days, and after one year at most', async () => {
    const now = t.clock.now()
    for (const more of [{}, { expiresAt: null }])
      expect(Date.parse((await tokenWith(['fleet:read'], more)).expiresAt)).toBe(now + 90 * dayMs)
    const year = new Date(now)
    year.setUTCFullYear(year.getUTCFullYear() + 1)
    const longest = await tokenWith(['fleet:read'], { expiresAt: year.toISOString() })
    expect(longest.expiresAt).toBe(year.toISOString())
    const refused = await (await t.admin()).post(tokens, {
      name: 'x',
      expiresAt: new Date(year.getTime() + 1_000).toISOString(),
    })
    expect([refused.statusCode, refused.json().errors[0]]).toEqual([
      400,
      { field: 'body.expiresAt', message: expect.stringContaining('more than one year ahead') },
    ])
  })

  it('an expired token is refused and listed as expired', async () => {
    const { api: token, id } = await tokenWith(['fleet:read'], {
      expiresAt: new Date(t.clock.now() + dayMs).toISOString(),
    })
    expect((await token.get(`${api}/agents`)).statusCode).toBe(200)
    t.clock.advance(dayMs)
    expect((await token.get(`${api}/agents`)).statusCode).toBe(401)
    const listed = (await (await t.admin()).get(tokens)).json() as { id: string; state: string }[]
    expect(listed.find((row) => row.id === id)?.state).toBe('Expired')
  })

  it('the list shows when and from which address a token was last used', async () => {
    const { api: token, id } = await tokenWith(['fleet:read'])
    const listed = async () =>
      (
        (await (await t.admin()).get(tokens)).json() as { id: string; lastUsedAt: string; lastUsedAddress: string }[]
      ).find((row) => row.id === id)
    expect(await listed()).toMatchObject({ lastUsedAt: null, lastUsedAddress: null })
    const at = t.clock.now()
    await token.get(`${api}/agents`)
    await expect.poll(listed).toMatchObject({ lastUsedAt: new Date(at).toISOString(), lastUsedAddress: '127.0.0.1' })
    t.clock.advance(59_000)
    await token.get(`${api}/agents`)
    expect((await listed())?.lastUsedAt).toBe(new Date(at).toISOString())
    t.clock.advance(1_000)
    await token.get(`${api}/agents`)
    await expect.poll(async () => (await listed())?.lastUsedAt).toBe(new Date(at + 60_000).toISOString())
  })
})
