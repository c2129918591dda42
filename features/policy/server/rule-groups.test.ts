import { storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { mostGroups, type PolicyRuleResource, type RuleGroup } from '#features/contract.ts'

const base = '/prime/webui/policy'
const kiosks = { name: 'Kiosks', owner: 'Audio desk', reviewOn: null }
const stick = { vid: '0781', pid: '5581' }
let t: TestApp
let api: Awaited<ReturnType<TestApp['admin']>>
let agents: TestAgent[]
beforeAll(async () => {
  t = await startTestApp({ listen: true })
  agents = await Promise.all([1, 2].map(() => enrolAgent(t, { devices: [storageStick({ portPath: '1-1' })] })))
})
afterAll(() => t.close())
beforeEach(async () => {
  await t.db.execute(sql`delete from policy_rules`)
  await t.db.execute(sql`delete from rule_groups`)
  await t.db.execute(sql`delete from change_requests`)
  t.clock.advance(16 * 60_000)
  api = t.as(await t.signIn())
})

type Answer = Awaited<ReturnType<typeof api.get>>
const ok = <T>(answer: Answer): T => {
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json<T>()
}
const groups = async (): Promise<RuleGroup[]> => ok<{ data: RuleGroup[] }>(await api.get(`${base}/groups`)).data
const add = async (body: object = {}): Promise<RuleGroup> =>
  ok(await api.post(`${base}/groups`, { ...kiosks, ...body }))
const addRule = async (body: object = {}): Promise<PolicyRuleResource> =>
  ok<{ rule: PolicyRuleResource }>(
    await api.post(`${base}/rules`, { effect: 'allow', vid: '0781', reason: 'order 4711', ...body }),
  ).rule
const rules = async (query = ''): Promise<(string | null)[]> =>
  (await pageOf<PolicyRuleResource>(t, `policy/rules${query}`)).data.map(({ group, vid }) => `${vid} ${group}`).sort()
const audited = async (action: string): Promise<string[]> =>
  (
    await t.db.query<{ record: string }>(
      sql`select record from audit_records where action = ${action} order by audit_id desc`,
    )
  ).map(({ record }) => record)
const version = async (): Promise<number> => ok<{ version: number }>(await api.get(base)).version

const decide = (body: object = {}) =>
  api.post(`${base}/decisions`, {
    ...{ decision: 'allow', reason: 'audio desks', group: 'Desks' },
    devices: agents.map(({ agentId }) => ({ uuid: agentId, ...stick })),
    ...body,
  })

describe('a rule group', () => {
  it('is audited when it is added, changed and deleted, and its rules are kept', async () => {
    const added = await add()
    expect(added).toMatchObject({ ...kiosks, isReviewDue: false, rules: 0, changedBy: 'admin' })
    await addRule({ group: ' kIOSKS ' })
    const reviewOn = new Date(t.clock.now()).toISOString().slice(0, 10)
    const changed = ok<RuleGroup>(
      await api.put(`${base}/groups/${added.id}`, { ...kiosks, name: 'Desks', reviewOn, ifChangedAt: added.changedAt }),
    )
    expect(changed).toMatchObject({ id: added.id, name: 'Desks', reviewOn, isReviewDue: true, rules: 1 })
    expect(await rules()).toEqual(['0781 Desks'])
    const before = await version()
    expect(ok(await api.delete(`${base}/groups/${added.id}`))).toEqual({ deleted: added.id, rules: 1 })
    expect([await groups(), await rules(), await version()]).toEqual([[], ['0781 null'], before])
    for (const action of ['policy.group.created', 'policy.group.changed', 'policy.group.deleted'])
      expect((await audited(action)).length, action).toBe(1)
    expect((await api.delete(`${base}/groups/${added.id}`)).statusCode).toBe(404)
  })

  it('is refused with an invalid or taken name, an invalid date or a stale version, and changes nothing', async () => {
    const { id, changedAt } = await add()
    for (const [field, wrong] of [
      ['body.name', { name: ' ' }],
      ['body.name', { name: 'a\u202eb' }],
      ['body.name', { name: 'x'.repeat(61) }],
      ['body.owner', { owner: 'x'.repeat(101) }],
      ['body.reviewOn', { reviewOn: '2031-02-30' }],
      ['body.reviewOn', { reviewOn: 'soon' }],
    ] as const) {
      const refused = await api.post(`${base}/groups`, { ...kiosks, name: 'Other', ...wrong })
      expect([refused.statusCode, refused.json().errors?.[0].field], JSON.stringify(wrong)).toEqual([400, field])
    }
    const taken = await api.post(`${base}/groups`, { ...kiosks, name: 'KIOSKS' })
    expect([taken.statusCode, taken.json().detail]).toEqual([409, 'Another group has the name KIOSKS.'])
    const stale = await api.put(`${base}/groups/${id}`, { ...kiosks, ifChangedAt: '2031-05-04T10:11:12.000Z' })
    expect([stale.statusCode, stale.json().detail]).toEqual([409, expect.stringContaining('admin changed this group')])
    expect(await groups()).toMatchObject([{ ...kiosks, changedAt }])
  })

  it('is one of a limited number', async () => {
    await t.db.execute(sql`
      insert into rule_groups (group_id, name, name_key, owner, created_at, created_by, changed_at, changed_by)
      select gen_random_uuid(), 'g' || n, 'g' || n, '', now(), 'x', now(), 'x' from generate_series(1, ${mostGroups}::int) n`)
    expect((await api.post(`${base}/groups`, kiosks)).statusCode).toBe(409)
    const before = await version()
    const refused = await api.post(`${base}/rules`, { effect: 'allow', vid: '0781', reason: 'x', group: 'One more' })
    expect([refused.statusCode, await version(), await rules()]).toEqual([409, before, []])
    await addRule({ group: 'G7' })
  })

  it('collapses in the list and is found by its name and by the reason', async () => {
    await addRule({ group: 'Kiosks' })
    await addRule({ vid: '1111', reason: 'Purchase 5' })
    expect(await groups()).toMatchObject([{ name: 'Kiosks', owner: 'admin', reviewOn: null, rules: 1 }])
    expect(await rules('?IsUngrouped=true')).toEqual(['1111 null'])
    expect((await pageOf(t, 'policy/rules?IsUngrouped=true')).recordsTotal).toBe(1)
    expect(await rules('?group=KIOSK')).toEqual(['0781 Kiosks'])
    expect(await rules('?reason=purchase')).toEqual(['1111 null'])
    expect(await rules()).toEqual(['0781 Kiosks', '1111 null'])
  })

  it('is kept, left or changed when its rule is replaced, and refused for a grant', async () => {
    const { id } = await addRule({ group: 'Kiosks' })
    const put = async (more: object) =>
      ok(await api.put(`${base}/rules/${id}`, { effect: 'allow', vid: '0782', reason: 'x', ...more }))
    await put({})
    expect(await rules()).toEqual(['0782 Kiosks'])
    await put({ group: 'Desks' })
    expect(await rules()).toEqual(['0782 Desks'])
    await put({ group: null })
    expect(await rules()).toEqual(['0782 null'])
    const end = new Date(t.clock.now() + 3_600_000).toISOString()
    const grant = { effect: 'allow', vid: '0781', reason: 'x', isGrant: true, expiresAt: end, group: 'Kiosks' }
    const refused = await api.post(`${base}/rules`, grant)
    expect([refused.statusCode, refused.json().errors[0].field]).toEqual([400, 'body.group'])
  })

  it('accepts all selected rules or none, without a new version', async () => {
    const ids = [(await addRule()).id, (await addRule({ vid: '1111' })).id]
    const before = await version()
    const move = (ruleIds: string[], group: string | null) => api.post(`${base}/groups/rules`, { ruleIds, group })
    for (const unknown of ['01936f2a-7c11-7abc-8def-0123456789ab', 'x']) {
      const refused = await move([...ids, unknown], 'Kiosks')
      expect([refused.statusCode, refused.json().errors[0].field]).toEqual([400, 'body.ruleIds[2]'])
    }
    expect([await groups(), await rules()]).toEqual([[], ['0781 null', '1111 null']])
    expect(ok(await move(ids, 'Kiosks'))).toMatchObject({ moved: 2, group: { name: 'Kiosks', rules: 2 } })
    expect(ok(await move(ids, 'kiosks'))).toMatchObject({ moved: 0 })
    expect(ok(await move(ids.slice(0, 1), null))).toEqual({ moved: 1, group: null })
    expect([await rules(), await version()]).toEqual([['0781 null', '1111 Kiosks'], before])
    const [out, into, ...more] = await audited('policy.group.rulesMoved')
    expect(more).toEqual([])
    expect(into).toContain('Kiosks')
    expect(out).toContain('Kiosks')
  })

  it('can be changed by Managers and read by Users', async () => {
    const group = await add()
    const user = (await person(t)).api
    expect((await user.get(`${base}/groups`)).statusCode).toBe(200)
    for (const answer of [
      await user.post(`${base}/groups`, { ...kiosks, name: 'x' }),
      await user.put(`${base}/groups/${group.id}`, kiosks),
      await user.delete(`${base}/groups/${group.id}`),
      await user.post(`${base}/groups/rules`, { ruleIds: [group.id], group: null }),
    ])
      expect(answer.statusCode).toBe(403)
  })
})

describe('a bulk approval', () => {
  it('joins one group, and joins it again when its undo is undone', async () => {
    const done = ok<{ version: number }>(await decide())
    expect(await groups()).toMatchObject([{ name: 'Desks', owner: 'admin', rules: 2 }])
    expect((await audited('peripheral.approved'))[0]).toContain('Desks')
    ok(await api.post(`${base}/history/${done.version}/undo`, {}))
    expect(await groups()).toMatchObject([{ name: 'Desks', rules: 0 }])
    ok(await api.post(`${base}/history/${done.version + 1}/undo`, { reason: 'x' }))
    expect(await groups()).toMatchObject([{ name: 'Desks', rules: 2 }])
  })
})

it('adds a list of serial numbers as one group', async () => {
  const text = 'vid,pid,serial\n0781,5571,A1\n0781,5571,A2'
  const body = { text, effect: 'allow', reason: 'order 4711', group: 'Order 4711' }
  expect(ok(await api.post(`${base}/rules/import`, { ...body, dryRun: true }))).toMatchObject({ added: 2 })
  expect(await groups()).toEqual([])
  ok(await api.post(`${base}/rules/import`, body))
  expect(await groups()).toMatchObject([{ name: 'Order 4711', rules: 2 }])
})

// Last, because raising the limit again would need a second approver.
it('a bulk approval joins its group when a second approver approves it', async () => {
  const { settings } = ok<{ settings: object }>(await api.get(base))
  ok(await api.put(`${base}/settings`, { ...settings, twoPersonHosts: 1 }))
  await t.db.execute(sql`update agent_rows set armed = true`)
  t.clock.advance(16 * 60_000)
  api = t.as(await t.signIn())
  const bob = await person(t, { profile: 10, userName: 'bob' })
  const waits = await decide()
  expect([waits.statusCode, waits.json().code]).toEqual([403, 'second_person_required'])
  expect(await groups()).toEqual([])
  const [request] = (await pageOf<{ id: string }>(t, 'policy/changerequests')).data
  const { digest } = ok<{ digest: string }>(await bob.api.get(`${base}/changerequests/${request?.id}/details`))
  ok(await bob.api.post(`${base}/changerequests/${request?.id}/approve`, { digest }))
  expect(await groups()).toMatchObject([{ name: 'Desks', rules: 2 }])
})
