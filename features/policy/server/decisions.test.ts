import { rubberDucky, storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PolicyVersion } from '#features/contract.ts'

const base = '/prime/webui'
const stick = { vid: '0781', pid: '5581' }
let t: TestApp
let agents: TestAgent[]

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  agents = await Promise.all(
    [1, 2, 3].map(() =>
      enrolAgent(t, { devices: [storageStick({ portPath: '1-1' }), rubberDucky({ portPath: '1-2' })] }),
    ),
  )
})
afterAll(() => t.close())
beforeEach(async () => {
  await t.db.execute(sql`delete from policy_rules`)
  await t.db.execute(sql`delete from change_requests`)
  t.clock.advance(16 * 60_000)
  t.as(await t.signIn())
})

const devices = (some = agents) => some.map(({ agentId }) => ({ uuid: agentId, ...stick }))
const decide = async (body: object) => t.as(await t.signIn()).post(`${base}/policy/decisions`, body)
const undo = async (version: number, body: object = {}) =>
  t.as(await t.signIn()).post(`${base}/policy/history/${version}/undo`, body)
const rules = async () => (await pageOf<{ effect: string; host: string }>(t, 'policy/rules')).data
const grants = async () => (await pageOf<{ host: string }>(t, 'policy/grants')).data
const newest = async (): Promise<PolicyVersion> => {
  const [version] = (await pageOf<PolicyVersion>(t, 'policy/history')).data
  if (version === undefined) throw new Error('there is no version')
  return version
}
const audited = async (action: string) =>
  t.db.query<{ record: string }>(sql`select record from audit_records where action = ${action} order by audit_id desc`)

describe('one decision about devices of many hosts', () => {
  it('creates one version and one audit record with the list, and is undone in one step', async () => {
    const before = (await audited('peripheral.approved')).length
    const done = await decide({ decision: 'allow', devices: devices(), reason: 'audio desks' })
    expect([done.statusCode, done.json()]).toEqual([
      200,
      { version: expect.any(Number), isChanged: true, rules: 3, agents: 3, jobId: null },
    ])
    const { version } = done.json()
    expect(await newest()).toMatchObject({ version, summary: 'Approved 3 devices on 3 hosts', changesTotal: 3 })
    const records = await audited('peripheral.approved')
    expect(records.length).toBe(before + 1)
    for (const { agentId } of agents) expect(records[0]?.record).toContain(agentId)
    expect((await rules()).map(({ effect }) => effect)).toEqual(['allow', 'allow', 'allow'])

    const again = await decide({ decision: 'allow', devices: devices(), reason: 'audio desks' })
    expect(again.json()).toMatchObject({ version, isChanged: false })

    const undone = await undo(version, { reason: 'wrong desks' })
    expect(undone.json()).toMatchObject({ version: version + 1, added: 0, changed: 0, deleted: 3 })
    expect(await rules()).toEqual([])
    expect((await audited('policy.undone'))[0]?.record).toContain('wrong desks')
  })

  it('requires a reason to allow devices on more than one host', async () => {
    const refused = await decide({ decision: 'allow', devices: devices(), reason: ' ' })
    expect([refused.statusCode, refused.json().errors[0].field]).toEqual([400, 'body.reason'])
    expect(await rules()).toEqual([])
    expect((await decide({ decision: 'deny', devices: devices(), reason: '' })).statusCode).toBe(200)
    const one = await decide({ decision: 'allow', devices: devices(agents.slice(0, 1)), reason: '' })
    expect(one.json()).toMatchObject({ rules: 1, agents: 1 })
    expect((await rules()).find(({ effect }) => effect === 'allow')).toMatchObject({ reason: '' })
  })

  it('changes nothing if one item is an unknown device, an attack tool or a grant without an end', async () => {
    const unknown = { uuid: agents[0]?.agentId, vid: 'DEAD', pid: 'BEEF' }
    const tool = { uuid: agents[0]?.agentId, vid: '03EB', pid: '2401' }
    for (const [body, field] of [
      [{ decision: 'allow', devices: [...devices(), unknown] }, 'body.devices[3]'],
      [{ decision: 'allow', devices: [...devices(), tool] }, 'body.devices[3]'],
      [{ decision: 'grant', devices: devices() }, 'body.expiresAt'],
      [{ decision: 'allow', devices: devices(), expiresAt: '2099-01-01T00:00:00Z' }, 'body.expiresAt'],
      [{ decision: 'grant', devices: devices(), expiresAt: '2099-01-01T00:00:00Z' }, 'body.expiresAt'],
      [{ decision: 'deny', devices: devices(), overrideAttackTool: true }, 'body.overrideAttackTool'],
    ] as const) {
      const refused = await decide({ reason: 'test', ...body })
      expect([refused.statusCode, refused.body]).toEqual([400, expect.stringContaining(field)])
    }
    expect(await rules()).toEqual([])
  })

  it('grants on many hosts at once, and keeps permanent decisions', async () => {
    await decide({ decision: 'allow', devices: devices(agents.slice(0, 1)), reason: 'for good' })
    const expiresAt = new Date(t.clock.now() + 3_600_000).toISOString()
    const done = await decide({ decision: 'grant', devices: devices(), reason: 'visit', expiresAt })
    expect(done.json()).toMatchObject({ rules: 3, agents: 3 })
    expect([(await grants()).length, (await rules()).length]).toEqual([3, 1])
    await undo(done.json().version)
    expect([(await grants()).length, (await rules()).length]).toEqual([0, 1])
  })
})

describe('undo of one version', () => {
  it('keeps later changes of other rules, and refuses if the same rule was changed again', async () => {
    const first = (await decide({ decision: 'deny', devices: devices(agents.slice(0, 1)), reason: 'one' })).json()
    const other = (await decide({ decision: 'deny', devices: devices(agents.slice(1, 2)), reason: 'two' })).json()
    const tried = await undo(first.version, { dryRun: true })
    expect(tried.json()).toMatchObject({ deleted: 1, worksAgain: { agents: expect.any(Number) } })
    expect((await rules()).length).toBe(2)
    expect((await undo(first.version)).json()).toMatchObject({ deleted: 1 })
    expect((await rules()).map(({ host }) => host)).toEqual([agents[1]?.agentId])

    await decide({ decision: 'allow', devices: devices(agents.slice(1, 2)), reason: 'three' })
    const refused = await undo(other.version)
    expect([refused.statusCode, refused.json().code]).toEqual([409, 'conflict'])
    expect(refused.json().detail).toContain('Undo that version first')
    expect((await undo(999_999)).statusCode).toBe(404)
  })

  it('needs a second approver if it newly allows devices on more hosts than the limit', async () => {
    await t.as(await t.signIn()).post(`${base}/policy/rules`, { effect: 'allow', ...stick, reason: 'all desks' })
    const denied = (await decide({ decision: 'deny', devices: devices(), reason: 'test' })).json()
    const admin = t.as(await t.signIn())
    const { settings } = (await admin.get(`${base}/policy`)).json()
    await admin.put(`${base}/policy/settings`, { ...settings, twoPersonHosts: 1 })
    await person(t, { profile: 10, userName: 'bob' })
    await t.db.execute(sql`update agent_rows set armed = true`)
    t.clock.advance(16 * 60_000)
    const wide = await decide({ decision: 'allow', devices: devices(), reason: 'all' })
    expect([wide.statusCode, wide.json().code]).toEqual([403, 'second_person_required'])
    const refused = await undo(denied.version)
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'second_person_required'])
    expect((await rules()).filter(({ effect }) => effect === 'deny').length).toBe(3)
    const requests = await t.db.query<{ n: number }>(sql`select count(*)::int as n from change_requests`)
    expect(requests).toEqual([{ n: 2 }])
  })
})
