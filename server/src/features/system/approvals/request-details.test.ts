import type { ChangeRequest } from '@portcullis/contract'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sql } from '#platform/db/sql.ts'
import { adminPassword, startTestApp, type TestApp } from '#test/app.ts'
import { enrolAgent, type TestAgent } from '#test/builders.ts'
import { type Person, person } from '#test/people.ts'

const base = '/prime/webui'
let t: TestApp
let agents: TestAgent[]
let alice: Person
let bob: Person

/** Two Administrators, alice and bob. Three hosts and a limit of one. */
beforeAll(async () => {
  t = await startTestApp({ listen: true })
  agents = []
  for (const hostname of ['host-a', 'host-b', 'host-c']) agents.push(await enrolAgent(t, { facts: { hostname } }))
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
})

const requests = async (): Promise<ChangeRequest[]> => (await bob.api.get(`${base}/policy/changerequests`)).json().data
const newest = async (): Promise<ChangeRequest> => (await requests())[0] as ChangeRequest
const named = async (): Promise<string[]> => {
  const { title, details } = await newest()
  // The next request is newer.
  t.clock.advance(1_000)
  return [title, ...details.toSorted()]
}
const wide = (who: Person, vid: string) =>
  who.api.post(`${base}/policy/rules`, { effect: 'allow', vid, reason: 'test' })
const vids = (n: number): string[] => Array.from({ length: n }, (_, i) => (0xa000 + i).toString(16).toUpperCase())
const uuids = () => agents.map(({ agentId }) => agentId)

describe('an approver sees everything that a request does', () => {
  it('a request for rules lists every rule', async () => {
    const rules = vids(6).map((vid) => ({ effect: 'allow', vid, reason: `for ${vid}` }))
    rules.push({ effect: 'deny', vid: 'B000', reason: 'for one host', ...{ host: uuids()[0] } })
    expect((await alice.api.post(`${base}/generalconfig/document`, { rules })).statusCode).toBe(403)
    const { title, details } = await newest()
    expect(title).toContain('and 3 more rule changes')
    expect(details).toEqual([
      ...vids(6).map((vid) => `Allow every device of vendor ${vid} on every host (for ${vid})`),
      'Deny every device of vendor B000 on host host-a (for one host)',
    ])
  })

  it('a request that replaces a rule shows the old rule', async () => {
    const made = await alice.api.post(`${base}/policy/rules`, { effect: 'deny', vid: 'C000', reason: 'old' })
    const path = `${base}/policy/rules/${made.json().rule.id}`
    await alice.api.put(path, { effect: 'allow', vid: 'C000', reason: 'new' })
    expect((await newest()).details).toEqual([
      'Allow every device of vendor C000 on every host, instead of "deny every device of vendor C000 on every host" (new)',
    ])
    expect((await alice.api.delete(path)).statusCode).toBe(200)
  })

  it('a request to free or delete hosts names each of them', async () => {
    await alice.api.post(`${base}/agents/bulk`, { action: 'free', uuids: uuids() })
    expect(await named()).toEqual(['Free 3 hosts', 'host-a', 'host-b', 'host-c'])
    await alice.api.post(`${base}/agents/bulk`, { action: 'delete', uuids: uuids() })
    expect(await named()).toEqual(['Delete 3 hosts', 'host-a', 'host-b', 'host-c'])
    const free = uuids().map((uuid) => ({ uuid, agentConfigViewResource: { isSystemArmed: 'free' } }))
    await alice.api.post(`${base}/agents/configuration`, free)
    expect(await named()).toEqual(['Free 3 hosts', 'host-a: free', 'host-b: free', 'host-c: free'])
  })

  it('a request to raise the limit lists old and new values', async () => {
    const { settings } = (await alice.api.get(`${base}/policy`)).json()
    await alice.api.put(`${base}/policy/settings`, { ...settings, twoPersonHosts: 500, contact: 'mallory' })
    expect((await newest()).details).toEqual(['Hosts without a second approver: 1 → 500', 'Contact: "" → "mallory"'])
  })

  it('details are limited, and changes to them in the database are detected', async () => {
    const rules = vids(250).map((vid) => ({ effect: 'allow', vid, reason: 'test' }))
    expect((await alice.api.post(`${base}/generalconfig/document`, { rules })).statusCode).toBe(403)
    const { id, details } = await newest()
    expect([details.length, details.at(-1)]).toEqual([200, 'and 51 more'])
    await t.db.execute(sql`update change_requests set details = '{harmless}'`)
    const answer = await bob.api.post(`${base}/policy/changerequests/${id}/approve`)
    expect([answer.statusCode, answer.json().detail]).toEqual([409, expect.stringContaining('not authentic')])
  })
})

describe('nobody can fill the queue of requests', () => {
  it('one account has at most ten waiting requests', async () => {
    for (const vid of vids(10)) expect((await wide(alice, vid)).json().code).toBe('second_person_required')
    const refused = await wide(alice, 'B001')
    expect([refused.statusCode, refused.json().code]).toEqual([409, 'approval_queue_full'])
    expect(await requests()).toHaveLength(10)
    expect((await wide(bob, 'B001')).json().code).toBe('second_person_required')
    const { id } = (await requests()).find(({ requestedBy }) => requestedBy === 'admin') as ChangeRequest
    await alice.api.post(`${base}/policy/changerequests/${id}/reject`)
    expect((await wide(alice, 'B002')).json().code).toBe('second_person_required')
  })

  it('requests of Managers leave ten places for Administrators', async () => {
    const managers: Person[] = []
    for (let n = 0; n < 5; n++) managers.push(await person(t, { profile: 20 }))
    for (const [n, vid] of vids(40).entries())
      expect((await wide(managers[n % 4] as Person, vid)).json().code).toBe('second_person_required')
    expect((await wide(managers[4] as Person, 'B001')).json().code).toBe('approval_queue_full')
    expect((await wide(alice, 'B001')).json().code).toBe('second_person_required')
  })
})
