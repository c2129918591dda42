import { releaseKeyPair } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest } from '@portcullis/server/test/approvals.ts'
import { enrolAgent, pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { configured, packageFile, publish } from '@portcullis/server/test/packages.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { rolloutsOf, take } from '@portcullis/server/test/rollouts.ts'
import type { LightMyRequestResponse as Response } from 'fastify'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type AgentCommand, agentPaths } from '#features/contract.ts'

interface Titled {
  title: string
}

const url = '/prime/webui/agents/packages'
const key = releaseKeyPair()
const hour = 3_600_000
let t: TestApp
let second: Person

beforeEach(async () => {
  t = await startTestApp({ listen: true, releaseKey: configured(key) })
  second = await person(t, { profile: 10 })
})
afterEach(() => t.close())

const list = async () => (await (await t.admin()).get(url)).json().data
const requests = async () => (await (await t.admin()).get('/prime/webui/policy/changerequests')).json().data
const waiting = async () => (await requests()).filter((one: { state: string }) => one.state === 'Waiting')
const decide = (id: string, what: 'approve' | 'reject', who: Person['api'] = second.api) =>
  what === 'approve' ? approveRequest(who, id) : who.post(`/prime/webui/policy/changerequests/${id}/reject`)
const upload = async (version = '1.2.0', executable?: Buffer) => {
  const answer = await publish(t, packageFile(key, { version, ...(executable === undefined ? {} : { executable }) }))
  const [request] = await waiting()
  return { answer, problem: answer.json(), request }
}
const commandsOf = async (agent: TestAgent): Promise<AgentCommand[]> =>
  ((await agent.checkIn()).commands ?? []).map(({ payload }) => JSON.parse(payload) as AgentCommand)

const isWaiting = async (): Promise<boolean> =>
  (
    await t.db.query(sql`
      select 1 from pg_stat_activity a where a.datname = current_database() and a.wait_event_type = 'Lock'`)
  ).length > 0

/** Asserts that no host can get the build before its approval: by an update, a rollout or a download. */
const assertNotOffered = async (agent: TestAgent) => {
  const update = await (await t.admin()).post('/prime/webui/agents/updateAgents', [agent.agentId])
  expect([update.statusCode, update.json().detail]).toEqual([409, 'No agent build is published for these hosts.'])
  const [row] = await list()
  const got = await fetch(`${t.address}${agentPaths.packages}/${row.sha256}`, {
    headers: { authorization: `Bearer ${agent.state.session}` },
  })
  expect(got.status).toBe(404)
}

describe('with two Administrators, one person alone cannot install a build on a host', () => {
  it('a build waits for a second approver, and exactly this build is published', async () => {
    const agent = await enrolAgent(t)
    const { answer, problem, request } = await upload()
    expect([answer.statusCode, problem.code], answer.body).toEqual([403, 'second_person_required'])
    expect(problem.detail).toContain(request.id)
    expect(await list()).toMatchObject([{ version: '1.2.0', state: 'Pending', isNewest: false }])
    expect(request).toMatchObject({ action: 'package', title: expect.stringContaining((await list())[0].sha256) })
    await assertNotOffered(agent)
    expect((await decide(request.id, 'approve', await t.admin())).statusCode).toBe(403)
    await assertNotOffered(agent)

    expect((await decide(request.id, 'approve')).json().state).toBe('Approved')
    expect(await list()).toMatchObject([
      { state: 'Published', isNewest: true, publishedBy: `admin, approved by ${second.userName}` },
    ])
  })

  it('the same build again creates no second request, and another build with its version is refused', async () => {
    await upload()
    const again = await upload()
    expect(again.problem.code).toBe('second_person_required')
    expect(await waiting()).toHaveLength(1)
    expect((await upload('1.2.0', Buffer.from('other'))).problem.code).toBe('package_version_taken')
  })

  it('a rejected build is deleted, and its version is free again', async () => {
    const { request } = await upload()
    expect((await decide(request.id, 'reject')).json().state).toBe('Rejected')
    expect(await list()).toEqual([])
    const chunks = await t.db.query(sql`select 1 from agent_package_chunks`)
    expect(chunks).toEqual([])
    expect((await upload('1.2.0', Buffer.from('other'))).problem.code).toBe('second_person_required')
  })

  it('an expired request publishes nothing, and its build is deleted', async () => {
    const { request } = await upload()
    t.clock.advance(24 * hour)
    const late = t.as(await t.signIn(second.userName, second.password))
    expect((await decide(request.id, 'approve', late)).statusCode).toBe(409)
    await t.builds.discardExpired()
    expect(await list()).toHaveLength(1)
    t.clock.advance(hour)
    await t.builds.discardExpired()
    expect(await list()).toEqual([])
  })

  it('a build that was replaced in the database is not published by the approval', async () => {
    const other = await upload('1.2.0', Buffer.from('another executable'))
    const [signed] = await t.db.query<{ sha256: Buffer; size: number; signature: Buffer }>(
      sql`select p.sha256, p.size, p.signature from agent_packages p`,
    )
    await decide(other.request.id, 'reject')
    const { request } = await upload()
    // The release key signed the other build, but no approver has read its digest.
    for (const build of [{ ...signed, sha256: Buffer.alloc(32) }, signed]) {
      await t.db.execute(sql`
        update agent_packages set sha256 = ${build?.sha256}, size = ${build?.size}::bigint, signature = ${build?.signature}`)
      expect((await decide(request.id, 'approve')).statusCode).toBe(409)
      expect((await waiting()).map(({ id }: { id: string }) => id)).toEqual([request.id])
    }
  })

  it('a pending build can be withdrawn, and its request then publishes nothing', async () => {
    const { request } = await upload()
    const [{ id }] = await list()
    expect((await (await t.admin()).delete(`${url}/${id}`)).json()).toMatchObject({ state: 'Withdrawn' })
    expect((await decide(request.id, 'approve')).statusCode).toBe(409)
    expect(await list()).toEqual([])
  })

  it('removing a host during an update does not bypass the second approver', async () => {
    const { request } = await upload()
    await decide(request.id, 'approve')
    const [agent, polled] = (await rolloutsOf(t).hosts(2, 'x', { agentVersion: '1.0.0' })) as [TestAgent, TestAgent]
    await t.db.execute(sql`update agent_rows set agentless = true where agent_id = ${polled.agentId}::uuid`)
    let order: Promise<Response> | undefined
    const admin = await t.admin()
    await t.db.transaction(async (tx) => {
      await tx.execute(sql`lock table agent_packages in access exclusive mode`)
      order = admin.post('/prime/webui/agents/updateAgents', [agent.agentId, polled.agentId])
      // The request has read both hosts and waits to read the build.
      await expect.poll(isWaiting).toBe(true)
      await tx.execute(sql`delete from agents where agent_id = ${polled.agentId}::uuid`)
    })
    expect((await order)?.statusCode).toBe(409)
    expect(await commandsOf(agent)).toEqual([])
  })

  it('an update of named hosts, in bulk or in rings needs a second approver', async () => {
    const { request } = await upload()
    await decide(request.id, 'approve')
    const rollouts = rolloutsOf(t)
    const [agent] = (await rollouts.hosts(1, 'x', { agentVersion: '1.0.0' })) as [TestAgent]
    const admin = await t.admin()
    const rings = [{ name: 'all', sharePercent: 100 }]
    const orders = [
      () => admin.post('/prime/webui/agents/updateAgents', [agent.agentId]),
      () => admin.post('/prime/webui/agents/bulk', { uuids: [agent.agentId], action: 'update' }),
      () => rollouts.post('start', { kind: 'update', name: 'to all', rings }),
    ]
    for (const order of orders) {
      const answer = await order()
      expect([answer.statusCode, answer.json().code], answer.body).toEqual([403, 'second_person_required'])
    }
    expect(await commandsOf(agent)).toEqual([])
    const preview = await admin.post('/prime/webui/agents/bulk/preview', { uuids: [agent.agentId], action: 'update' })
    expect(preview.json().secondPerson).toBe(true)

    // Both orders for this host create the same request.
    const [ringed, named, ...more] = (await waiting()).sort((a: Titled, b: Titled) => (a.title < b.title ? -1 : 1))
    expect(more).toEqual([])
    expect([ringed.title, named.title]).toEqual([
      'Update agents to 1.2.0 for x64 in rings: to all',
      'Update the agent of 1 host to 1.2.0 for x64',
    ])
    const [{ sha256 }] = await list()
    expect(ringed).toMatchObject({
      hosts: 1,
      details: expect.arrayContaining([
        `1.2.0 for x64: SHA-256 ${sha256}`,
        'Ring all: 100 % of the hosts, 1 host when requested',
        'Hosts that enrol later are included.',
      ]),
    })
    expect(named.details).toEqual([`1.2.0 for x64: SHA-256 ${sha256}`, `${agent.facts.hostname} (${agent.agentId})`])
    expect((await decide(ringed.id, 'approve')).json().state).toBe('Approved')
    const { data } = await pageOf<{ id: string; state: string }>(t, 'rollouts')
    await rollouts.advance(data[0]?.id as string)
    expect(await take(agent)).toMatchObject([{ kind: 'update', version: '1.2.0', releaseKey: key.text }])
    // The approver agreed to exactly this build.
    await upload('1.3.0')
    const newer = (await waiting()).find(({ title }: Titled) => title.includes('1.3.0'))
    await decide(newer.id, 'approve')
    const late = await decide(named.id, 'approve')
    expect([late.statusCode, late.json().detail]).toEqual([409, expect.stringContaining('1.2.0 for x64 is no longer')])
  })
})
