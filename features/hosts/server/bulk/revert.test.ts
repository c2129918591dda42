import { sql } from '@portcullis/platform/server/db/sql.ts'
import { adminPassword, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest } from '@portcullis/server/test/approvals.ts'
import { enrolAgent, pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { person } from '@portcullis/server/test/people.ts'
import { rolloutsOf } from '@portcullis/server/test/rollouts.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { AgentCommand, AuditRecord, Command } from '#features/contract.ts'

let t: TestApp

beforeEach(async () => {
  t = await startTestApp({ listen: true })
})
afterEach(() => t.close())

const post = async (path: string, body: unknown) => (await t.admin()).post(`/prime/webui/agents/${path}`, body)
const preview = async (body: Record<string, unknown>) => (await post('bulk/preview', { action: 'arm', ...body })).json()
const arm = async (body: Record<string, unknown>) => {
  expect((await post('bulk', { action: 'arm', ...body })).statusCode).toBe(200)
  await t.jobs.drain()
}
const configure = (agent: TestAgent, more: Record<string, unknown> = {}) => {
  const agentConfigViewResource = { isSystemArmed: 'ARM', ...more }
  return post('configuration', [
    { uuid: agent.agentId, hostIdentifier: null, ipAddress: null, agentConfigViewResource },
  ])
}
/** Returns the signed orders that a host gets. */
const ordersOf = async (agent: TestAgent) => {
  const orders = ((await agent.checkIn()).commands ?? []).map(({ payload }) => JSON.parse(payload) as AgentCommand)
  return orders.map((order) => (order.kind === 'configure' ? [order.mode, order.revertMinutes] : []))
}
const titlesOf = async (agent: TestAgent) =>
  (await pageOf<Command>(t, `agents/commands?hostUuid=${agent.agentId}`)).data.map(({ title }) => title)
const recordsOf = async (action: string) =>
  (await pageOf<AuditRecord>(t, 'events/GetAuditsIntegration?PageSize=100')).data.filter((row) => row.action === action)
/** Arms this many other hosts. */
const others = async (count: number) => {
  await insertFleet(t, count)
  await t.db.execute(
    sql`update agent_rows set armed = true where agent_id in (select agent_id from agents where os_name = 'Fleet OS')`,
  )
}
const after10 = ' (Free again without contact for 10 minutes)'

describe('a host that is armed', () => {
  it('becomes Free without contact during a pilot, as preview, order, host and audit trail show', async () => {
    await others(23)
    const [one, two] = [await enrolAgent(t), await enrolAgent(t)]
    const uuids = [one.agentId, two.agentId]
    expect(await preview({ uuids })).toMatchObject({ revertMinutes: 10 })
    await arm({ uuids })
    for (const agent of [one, two]) {
      expect(await titlesOf(agent)).toEqual([`Arm${after10}`])
      expect(await ordersOf(agent)).toEqual([['Armed', 10]])
    }
    expect((await recordsOf('bulk.ordered'))[0]?.details).toContain(`Arm${after10}, job`)
    expect((await recordsOf('command.ordered'))[0]?.details).toBe(`Arm${after10}: ${uuids.toSorted().join(',')}`)
  })

  it('stays armed if the order makes more than 25 armed hosts', async () => {
    await others(24)
    const [one, two] = [await enrolAgent(t), await enrolAgent(t)]
    const uuids = [one.agentId, two.agentId]
    expect(await preview({ uuids })).toMatchObject({ revertMinutes: 0 })
    expect(await preview({ uuids: [one.agentId] })).toMatchObject({ revertMinutes: 10 })
    await arm({ uuids })
    for (const agent of [one, two]) {
      expect(await titlesOf(agent)).toEqual(['Arm'])
      expect(await ordersOf(agent)).toEqual([['Armed', undefined]])
    }
  })

  it.each([
    [0, 0, undefined],
    [60, 60, 60],
  ])('follows an order with %j minutes, whatever the size of the fleet', async (asked, shown, ordered) => {
    for (const armed of [0, 30]) {
      if (armed > 0) await others(armed)
      const [one, two] = [await enrolAgent(t), await enrolAgent(t)]
      const order = { uuids: [one.agentId], revertMinutes: asked }
      expect(await preview(order)).toMatchObject({ revertMinutes: shown })
      await arm(order)
      expect((await configure(two, { revertMinutes: asked })).statusCode).toBe(200)
      for (const agent of [one, two]) expect(await ordersOf(agent)).toEqual([['Armed', ordered]])
    }
  })

  it('has the default if a connector does not set the time, and refuses other times', async () => {
    const agent = await enrolAgent(t)
    for (const revertMinutes of [-1, 1_441, 0.5])
      expect((await configure(agent, { revertMinutes })).statusCode).toBe(400)
    expect((await configure(agent)).statusCode).toBe(200)
    expect(await ordersOf(agent)).toEqual([['Armed', 10]])
    expect((await recordsOf('command.ordered'))[0]?.details).toContain(`Arm${after10}: agent`)
    await others(30)
    expect((await configure(agent, { revertMinutes: null })).statusCode).toBe(200)
    expect(await ordersOf(agent)).toEqual([['Armed', undefined]])
  })

  it('gets in a rollout what the rollout sets, or else the default for the ring', async () => {
    const rollouts = rolloutsOf(t)
    const { canary } = await rollouts.fleet(2, 1)
    const [first, second] = canary as [TestAgent, TestAgent]
    const set = await rollouts.start({ revertMinutes: 90 })
    expect(set.revertMinutes).toBe(90)
    expect(await ordersOf(first)).toEqual([['Armed', 90]])
    await rollouts.order(set.id, 'cancel')
    const small = await rollouts.start()
    expect(small.revertMinutes).toBe(null)
    expect(await ordersOf(second)).toEqual([['Armed', 10]])
    await rollouts.order(small.id, 'cancel')
    await others(30)
    await rollouts.start()
    expect(await ordersOf(second)).toEqual([['Armed', undefined]])
    const details = (await recordsOf('rollout.running')).map((row) => row.details)
    expect(details.toSorted()).toEqual([
      'Free again without contact: after 90 minutes',
      'Free again without contact: automatic',
      'Free again without contact: automatic',
    ])
  })

  it('becomes Free after the time that the second approver saw', async () => {
    await others(600)
    const free = await t.db.query<{ uuid: string }>(sql`select agent_id as uuid from agent_rows`)
    const agent = await enrolAgent(t)
    const bob = await person(t, { profile: 10, userName: 'bob' })
    t.clock.advance(60_000)
    const [alice, approver] = [
      t.as(await t.signIn('admin', adminPassword)),
      t.as(await t.signIn(bob.userName, bob.password)),
    ]
    const answer = await alice.post('/prime/webui/agents/configuration', [
      { uuid: agent.agentId, agentConfigViewResource: { isSystemArmed: 'ARM', revertMinutes: 10 } },
      ...free.map(({ uuid }) => ({ uuid, agentConfigViewResource: { isSystemArmed: 'free' } })),
    ])
    expect(answer.statusCode).toBe(403)
    const [request] = (await approver.get('/prime/webui/policy/changerequests')).json().data
    const shown = await approver.get(`/prime/webui/policy/changerequests/${request.id}/details?PageSize=1000`)
    expect(shown.body).toContain(`(${agent.agentId}): arm${after10}`)
    expect((await approveRequest(approver, request.id)).statusCode).toBe(200)
    await t.jobs.drain()
    expect(await ordersOf(agent)).toEqual([['Armed', 10]])
  })
})
