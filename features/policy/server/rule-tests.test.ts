import { storageStick } from '@portcullis/domain/testing'
import type { Problem } from '@portcullis/platform/contract/problem.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { PolicyRuleResource, RuleTest } from '#features/contract.ts'

const base = '/prime/webui'
const tests = `${base}/policy/tests`
let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const api = () => t.admin()
const listed = async (): Promise<RuleTest[]> => (await (await api()).get(tests)).json().data
const version = async (): Promise<number> => (await (await api()).get(`${base}/policy`)).json().version
const sample = {
  ...{ name: 'Sticks of sales', expected: 'allow', vid: '0781', pid: '5581', serial: '', kinds: ['Mass Storage'] },
  ...{ fingerprint: null, isAttackTool: false, host: null, tag: null },
}
const add = async (more: object = {}): Promise<RuleTest> => {
  const answer = await (await api()).post(tests, { ...sample, ...more })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}
const rule = async (more: object): Promise<PolicyRuleResource> => {
  const answer = await (await api()).post(`${base}/policy/rules`, { reason: 'needed', ...more })
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json().rule
}
const allow = (more: object = {}) => rule({ effect: 'allow', vid: '0781', pid: '5581', ...more })
const refused = async (answer: { statusCode: number; body: string; json(): unknown }): Promise<Problem> => {
  expect(answer.statusCode, answer.body).toBe(409)
  const problem = answer.json() as Problem
  expect(problem.code).toBe('policy_tests_failed')
  return problem
}

beforeEach(async () => {
  for (const { id } of await listed()) await (await api()).delete(`${tests}/${id}`)
  await (await api()).post(`${base}/policy/restore`, { version: 0 })
})

describe('a rule test', () => {
  it('refuses a rule that breaks it, and names itself and both decisions', async () => {
    await allow()
    expect(await add()).toMatchObject({ decision: 'allow', passes: true, why: 'Allowed on all hosts: needed' })
    const before = await version()
    const problem = await refused(
      await (await api()).post(`${base}/policy/rules`, {
        effect: 'deny',
        kinds: ['Mass Storage'],
        reason: 'incident 9',
      }),
    )
    expect(problem.detail).toBe('Nothing was changed, because the change makes 1 test (Sticks of sales) fail.')
    expect(problem.errors).toEqual([
      { field: 'Sticks of sales', message: 'expected allow, new decision block: Denied by a rule: incident 9' },
    ])
    expect(await version()).toBe(before)
    const draft = { add: [{ effect: 'deny', kinds: ['Mass Storage'], reason: 'x' }] }
    expect((await (await api()).post(`${base}/policy/preview`, draft)).json().brokenTests).toMatchObject([
      { name: 'Sticks of sales', expected: 'allow', decision: 'block', why: 'Denied by a rule: x' },
    ])
    // A deny of other devices breaks nothing.
    await rule({ effect: 'deny', kinds: ['Printer'], reason: '' })
  })

  it('that already fails refuses no change, and passes once a rule matches', async () => {
    expect(await add()).toMatchObject({ decision: 'block', passes: false, rule: null, why: 'No rule allows it' })
    await rule({ effect: 'deny', vid: '0781', pid: '5582', reason: '' })
    await allow()
    expect(await listed()).toMatchObject([{ passes: true, rule: { sentence: expect.stringContaining('0781:5581') } }])
  })

  it('runs before a change, a deletion, an import, an undo and a restore', async () => {
    const kept = await allow()
    await add()
    const admin = await api()
    const deny = { effect: 'deny', vid: '0781', pid: '5581', reason: '' }
    const edited = { effect: 'allow', vid: '0781', pid: '5581', serial: 'OTHER', reason: 'x' }
    await refused(await admin.put(`${base}/policy/rules/${kept.id}`, edited))
    await refused(await admin.delete(`${base}/policy/rules/${kept.id}`))
    await refused(await admin.post(`${base}/policy/history/${await version()}/undo`, {}))
    for (const dryRun of [true, false])
      await refused(await admin.post(`${base}/policy/restore`, { version: 0, dryRun }))
    const [test] = await listed()
    await admin.put(`${tests}/${test?.id}`, { ...sample, serial: 'S1' })
    const list = { text: 'S0\nS1', ...deny }
    expect((await refused(await admin.post(`${base}/policy/rules/import`, list))).errors).toHaveLength(1)
    expect((await admin.post(`${base}/policy/rules/import`, { ...list, text: 'S0' })).statusCode).toBe(200)
  })

  it('of a host uses the rules and tags of that host, and is deleted with it', async () => {
    const agent = await enrolAgent(t, { devices: [storageStick({ serial: 'A1' })] })
    const other = await enrolAgent(t, { devices: [storageStick({ serial: 'A2' })] })
    const [device] = await agent.peripherals()
    const { vid, pid, fingerprint } = device as NonNullable<typeof device>
    const admin = await api()
    const decide = (uuid: string, decision: 'allow' | 'deny') =>
      admin.post(`${base}/policy/decisions`, { decision, devices: [{ uuid, vid, pid }], reason: 'stock' })
    expect((await decide(agent.agentId, 'allow')).statusCode).toBe(200)
    const deviceId = encodeURIComponent(device?.deviceID ?? '')
    const sampled = await admin.get(`${tests}/sample?uuid=${agent.agentId}&deviceID=${deviceId}`)
    expect(sampled.json()).toMatchObject({ vid, pid, serial: 'A1', fingerprint, kinds: ['Mass Storage'] })
    expect((await admin.get(`${tests}/sample?uuid=${other.agentId}&deviceID=x`)).statusCode).toBe(404)
    expect(await add(sampled.json())).toMatchObject({ passes: true, host: agent.agentId })
    // Decisions about another host do not concern it.
    expect((await decide(other.agentId, 'deny')).statusCode).toBe(200)
    await refused(await decide(agent.agentId, 'deny'))
    await admin.post(`${base}/agents/deleteAgents`, [agent.agentId])
    expect(await listed()).toEqual([])
  })

  it('of a host stays with the computer when two records of it become one', async () => {
    const hardware = { smbiosHash: '7'.repeat(64) }
    const old = await enrolAgent(t, { ...hardware, machineIdHash: 'a'.repeat(64) })
    const fresh = await enrolAgent(t, { ...hardware, machineIdHash: 'b'.repeat(64) })
    const { id } = await add({ expected: 'block', host: old.agentId })
    const decided = await (await api()).post(`${base}/agents/agent/${fresh.agentId}/possibleduplicates`, {
      ...{ uuid: old.agentId, isSameMachine: true },
    })
    expect(decided.json()).toEqual({ removed: true })
    expect(await listed()).toMatchObject([{ id, host: fresh.agentId, passes: true }])
  })

  it('of a tag uses the rules for this tag, without those of other tags', async () => {
    const admin = await api()
    await admin.post(`${base}/generalconfig/addhashtags`, { hashtags: ['till', 'desk'], entityType: 'Agent' })
    await allow({ tag: 'till' })
    expect(await add({ tag: 'TILL' })).toMatchObject({ tag: 'till', passes: true, why: 'Allowed by tag: needed' })
    expect(await add({ name: 'desk', tag: 'desk', expected: 'block' })).toMatchObject({ passes: true })
    expect(await add({ name: 'all', expected: 'block' })).toMatchObject({ passes: true })
    const everywhere = { effect: 'allow', kinds: ['Mass Storage'], reason: 'x' }
    expect((await refused(await admin.post(`${base}/policy/rules`, everywhere))).errors.map((e) => e.field)).toEqual([
      'all',
      'desk',
    ])
  })

  it('is refused with the name of the field, and is audited when it is added, changed and deleted', async () => {
    const admin = await api()
    const { id, changedAt } = await add()
    const field = async (more: object) => {
      const answer = await admin.post(tests, { ...sample, name: 'Other', ...more })
      return [answer.statusCode, (answer.json() as Problem).errors[0]?.field]
    }
    expect(await field({ tag: 'missing' })).toEqual([400, 'body.tag'])
    expect(await field({ host: 'missing' })).toEqual([400, 'body.host'])
    expect(await field({ kinds: [] })).toEqual([400, 'body.kinds'])
    expect(await field({ name: ' ' })).toEqual([400, 'body.name'])
    expect(await field({ name: 'STICKS of sales' })).toEqual([409, undefined])
    const put = (more: object) => admin.put(`${tests}/${id}`, { ...sample, expected: 'block', ...more })
    t.clock.advance(1_000)
    expect((await put({ ifChangedAt: changedAt })).json()).toMatchObject({ id, passes: true })
    expect((await put({ ifChangedAt: changedAt })).json().code).toBe('conflict')
    expect((await admin.delete(`${tests}/${id}`)).json()).toEqual({ deleted: id })
    expect((await admin.delete(`${tests}/${id}`)).statusCode).toBe(404)
    const { data } = (await admin.get(`${base}/admin/audit/records?PageSize=3`)).json()
    expect(data.map((r: { action: string }) => r.action)).toEqual([
      'policy.test.deleted',
      'policy.test.changed',
      'policy.test.created',
    ])
    const { facts } = (await admin.get(`${base}/admin/audit/records/${data[1].auditTrailID}`)).json()
    expect(facts).toEqual([{ name: 'Expected', before: 'allow', after: 'block' }])
  })
})
