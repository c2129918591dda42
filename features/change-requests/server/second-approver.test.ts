// Invariant: One gate decides about everything that frees, deletes or opens many hosts.

import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest, trustAccounts } from '@portcullis/server/test/approvals.ts'
import { enrolAgent, pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ChangeRequest, Command } from '#features/contract.ts'

let t: TestApp
let agents: TestAgent[]
let alice: Person
let bob: Person
let user: Person

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  agents = await Promise.all([1, 2, 3, 4].map(() => enrolAgent(t)))
  expect((await saveLimit(2)).statusCode).toBe(200)
})
afterAll(() => t.close())

const saveLimit = async (hosts: number | null) => {
  const admin = await t.admin()
  const { settings } = (await admin.get('/prime/webui/policy')).json()
  return admin.put('/prime/webui/policy/settings', { ...settings, twoPersonHosts: hosts })
}
/** Creates the people of one test, 15 minutes after the previous test, so that its releases no longer count. */
const people = async () => {
  t.clock.advance(16 * 60_000)
  user = await person(t, { profile: 30 })
  alice = await person(t, { profile: 10 })
  bob = await person(t, { profile: 20 })
  await trustAccounts(t)
}
const free = (some: readonly TestAgent[]) =>
  some.map((agent) => ({ uuid: agent.agentId, agentConfigViewResource: { isSystemArmed: 'free' } }))
const requests = async (): Promise<ChangeRequest[]> =>
  (await user.api.get('/prime/webui/policy/changerequests')).json().data
const decide = (who: Person, id: string, what: 'approve' | 'reject') =>
  what === 'approve' ? approveRequest(who.api, id) : who.api.post(`/prime/webui/policy/changerequests/${id}/${what}`)
const waiting = async (): Promise<Command[]> => (await pageOf<Command>(t, 'agents/commands?state=queued')).data

describe('freeing more hosts than one person may', () => {
  it('files a request, which another person approves', async () => {
    await people()
    const refused = await alice.api.post('/prime/webui/agents/configuration', free(agents.slice(0, 3)))
    expect(refused.statusCode).toBe(403)
    expect(refused.body).toMatch(/^This affects 3 hosts\. With .* the total is more than 2\./)
    expect(await waiting()).toEqual([])
    // Repeating it gives the same request.
    await alice.api.post('/prime/webui/agents/configuration', free(agents.slice(0, 3)))
    const [request, ...others] = await requests()
    expect([request, others]).toMatchObject([
      {
        action: 'free',
        hosts: 3,
        state: 'Waiting',
        requestedBy: alice.userName,
        decidedBy: null,
        title: 'Free 3 hosts',
      },
      [],
    ])
    const id = request?.id ?? ''
    expect((await decide(alice, id, 'approve')).statusCode).toBe(403)
    expect((await decide(user, id, 'approve')).statusCode).toBe(403)
    expect(await waiting()).toEqual([])
    // Each reader sees in advance why they cannot approve it.
    const refusalFor = async (who: Person) =>
      (await who.api.get('/prime/webui/policy/changerequests')).json().data[0].refusal
    expect(await refusalFor(alice)).toContain('You made this request')
    expect(await refusalFor(user)).toContain('User cannot approve')
    expect(await refusalFor(bob)).toBe('')

    const approved = await decide(bob, id, 'approve')
    expect(approved.json()).toMatchObject({ state: 'Approved', decidedBy: bob.userName })
    expect((await waiting()).map((c) => [c.title, c.createdBy])).toEqual(
      agents.slice(0, 3).map(() => ['Free', `${alice.userName}, approved by ${bob.userName}`]),
    )
    expect((await decide(bob, id, 'approve')).statusCode).toBe(409)
    expect((await decide(bob, id, 'reject')).statusCode).toBe(409)
  })

  it('cannot be split into small steps', async () => {
    await people()
    const one = (agent: TestAgent | undefined) =>
      bob.api.post('/prime/webui/agents/configuration', free(agent === undefined ? [] : [agent]))
    expect((await one(agents[0])).statusCode).toBe(200)
    expect((await one(agents[1])).statusCode).toBe(200)
    expect((await one(agents[2])).statusCode).toBe(403)
    t.clock.advance(16 * 60_000)
    await bobAgain()
    expect((await one(agents[2])).statusCode).toBe(200)
  })

  it('cannot be split into simultaneous requests either', async () => {
    await people()
    const answers = await Promise.all(
      agents.map((agent) => bob.api.post('/prime/webui/agents/configuration', free([agent]))),
    )
    expect(answers.map((answer) => answer.statusCode).sort()).toEqual([200, 200, 403, 403])
    t.clock.advance(16 * 60_000)
    alice = { ...alice, api: t.as(await t.signIn(alice.userName, alice.password)) }
    const bulk = async (some: readonly TestAgent[]) =>
      (await alice.api.post('/prime/webui/agents/bulk', { action: 'free', uuids: some.map((agent) => agent.agentId) }))
        .statusCode
    expect([await bulk(agents.slice(0, 2)), await bulk(agents.slice(2, 4))]).toEqual([200, 403])
    await t.jobs.drain()
  })

  it('cannot be approved by an account created for it, and shows everything it does', async () => {
    t.clock.advance(1)
    await people()
    const asked = [
      ...free(agents.slice(0, 3)),
      { uuid: agents[3]?.agentId, agentConfigViewResource: { approveAll: true } },
    ]
    expect((await alice.api.post('/prime/webui/agents/configuration', asked)).statusCode).toBe(403)
    const [request] = await requests()
    expect(request?.title).toBe('Free 3 hosts, approve the devices attached to 1 host')
    t.clock.advance(1)
    const made = await person(t, { profile: 10 })
    const refused = await decide(made, request?.id ?? '', 'approve')
    expect([refused.statusCode, refused.json().detail]).toEqual([403, expect.stringContaining('created after this')])
    expect((await decide(bob, request?.id ?? '', 'approve')).statusCode).toBe(200)
  })

  const bobAgain = async () => {
    // The access token expired in the meantime.
    const token = await t.signIn(bob.userName, bob.password)
    bob = { ...bob, token, api: t.as(token) }
  }

  it('applies to bulk actions and deletion, and is shown in the preview', async () => {
    await people()
    const uuids = agents.map((agent) => agent.agentId)
    const preview = await bob.api.post('/prime/webui/agents/bulk/preview', { uuids, action: 'free' })
    expect(preview.json()).toMatchObject({ agents: 4, secondPerson: true })
    expect((await bob.api.post('/prime/webui/agents/bulk/preview', { uuids, action: 'arm' })).json().secondPerson).toBe(
      false,
    )
    const bulk = await bob.api.post('/prime/webui/agents/bulk', { uuids, action: 'free' })
    expect([bulk.statusCode, bulk.json().code]).toEqual([403, 'second_person_required'])
    t.clock.advance(1)
    const removal = await bob.api.post('/prime/webui/agents/deleteAgents', [...uuids, 'nobody'])
    expect([removal.statusCode, removal.json().detail]).toEqual([
      403,
      expect.stringMatching(/^This affects 4 hosts\. .* more than 2\./),
    ])
    expect((await pageOf(t, 'agents')).recordsTotal).toBe(4)
    const [remove, release] = await requests()
    expect([remove?.action, release?.action]).toEqual(['delete', 'free'])
    expect([removal.json().requestId, bulk.json().requestId]).toEqual([remove?.id, release?.id])

    expect((await decide(bob, release?.id ?? '', 'reject')).json()).toMatchObject({ state: 'Rejected' })
    expect((await decide(alice, remove?.id ?? '', 'approve')).json()).toMatchObject({ state: 'Approved' })
    await t.jobs.drain()
    t.clock.advance(1_001)
    expect((await pageOf(t, 'agents')).recordsTotal).toBe(0)
    agents = await Promise.all([1, 2, 3, 4].map(() => enrolAgent(t)))
  })

  it('expires after a day, and is refused if it was changed in the database', async () => {
    await people()
    await bob.api.post('/prime/webui/agents/configuration', free(agents.slice(0, 3)))
    const [request] = await requests()
    await t.db.execute(
      sql`update change_requests set body = replace(body, ${agents[0]?.agentId}, ${agents[3]?.agentId}) where request_id = ${request?.id}::uuid`,
    )
    const forged = await decide(alice, request?.id ?? '', 'approve')
    expect([forged.statusCode, forged.json().detail]).toEqual([409, expect.stringContaining('not authentic')])
    await bob.api.post('/prime/webui/agents/configuration', free(agents.slice(1, 4)))
    const [next] = await requests()
    t.clock.advance(24 * 3_600_000)
    const token = await t.signIn(alice.userName, alice.password)
    const late = await approveRequest(t.as(token), next?.id)
    expect([late.statusCode, late.json().detail]).toEqual([409, 'This request is already expired.'])
    expect((await approveRequest(t.as(token), 'nothing')).statusCode).toBe(404)
  })

  it('needs one person if no second Administrator exists or the limit is off', async () => {
    const single = await startTestApp({ listen: true })
    try {
      const hosts = await Promise.all([1, 2, 3].map(() => enrolAgent(single)))
      const answer = await (await single.admin()).post('/prime/webui/agents/configuration', free(hosts))
      expect(answer.statusCode).toBe(200)
    } finally {
      await single.close()
    }
    await people()
    const alone = await saveLimit(null)
    expect([alone.statusCode, alone.json().code]).toEqual([403, 'second_person_required'])
    const [request] = await requests()
    expect(request).toMatchObject({ action: 'settings', title: 'Never require a second approver for hosts', hosts: 0 })
    expect((await decide(bob, request?.id ?? '', 'approve')).json().detail).toMatch(/Ask an Administrator/)
    expect((await decide(alice, request?.id ?? '', 'approve')).statusCode).toBe(200)
    expect((await alice.api.post('/prime/webui/agents/configuration', free(agents))).statusCode).toBe(200)
  })
})
