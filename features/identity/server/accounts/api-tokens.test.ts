import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type AnyOperation, deleteApiTokenByQuery, permissionsOf } from '#features/contract.ts'

const tokens = '/prime/webui/admin/apiTokens'
const auth = '/prime/webui/Auth'

describe('API tokens', () => {
  let t: TestApp
  beforeAll(async () => {
    t = await startTestApp()
  })
  afterAll(() => t.close())

  it('are shown once, stored hashed, and act for their account up to their own profile', async () => {
    const admin = await t.admin()
    const made = await admin.post(tokens, { name: 'SIEM', userProfile: 30 })
    expect(made.json()).toMatchObject({
      name: 'SIEM',
      userName: 'admin',
      userProfile: 30,
      expiresAt: new Date(t.clock.now() + 90 * 86_400_000).toISOString(),
      lastUsedAt: null,
      lastUsedAddress: null,
      createdBy: 'admin',
      isLegacy: false,
      state: 'Active',
    })
    const { token, id } = made.json()
    expect(token).toMatch(/^pct_[\w-]{53}$/)
    const listed = (await admin.get(tokens)).json()
    expect(listed).toMatchObject([{ id, name: 'SIEM' }])
    expect(JSON.stringify(listed)).not.toContain(token)
    const dump = JSON.stringify(await t.db.query(sql`select t::text from api_tokens t`))
    expect(dump).not.toContain(token)
    const api = t.as(token)
    expect((await api.get('/prime/webui/admin/all')).statusCode).toBe(200)
    expect((await api.post('/prime/webui/admin/adduser', { userName: 'x', userProfile: 30 })).statusCode).toBe(403)
    expect((await api.get('/prime/webui/admin/profile')).json().permissions).not.toContain('accounts:write')
  })

  it('of a lower profile see only the data of that profile', async () => {
    const user = await person(t)
    const theirs = (await user.api.post(tokens, { name: 'theirs' })).json().id as string
    const make = async (userProfile: number): Promise<string> =>
      (await (await t.admin()).post(tokens, { name: 'own', userProfile, scopes: ['tokens:own'] })).json().token
    const listed = async (token: string) => (await t.as(token).get(tokens)).json().map((row: { id: string }) => row.id)
    expect(await listed(await make(10))).toContain(theirs)
    expect(await listed(await make(30))).not.toContain(theirs)
  })

  it('never have more rights than their account has now', async () => {
    const manager = await person(t, { profile: 20 })
    const { token } = (await manager.api.post(tokens, { name: 'mine', scopes: permissionsOf(20) })).json()
    const api = t.as(token)
    const add = (userName: string) => api.post('/prime/webui/admin/adduser', { userName, userProfile: 30 })
    expect((await add('made-by-token')).statusCode).toBe(200)
    const admin = await t.admin()
    await admin.post('/prime/webui/admin/updateuser', { userName: manager.userName, userProfile: 30 })
    expect((await add('not-made')).statusCode).toBe(403)
    await admin.post('/prime/webui/admin/updateuser', { userName: manager.userName, isEnabled: false })
    expect((await api.get('/prime/webui/admin/profile')).statusCode).toBe(401)
    await admin.post('/prime/webui/admin/updateuser', { userName: manager.userName, isEnabled: true })
    expect((await api.get('/prime/webui/admin/profile')).statusCode).toBe(200)
    await admin.post('/prime/webui/admin/deleteUsers', [manager.userName])
    expect((await api.get('/prime/webui/admin/profile')).statusCode).toBe(401)
  })

  it('cannot be created with invalid members', async () => {
    const user = await person(t)
    for (const body of [
      {},
      { name: '' },
      { name: 'x'.repeat(121) },
      { name: 'a\nb' },
      { name: 'x', userProfile: 11 },
      { name: 'x', expiresAt: 'tomorrow' },
      { name: 'x', expiresAt: '2031-05-04T10:11:12Z' },
      { name: 'x', scopes: [] },
      { name: 'x', scopes: ['nonsense'] },
      { name: 'x', scopes: ['fleet:read', 'fleet:read'] },
      { name: 'x', scopes: 'fleet:read' },
      { name: 'x', token: 'pct_mine' },
    ])
      expect([body, (await user.api.post(tokens, body)).statusCode]).toEqual([body, 400])
    for (const userProfile of [10, 20])
      expect((await user.api.post(tokens, { name: 'x', userProfile })).json().code).toBe('forbidden_object')
    expect((await user.api.get(tokens)).json()).toEqual([])
    expect((await t.as(undefined).get(tokens)).statusCode).toBe(401)
  })

  it('cannot create tokens, and have no session to end', async () => {
    const user = await person(t)
    const { token } = (
      await user.api.post(tokens, { name: 'x', expiresAt: '2031-06-01', scopes: permissionsOf(30) })
    ).json()
    expect((await t.as(token).post(tokens, { name: 'y' })).json().code).toBe('forbidden_object')
    expect((await t.as(token).post(`${auth}/Logout`)).statusCode).toBe(422)
  })

  it('stop working when they expire', async () => {
    const user = await person(t)
    const at = new Date(t.clock.now() + 60_000).toISOString()
    const { token } = (await user.api.post(tokens, { name: 'x', expiresAt: at, scopes: ['tokens:own'] })).json()
    expect((await t.as(token).get(tokens)).statusCode).toBe(200)
    t.clock.advance(60_000)
    expect((await t.as(token).get(tokens)).statusCode).toBe(401)
  })

  it('are revoked under their path and under the deprecated one with the same answers', async () => {
    const admin = await t.admin()
    const { path }: AnyOperation = deleteApiTokenByQuery
    const revoked: unknown[][] = []
    for (const address of [(id: string) => `${tokens}/${id}`, (id: string) => `${path}?id=${id}`]) {
      const made = (await admin.post(tokens, { name: 'alias', userProfile: 30 })).json()
      const answers = []
      for (const [api, id] of [
        [(await person(t)).api, made.id],
        [admin, 'nonsense'],
        [admin, made.id],
        [admin, made.id],
      ]) {
        const { statusCode, body } = await api.delete(address(id))
        answers.push([statusCode, statusCode === 200 ? JSON.parse(body) : JSON.parse(body).detail])
      }
      expect((await t.as(made.token).get('/prime/webui/admin/all')).statusCode).toBe(401)
      revoked.push(answers)
    }
    expect(revoked[1]).toEqual(revoked[0])
    expect(revoked[0]?.map((one) => (one as unknown[])[0])).toEqual([404, 404, 200, 404])
    const { paths } = (await admin.get('/openapi.json')).json()
    expect(paths[path].delete).toMatchObject({ deprecated: true })
    expect(paths[`${tokens}/{id}`].delete).not.toHaveProperty('deprecated')
  })

  it('stop working as soon as their owner or an Administrator revokes them', async () => {
    const [user, other, manager] = [await person(t), await person(t), await person(t, { profile: 20 })]
    const make = async () => (await user.api.post(tokens, { name: 'x', scopes: ['tokens:own'] })).json()
    const [one, two] = [await make(), await make()]
    for (const stranger of [other, manager])
      expect((await stranger.api.delete(`${tokens}/${one.id}`)).statusCode).toBe(404)
    expect((await t.as(one.token).get(tokens)).statusCode).toBe(200)
    expect((await user.api.delete(`${tokens}/${one.id}`)).json()).toEqual({ revoked: true })
    expect((await t.as(one.token).get(tokens)).statusCode).toBe(401)
    expect((await user.api.delete(`${tokens}/${one.id}`)).statusCode).toBe(404)
    expect((await user.api.delete(`${tokens}/nonsense`)).statusCode).toBe(404)
    expect((await user.api.delete(tokens)).statusCode).toBe(400)
    const admin = await t.admin()
    expect((await admin.get(tokens)).json().map((row: { id: string }) => row.id)).toContain(two.id)
    expect((await admin.delete(`${tokens}?ID=${two.id}`)).json()).toEqual({ revoked: true })
    expect((await t.as(two.token).get(tokens)).statusCode).toBe(401)
  })
})

describe('tickets', () => {
  let t: TestApp
  beforeAll(async () => {
    t = await startTestApp()
  })
  afterAll(() => t.close())

  it('authenticate one GET within a minute, with the rights of the caller', async () => {
    const user = await person(t)
    const make = async () => (await user.api.post(`${auth}/Ticket`)).json().ticket as string
    const use = (ticket: string, path = '/prime/webui/admin/all') => t.as(undefined).get(`${path}?_ticket=${ticket}`)
    const ticket = await make()
    expect((await use(ticket)).statusCode).toBe(200)
    expect((await use(ticket)).statusCode).toBe(401)
    expect((await use(await make(), '/prime/webui/events/GetAuditsIntegration')).statusCode).toBe(403)
    const late = await make()
    t.clock.advance(60_000)
    expect((await use(late)).statusCode).toBe(401)
    const other = await make()
    expect((await t.as(undefined).post(`/prime/webui/Auth/Logout?_ticket=${other}`)).statusCode).toBe(401)
    const raced = await make()
    const both = await Promise.all([use(raced), use(raced)])
    expect(both.map((answer) => answer.statusCode).sort()).toEqual([200, 401])
    const orphan = await make()
    await user.api.post(`${auth}/Logout`)
    expect((await use(orphan)).statusCode).toBe(401)
    expect((await use('nonsense')).statusCode).toBe(401)
  })

  it('work for API tokens as well', async () => {
    const user = await person(t)
    const { token } = (await user.api.post(tokens, { name: 'x' })).json()
    const { ticket } = (await t.as(token).post(`${auth}/Ticket`)).json()
    expect((await t.as(undefined).get(`/prime/webui/admin/profile?_ticket=${ticket}`)).json().account.userName).toBe(
      user.userName,
    )
  })
})
