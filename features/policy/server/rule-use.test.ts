import { storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PolicyRuleResource, RuleGroup } from '#features/contract.ts'

const base = '/prime/webui/policy'
const stick = { vid: '0781', pid: '5581' }
const dayMs = 86_400_000
let t: TestApp
let api: Awaited<ReturnType<TestApp['admin']>>
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())
beforeEach(async () => {
  api = t.as(await t.signIn())
  await t.db.execute(sql`delete from policy_rules`)
  await t.db.execute(sql`delete from rule_days`)
})

const add = async (body: object = {}): Promise<string> => {
  // IDs of the same millisecond are in no order.
  t.clock.advance(1)
  const answer = await api.post(`${base}/rules`, { effect: 'allow', reason: 'x', ...stick, ...body })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json().rule.id
}
const rules = async (query = ''): Promise<Map<string, PolicyRuleResource>> =>
  new Map((await pageOf<PolicyRuleResource>(t, `policy/rules${query}`)).data.map((rule) => [rule.id, rule]))
const ids = async (query: string): Promise<string[]> => [...(await rules(query)).keys()].sort()

describe('a shadowed rule', () => {
  it('is covered by an equally strong rule on all its hosts, and one of two equal rules is not shadowed', async () => {
    const agent = await enrolAgent(t, { devices: [] })
    const end = new Date(t.clock.now() + dayMs).toISOString()
    const wide = await add()
    const [equal, own, serial] = [await add(), await add({ host: agent.agentId }), await add({ serial: 'A1' })]
    const [override, deny] = [await add({ overrideAttackTool: true }), await add({ effect: 'deny', serial: 'B2' })]
    const denied = await add({ serial: 'B2', host: agent.agentId })
    const brief = await add({ effect: 'deny', expiresAt: end, serial: 'B2' })
    expect(await t.server.policy.findShadowed()).toBe(6)
    // The override covers every other allow rule.
    expect(await ids('?isShadowed=true')).toEqual([wide, equal, own, serial, denied, brief].sort())
    expect((await rules()).get(brief)).toMatchObject({ shadowedBy: deny })
    expect((await rules()).get(own)?.shadowedBy).toBe(wide)

    expect((await api.delete(`${base}/rules/${override}`)).statusCode).toBe(200)
    await t.server.policy.findShadowed()
    expect(await ids('?isShadowed=true')).toEqual([equal, own, serial, denied, brief].sort())
    expect((await api.delete(`${base}/rules/${wide}`)).statusCode).toBe(200)
    await t.server.policy.findShadowed()
    expect(await ids('?isShadowed=true')).toEqual([own, serial, denied, brief].sort())
  })

  it('is not covered by a rule that ends earlier or is for another host', async () => {
    const [one, other] = [await enrolAgent(t, { devices: [] }), await enrolAgent(t, { devices: [] })]
    await add({ host: one.agentId })
    const own = await add({ host: other.agentId })
    await add({ host: other.agentId, expiresAt: new Date(t.clock.now() + dayMs).toISOString(), effect: 'deny' })
    await t.server.policy.findShadowed()
    expect(await ids('?isShadowed=true')).toEqual([])
    expect((await rules()).get(own)?.shadowedBy).toBeNull()
  })
})

describe('the hits of a rule', () => {
  it('are its attachments in 30 days, and only old rules without attached devices are unused', async () => {
    const agent = await enrolAgent(t, { devices: [storageStick({ portPath: '1-1' })] })
    const used = await add({ group: 'Sticks' })
    const idle = await add({ pid: '9999', group: 'Sticks' })
    await agent.unplug('1-1')
    await agent.plug(storageStick({ portPath: '1-1' }))
    await t.server.policy.countUse()
    const hits = (await rules()).get(used)?.hits ?? 0
    expect(hits).toBeGreaterThan(0)
    expect((await rules()).get(idle)).toMatchObject({ hits: 0, isUnused: false })

    t.clock.advance(31 * dayMs)
    api = t.as(await t.signIn())
    await t.server.policy.countUse()
    // The device is still attached, so its rule is in use.
    expect((await rules()).get(used)).toMatchObject({ hits: 0, isUnused: false })
    expect(await ids('?isUnused=true')).toEqual([idle])
    const [group] = (await api.get(`${base}/groups`)).json<{ data: RuleGroup[] }>().data
    expect(group).toMatchObject({ name: 'Sticks', rules: 2, hits: 0, unused: 1, shadowed: 0 })

    await agent.session()
    await agent.unplug('1-1')
    await t.server.policy.countUse()
    expect(await ids('?isUnused=true')).toEqual([used, idle].sort())
    await agent.plug(storageStick({ portPath: '1-1' }))
    await t.server.policy.countUse()
    await t.server.policy.countUse()
    expect((await rules()).get(used)).toMatchObject({ hits: 1, isUnused: false })
    expect(await ids('?isUnused=true')).toEqual([idle])
  })
})

// Last, because the enrolment token of the file expires.
describe('a shadowed rule that ended', () => {
  it('is no longer one', async () => {
    const end = new Date(t.clock.now() + dayMs).toISOString()
    await add({ effect: 'deny' })
    const brief = await add({ effect: 'deny', serial: 'B2', expiresAt: end })
    await t.server.policy.findShadowed()
    expect(await ids('?isShadowed=true')).toEqual([brief])
    t.clock.advance(2 * dayMs)
    api = t.as(await t.signIn())
    await t.server.policy.endOver()
    await t.server.policy.findShadowed()
    expect(await ids('?isShadowed=true')).toEqual([])
  })
})
