import { rubberDucky, storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { adminPassword, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest } from '@portcullis/server/test/approvals.ts'
import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ChangeRequest } from '#features/contract.ts'

const base = '/prime/webui'
const stick = { vid: '0781', pid: '5581' }
let t: TestApp
let agents: TestAgent[]
let alice: Person
let bob: Person

/**
 * Two Administrators: alice, whose account an attacker controls, and bob. Three hosts with the same stick, a limit of
 * one.
 */
beforeAll(async () => {
  t = await startTestApp({ listen: true })
  agents = await Promise.all([1, 2, 3].map(() => enrolAgent(t, { devices: [storageStick({ portPath: '1-1' })] })))
  const admin = await t.admin()
  const { settings } = (await admin.get(`${base}/policy`)).json()
  await admin.put(`${base}/policy/settings`, { ...settings, twoPersonHosts: 1 })
  bob = await person(t, { profile: 10, userName: 'bob' })
})
afterAll(() => t.close())
beforeEach(async () => {
  t.clock.advance(16 * 60_000)
  await t.db.execute(sql`delete from change_requests`)
  alice = { userName: 'admin', password: adminPassword, token: '', api: t.as(await t.signIn()) }
  bob = { ...bob, api: t.as(await t.signIn(bob.userName, bob.password)) }
  for (const { id } of await rules()) await alice.api.delete(`${base}/policy/rules/${id}`)
})

const code = (answer: { json(): { code?: string } }): string | undefined => answer.json().code
const rules = async (): Promise<{ id: string; effect: string }[]> =>
  (await alice.api.get(`${base}/policy/rules`)).json().data
const rule = (who: Person, change: object) =>
  who.api.post(`${base}/policy/rules`, { effect: 'allow', reason: 'test', ...change })
const requests = async (): Promise<ChangeRequest[]> =>
  (await alice.api.get(`${base}/policy/changerequests`)).json().data
const approve = async (who: Person) => {
  const id = (await requests()).find(({ state }) => state === 'Waiting')?.id
  return approveRequest(who.api, id)
}
const soon = (seconds: number): string => new Date(t.clock.now() + seconds * 1000).toISOString()

describe('the preview of a rule change', () => {
  const needsApprover = async (draft: object): Promise<boolean> => {
    const answer = await alice.api.post(`${base}/policy/preview`, draft)
    expect(answer.statusCode).toBe(200)
    return answer.json().secondPerson
  }

  it('shows whether saving it requires a second approver', async () => {
    const add = (change: object) => ({ add: [{ effect: 'allow', reason: 'test', ...change }] })
    expect(await needsApprover(add(stick))).toBe(true)
    expect(await needsApprover(add({ ...stick, host: agents[0]?.agentId }))).toBe(false)
    expect(await needsApprover(add({ ...stick, effect: 'deny' }))).toBe(false)
    // The preview stores nothing.
    expect(await requests()).toEqual([])
    expect(code(await rule(alice, stick))).toBe('second_person_required')
  })

  it('reports a deny whose deletion allows devices', async () => {
    const deny = (await rule(alice, { effect: 'deny', ...stick })).json().rule
    // The allow has no effect while the deny lasts. It counts all hosts nevertheless.
    expect(code(await rule(alice, stick))).toBe('second_person_required')
    expect((await approve(bob)).statusCode).toBe(200)
    t.clock.advance(16 * 60_000)
    alice = { ...alice, api: t.as(await t.signIn()) }
    bob = { ...bob, api: t.as(await t.signIn(bob.userName, bob.password)) }
    expect(await needsApprover({ remove: [deny.id] })).toBe(true)
    expect(code(await alice.api.delete(`${base}/policy/rules/${deny.id}`))).toBe('second_person_required')
    expect((await approve(bob)).statusCode).toBe(200)
  })
})

describe('nothing hides what an allow permits', () => {
  it('a deny that ends soon does not hide an allow', async () => {
    expect((await rule(alice, { effect: 'deny', ...stick, expiresAt: soon(6) })).statusCode).toBe(200)
    expect(code(await rule(alice, stick))).toBe('second_person_required')
    expect(await requests()).toMatchObject([{ action: 'rules', hosts: 3 }])
    expect(code(await rule(alice, { ...stick, expiresAt: soon(60) }))).toBe('second_person_required')
    // For a known device, an allow that ends before the deny permits nothing.
    const known = { ...stick, serial: '4C530001230615112345' }
    expect((await rule(alice, { ...known, expiresAt: soon(3) })).statusCode).toBe(200)
    expect(code(await rule(alice, { ...known, expiresAt: soon(60) }))).toBe('second_person_required')
  })

  it('neither a deny that is shortened afterwards nor one for a tag hides an allow', async () => {
    const made = await rule(alice, { effect: 'deny', ...stick })
    const path = `${base}/policy/rules/${made.json().rule.id}`
    const put = { effect: 'deny', ...stick, reason: 'test', expiresAt: soon(6) }
    expect((await alice.api.put(path, put)).statusCode).toBe(200)
    expect(code(await rule(alice, stick))).toBe('second_person_required')
    expect((await alice.api.delete(path)).statusCode).toBe(200)
    const tagged = { hashtags: ['hidden'], elementIds: agents.map(({ agentId }) => agentId) }
    expect((await alice.api.post(`${base}/generalconfig/addhashtags`, tagged)).statusCode).toBe(200)
    expect((await rule(alice, { effect: 'deny', ...stick, tag: 'hidden' })).statusCode).toBe(200)
    expect(code(await rule(alice, stick))).toBe('second_person_required')
  })

  it('a grant that another person approved for an hour does not hide a permanent allow', async () => {
    const grant = { ...stick, reason: 'test', expiresAt: soon(3_600) }
    expect(code(await alice.api.post(`${base}/policy/grants`, grant))).toBe('second_person_required')
    expect((await approve(bob)).statusCode).toBe(200)
    expect(code(await rule(alice, stick))).toBe('second_person_required')
  })

  it('allowing a known attack tool on many hosts needs two people, even if no host has it', async () => {
    const { vid, pid } = { vid: '03EB', pid: '2401' }
    const tool = { vid, pid, overrideAttackTool: true }
    expect(code(await rule(alice, tool))).toBe('second_person_required')
    expect((await requests())[0]).toMatchObject({ action: 'rules', hosts: 3 })
    const grant = { ...tool, reason: 'test', expiresAt: soon(3_600) }
    expect(code(await alice.api.post(`${base}/policy/grants`, grant))).toBe('second_person_required')
    expect((await rule(alice, { ...tool, host: agents[0]?.agentId })).statusCode).toBe(200)
    expect(code(await rule(alice, { ...tool, host: agents[1]?.agentId }))).toBe('second_person_required')
  })

  it('allowing an attack tool on later hosts needs a second approver, even without hosts', async () => {
    const empty = await startTestApp()
    try {
      await person(empty, { profile: 10, userName: 'bob' })
      const admin = await empty.admin()
      const add = (change: object) => admin.post(`${base}/policy/rules`, { effect: 'allow', reason: 'test', ...change })
      expect((await add(stick)).statusCode).toBe(200)
      const refused = await add({ vid: '03EB', pid: '2401', overrideAttackTool: true })
      expect(code(refused)).toBe('second_person_required')
      const [request] = (await admin.get(`${base}/policy/changerequests`)).json().data
      for (const text of [request.title, refused.json().detail]) {
        expect(text).toContain('hosts that enrol later')
        expect(text).not.toContain('0 hosts')
      }
    } finally {
      await empty.close()
    }
  })

  it('allowing a known attack tool needs a fresh session', async () => {
    const [host] = agents as [TestAgent]
    await host.session()
    await host.plug(rubberDucky({ portPath: '1-4' }))
    t.clock.advance(6 * 60_000)
    const item = { uuid: host.agentId, vid: '03EB', pid: '2401' }
    const approval = {
      opCode: 'APPROVE',
      peripheralsIds: [item],
      overrideAttackTool: true,
      reason: 'red team exercise',
    }
    const tool = { vid: '03EB', pid: '2401', overrideAttackTool: true, host: host.agentId }
    for (const attempt of [
      () => rule(alice, tool),
      () => alice.api.post(`${base}/policy/grants`, { ...tool, reason: 'test', expiresAt: soon(60) }),
      () => alice.api.post(`${base}/peripherals/command`, approval),
    ])
      expect((await attempt()).headers['www-authenticate']).toMatch(/insufficient_user_authentication/)
    expect(await rules()).toEqual([])
    const again = { ...alice, api: t.as(await t.signIn()) }
    expect((await rule(again, tool)).statusCode).toBe(200)
  })
})
