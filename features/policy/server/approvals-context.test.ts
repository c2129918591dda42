import { rubberDucky, storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { policyApprovals, ResponseOf } from '#features/contract.ts'

type Waiting = ResponseOf<typeof policyApprovals>['data'][number]

const base = '/prime/webui'
const armed = { enforcement: { mode: 'Armed' as const, policyVersion: 1, reason: '' } }
let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

/** Enrols an armed host whose device waits for an approval. */
const waitingHost = async (device: ReturnType<typeof storageStick>) => {
  const agent = await enrolAgent(t)
  await agent.checkIn(armed)
  const enforced = { effect: 'block' as const, source: 'default' as const, ruleId: null, policyVersion: 7 }
  await agent.plug({ ...device, authorized: false, enforced })
  return agent
}
const modelOf = async (vid: string): Promise<Waiting | undefined> =>
  (await pageOf<Waiting>(t, 'policy/approvals?PageSize=1000')).data.find((model) => model.vid === vid)
const tag = async (name: string, ids: readonly string[]) =>
  (await t.admin()).post(`${base}/generalconfig/addhashtags`, {
    entityType: 'Agent',
    hashtags: [name],
    elementIds: ids,
  })
const stick = () => storageStick({ portPath: '1-1' })

describe('a device that waits for an approval', () => {
  it('is shown with the owner and the risk of its host, and the hosts that allow its model', async () => {
    const [one, two] = [await waitingHost(stick()), await waitingHost(stick())]
    await (await t.admin()).put(`${base}/agents/agent/${one.agentId}/owner`, { owner: 'Front desk' })
    const before = await modelOf('0781')
    expect(before).toMatchObject({ allowedHosts: 0, agentsCount: 2, suggestion: { scope: 'host', tag: '' } })
    const risk = (await one.detail()).riskScore
    expect(before?.devices.find(({ uuid }) => uuid === one.agentId)).toMatchObject({ owner: 'Front desk', risk })
    expect(before?.devices.find(({ uuid }) => uuid === two.agentId)?.owner).toBe('')
    const device = { uuid: two.agentId, vid: '0781', pid: before?.pid }
    await (await t.admin()).post(`${base}/policy/decisions`, { decision: 'allow', devices: [device], reason: 'desk' })
    expect(await modelOf('0781')).toMatchObject({ allowedHosts: 1, agentsCount: 1 })
  })

  it('is measured against all hosts that allow its model, even if a thousand devices wait', async () => {
    const key = storageStick({ vid: '0951', pid: '1666', portPath: '1-1' })
    const hosts = [await waitingHost(key), await waitingHost(key), await waitingHost(key)] as const
    const [many, other, waiting] = hosts.map(({ agentId }) => agentId).sort()
    const pid = '1666'
    const devices = [many, other].map((uuid) => ({ uuid, vid: '0951', pid }))
    await (await t.admin()).post(`${base}/policy/decisions`, { decision: 'allow', devices, reason: 'desk' })
    const copy = (agentId: string | undefined, count: number) =>
      t.db.execute(sql`
        insert into peripherals (agent_id, device_id, design_id, port_path, serial, serial_folded, first_seen, last_seen, speed, severity, present,
          authorized, source, rule_id, unapproved, case_number, driver_mismatch, kernel, controller)
        select p.agent_id, p.device_id || n, p.design_id, p.port_path, p.serial, p.serial_folded, p.first_seen, p.last_seen, p.speed, p.severity,
          p.present, p.authorized, p.source, p.rule_id, p.unapproved, p.case_number, p.driver_mismatch, p.kernel, p.controller
        from peripherals p join designs d on d.design_id = p.design_id join models m on m.model_id = d.model_id, generate_series(1, ${count}::int) n
        where p.agent_id = ${agentId}::uuid and m.vid = '0951'`)
    await copy(many, 1_000)
    expect((await modelOf('0951'))?.allowedHosts).toBeLessThanOrEqual(2)
    await copy(waiting, 600)
    expect(await modelOf('0951')).toMatchObject({ allowedHosts: 2, agentsCount: 1, peripheralsCount: 601 })
  })

  it('suggests a tag that all its hosts have, unless many other hosts have it', async () => {
    const hosts = [await waitingHost(stick()), await waitingHost(stick())]
    const all = (await modelOf('0781'))?.devices.map(({ uuid }) => uuid) ?? []
    expect(all).toHaveLength(3)
    await tag('everybody', all)
    await tag('everybody', await Promise.all([1, 2, 3, 4].map(async () => (await enrolAgent(t)).agentId)))
    expect((await modelOf('0781'))?.suggestion).toEqual({ scope: 'host', tag: '' })
    await tag(
      'some',
      hosts.map(({ agentId }) => agentId),
    )
    expect((await modelOf('0781'))?.suggestion).toEqual({ scope: 'host', tag: '' })
    await tag('lab', all)
    expect((await modelOf('0781'))?.suggestion).toEqual({ scope: 'tag', tag: 'lab' })
  })

  it('suggests nothing for an attack tool', async () => {
    await waitingHost(rubberDucky({ portPath: '1-1' }))
    expect(await modelOf('03EB')).toMatchObject({ suggestion: null })
  })
})
