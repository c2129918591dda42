import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { mostPins, mostViews, type SavedView } from '#features/contract.ts'

let t: TestApp
type Person = Awaited<ReturnType<TestApp['admin']>>
let manager: Person
let user: Person
const base = '/prime/webui/views'
const armed = { page: '/agents', name: 'Armed', search: 'Status=Armed&cols=host,gone', isShared: false }

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  manager = (await person(t, { profile: 20, userName: 'manager' })).api
  user = (await person(t, { userName: 'user' })).api
})
beforeEach(() => t.db.execute(sql`delete from saved_views`))
afterAll(() => t.close())

const namesOf = async (person: Person): Promise<string[]> =>
  (await person.get(base)).json().data.map(({ name }: SavedView) => name)
const save = async (person: Person, view: object): Promise<SavedView> => {
  const answer = await person.post(base, view)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}

describe('a saved view', () => {
  it('is private unless it is shared, and keeps names that no release knows', async () => {
    const saved = await save(user, armed)
    expect(saved).toMatchObject({ ...armed, owner: 'user', isOwn: true })
    expect([await namesOf(user), await namesOf(manager)]).toEqual([['Armed'], []])
    await save(manager, { ...armed, name: 'Ours', isShared: true })
    expect([await namesOf(user), await namesOf(await t.admin())]).toEqual([['Armed', 'Ours'], ['Ours']])
    const refused = await user.post(base, { ...armed, name: 'x', isShared: true })
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'forbidden'])
  })

  it('is changed and deleted by its account, and if shared by Administrators', async () => {
    const own = await save(manager, armed)
    for (const other of [user, await t.admin()]) {
      expect((await other.put(`${base}/${own.id}`, armed)).statusCode).toBe(404)
      expect((await other.delete(`${base}/${own.id}`)).statusCode).toBe(404)
    }
    const shared = (await manager.put(`${base}/${own.id}`, { ...armed, name: 'Shared', isShared: true })).json()
    expect(shared).toMatchObject({ id: own.id, name: 'Shared', isShared: true })
    const refused = await user.delete(`${base}/${own.id}`)
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'forbidden_object'])
    const byAdmin = await (await t.admin()).put(`${base}/${own.id}`, { ...armed, name: 'Better', isShared: true })
    expect(byAdmin.json()).toMatchObject({ name: 'Better', owner: 'manager', isOwn: false })
    // An Administrator cannot take a view away from its account.
    const hidden = await (await t.admin()).put(`${base}/${own.id}`, { ...armed, isShared: false })
    expect(hidden.statusCode).toBe(403)
    expect((await (await t.admin()).delete(`${base}/${own.id}`)).json()).toEqual({ deleted: own.id })
    expect((await manager.delete(`${base}/${own.id}`)).statusCode).toBe(404)
    expect((await manager.delete(`${base}/nonsense`)).statusCode).toBe(404)
  })

  it('has a name that is unique on its page, whatever its case', async () => {
    await save(user, armed)
    const again = await user.post(base, { ...armed, name: ' aRMED ' })
    expect([again.statusCode, again.json().detail]).toEqual([409, 'A view of this page has the name aRMED.'])
    await save(user, { ...armed, page: '/peripherals' })
    await save(manager, armed)
    await save(manager, { ...armed, isShared: true })
    expect((await (await t.admin()).post(base, { ...armed, isShared: true })).statusCode).toBe(409)
  })

  it('is refused with a wrong name, page or length, and changes nothing', async () => {
    for (const [field, wrong] of [
      ['body.name', { name: ' ' }],
      ['body.name', { name: 'a\u0007b' }],
      ['body.name', { name: 'x'.repeat(61) }],
      ['body.page', { page: 'agents' }],
      ['body.page', { page: '//evil.example' }],
      ['body.search', { search: 'x'.repeat(4_001) }],
    ] as const) {
      const answer = await user.post(base, { ...armed, ...wrong })
      expect([answer.statusCode, answer.json().errors?.[0].field]).toEqual([400, field])
    }
    expect(await namesOf(user)).toEqual([])
  })

  it('is pinned per account, as long as the account sees the view', async () => {
    const team = await save(manager, { ...armed, name: 'Team', isShared: true })
    const own = await save(manager, armed)
    const pinned = async (person: Person) =>
      (await person.get(base))
        .json()
        .data.filter((one: SavedView) => one.isPinned)
        .map(({ name }: SavedView) => name)
    const pin = (person: Person, id: string, isPinned: boolean) => person.put(`${base}/${id}/pin`, { isPinned })
    expect((await pin(user, team.id, true)).json()).toEqual({ ...team, isOwn: false, isPinned: true })
    expect([await pinned(user), await pinned(manager)]).toEqual([['Team'], []])
    for (const id of [own.id, 'nonsense']) expect((await pin(user, id, true)).statusCode).toBe(404)
    expect((await pin(user, team.id, true)).statusCode).toBe(200)
    await manager.put(`${base}/${team.id}`, { ...armed, name: 'Team', isShared: false })
    expect(await pinned(user)).toEqual([])
    await manager.put(`${base}/${team.id}`, { ...armed, name: 'Team', isShared: true })
    expect((await pin(user, team.id, false)).json()).toMatchObject({ isPinned: false })
    expect(await pinned(user)).toEqual([])
    for (let n = 0; n < mostPins; n++) await pin(user, (await save(user, { ...armed, name: `v${n}` })).id, true)
    const many = await pin(user, team.id, true)
    expect([many.statusCode, many.json().code]).toEqual([409, 'conflict'])
    expect((await manager.delete(`${base}/${team.id}`)).statusCode).toBe(200)
    expect((await pinned(user)).length).toBe(mostPins)
  })

  it('is one of a limited number', async () => {
    await t.db.execute(sql`
      insert into saved_views (view_id, page, name, name_key, search, is_shared, owner_id, changed_at)
      select gen_random_uuid(), '/agents', 'v' || n, 'v' || n, '', false, a.account_id, now()
      from accounts a, generate_series(1, ${mostViews}::int) n where a.user_name = 'user'`)
    expect((await user.post(base, armed)).statusCode).toBe(409)
    await save(manager, armed)
  })

  it('is in the audit trail, and a shared one outlives its account', async () => {
    const leaver = (await person(t, { profile: 20, userName: 'leaver' })).api
    await save(leaver, armed)
    const shared = await save(leaver, { ...armed, name: 'Team', isShared: true })
    const admin = await t.admin()
    expect((await admin.post('/prime/webui/admin/deleteUsers', ['leaver'])).statusCode).toBe(200)
    expect((await user.get(base)).json().data).toMatchObject([{ id: shared.id, owner: '', isOwn: false }])
    await admin.delete(`${base}/${shared.id}`)
    expect(await t.db.query(sql`select 1 from saved_views`)).toEqual([])
    const records = await t.db.query<{ action: string }>(
      sql`select j.action from audit_records j where j.action like 'view.%' order by j.audit_id desc limit 3`,
    )
    expect(records.map(({ action }) => action)).toEqual(['view.deleted', 'view.saved', 'view.saved'])
  })
})
