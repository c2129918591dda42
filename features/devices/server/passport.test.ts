import { gzipSync } from 'node:zlib'
import { plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { requestDebugLog, uploadDebugLog } from '@portcullis/server/test/debug-logs.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { getDevicePassport, ResponseOf } from '#features/contract.ts'

type Passport = ResponseOf<typeof getDevicePassport>

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const minute = 60_000
const iso = (at: number): string => new Date(at).toISOString()
const read = async (agent: TestAgent, deviceID: string): Promise<Passport> => {
  const answer = await (await t.admin()).get(
    `/prime/webui/peripherals/${agent.agentId}/passport?deviceID=${encodeURIComponent(deviceID)}`,
  )
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}
const sendLog = async (agent: TestAgent): Promise<void> => {
  const id = await requestDebugLog(t, agent)
  expect((await uploadDebugLog(t, agent, id, gzipSync('a line'))).status).toBe(200)
  await agent.checkIn({ acks: [{ commandId: id, outcome: 'confirmed', message: '' }] })
}
const idOf = (serial: string): string => `USB\\VID_0781&PID_5581\\${serial}`
const later = (): number => {
  t.clock.advance(5 * minute)
  return t.clock.now()
}
const hostsOf = (agents: readonly TestAgent[]) => agents.map(({ facts }) => facts.hostname)

describe('the passport of a device', () => {
  it('names every host it was on and when', async () => {
    const stick = storageStick({ portPath: '1-2', serial: '4C530001230615112400' })
    const first = await enrolAgent(t)
    const second = await enrolAgent(t)
    const plugged = later()
    await first.plug(stick)
    const unplugged = later()
    await first.unplug('1-2')
    const moved = later()
    await second.plug({ ...stick, portPath: '1-4' })
    const passport = await read(first, idOf('4C530001230615112400'))
    expect(passport).toMatchObject({ isOneDevice: true, warnings: [], isComplete: true })
    expect(passport.hosts).toMatchObject([
      { hostIdentifier: second.facts.hostname, present: true, hierarchy: '1-4', firstSeen: iso(moved) },
      { hostIdentifier: first.facts.hostname, present: false, hierarchy: '1-2', lastSeen: iso(unplugged) },
    ])
    expect(passport.stays).toEqual([
      expect.objectContaining({ uuid: second.agentId, from: iso(moved), to: null, isApproximate: false }),
      expect.objectContaining({ uuid: first.agentId, from: iso(plugged), to: iso(unplugged), isApproximate: false }),
    ])
    expect(await read(second, idOf('4C530001230615112400'))).toEqual(passport)
  })

  it('has the descriptors of each fingerprint, and the logs that its hosts sent since', async () => {
    const serial = '4C530001230615112409'
    const stick = storageStick({ portPath: '1-2', serial })
    const other = storageStick({ portPath: '1-2', serial, interfaces: ['08:06:50', '03:01:01'] })
    const [first, second] = [await enrolAgent(t), await enrolAgent(t)]
    await sendLog(first)
    later()
    await first.plug(stick)
    later()
    await second.plug(other)
    await sendLog(first)
    const { descriptors, logs, hosts } = await read(first, idOf(serial))
    expect(logs).toEqual([
      expect.objectContaining({
        uuid: first.agentId,
        hostIdentifier: first.facts.hostname,
        collectedAt: iso(t.clock.now()),
      }),
    ])
    expect(descriptors.map((one) => [one.uuid, one.fingerprint])).toEqual(
      hosts.map((one) => [one.uuid, one.fingerprint]),
    )
    expect(descriptors.map(({ bytes }) => bytes)).toEqual([other.descriptors, stick.descriptors])
  })

  it('keeps each decision with the rule and the versions of that time', async () => {
    const stick = storageStick({ portPath: '1-2', serial: '4C530001230615112401' })
    const agent = await enrolAgent(t, { devices: [plainKeyboard()] })
    await agent.plug(stick)
    const admin = await t.admin()
    const rule = { effect: 'allow', vid: '0781', pid: '5581', serial: '4C530001230615112401', reason: 'stick of Ada' }
    const at = later()
    expect((await admin.post('/prime/webui/policy/rules', rule)).statusCode).toBe(200)
    await t.policy.drain()
    const passport = await read(agent, idOf('4C530001230615112401'))
    expect(passport.decisions).toMatchObject([
      {
        at: iso(at),
        decision: 'allow',
        reason: 'Allowed on all hosts: stick of Ada',
        ruleID: expect.any(String),
        ruleExists: true,
        hostIdentifier: agent.facts.hostname,
      },
      { decision: 'block', reason: 'No rule allows it', ruleID: null },
    ])
    const [now, before] = passport.decisions
    expect(now?.policyVersion).toBe((before?.policyVersion ?? 0) + 1)
    expect(now?.knowledgeVersion).not.toBe('')
    // An attachment with the same decision adds none.
    await agent.unplug('1-2')
    await agent.plug(stick)
    expect((await read(agent, idOf('4C530001230615112401'))).decisions).toHaveLength(2)
    later()
    await admin.delete(`/prime/webui/policy/rules/${now?.ruleID}`)
    await t.policy.drain()
    const [, removed] = (await read(agent, idOf('4C530001230615112401'))).decisions
    expect(removed).toMatchObject({ ruleID: now?.ruleID, ruleExists: false, reason: 'Allowed on all hosts' })
  })

  it('keeps replaced decisions for the retention period, 0 days: all of them', async () => {
    const serial = '4C530001230615112405'
    const agent = await enrolAgent(t)
    await agent.plug(storageStick({ portPath: '1-2', serial }))
    const count = async () =>
      (await t.db.query(sql`select 1 from device_decisions c where c.device_id = ${idOf(serial)}::text`)).length
    await t.db.execute(sql`
      insert into device_decisions select c.agent_id, c.device_id, c.decided_at - interval '40 days', c.design_id, c.source, c.rule_id,
        c.policy_version, c.knowledge_version from device_decisions c, generate_series(1, 20001) where c.device_id = ${idOf(serial)}::text`)
    await t.server.peripherals.forgetDecisions(0)
    expect(await count()).toBe(20_002)
    await t.server.peripherals.forgetDecisions(90)
    expect(await count()).toBe(20_002)
    expect(await t.server.peripherals.forgetDecisions(30)).toBe(20_001)
    expect(await count()).toBe(1)
  })

  it('warns of one serial number with two fingerprints and in two places', async () => {
    const serial = '4C530001230615112402'
    const stick = storageStick({ portPath: '1-2', serial })
    const hosts = [await enrolAgent(t), await enrolAgent(t)] as const
    later()
    await hosts[0].plug(stick)
    later()
    await hosts[1].plug(storageStick({ portPath: '1-2', serial, interfaces: ['08:06:50', '03:01:01'] }))
    later()
    const { warnings } = await read(hosts[0], idOf(serial))
    expect(warnings.map(({ kind }) => kind)).toEqual(['fingerprints', 'hosts'])
    expect(warnings[1]?.text).toBe(`${hostsOf(hosts).join(' and ')} had the device at the same time.`)
  })

  it('covers one host if the serial number is missing or a placeholder', async () => {
    const hosts = [await enrolAgent(t), await enrolAgent(t)] as const
    for (const host of hosts) await host.plug(storageStick({ portPath: '1-2', serial: '000000' }))
    expect(await read(hosts[0], idOf('000000'))).toMatchObject({
      isOneDevice: false,
      hosts: [{ hostIdentifier: hosts[0].facts.hostname }],
      warnings: [{ kind: 'placeholder' }],
    })
    await hosts[0].plug(plainKeyboard({ portPath: '1-3' }))
    const keyboard = (await hosts[0].peripherals()).find(({ serialNumber }) => serialNumber === '')
    expect(await read(hosts[0], keyboard?.deviceID ?? '')).toMatchObject({ isOneDevice: false, warnings: [] })
  })

  it('begins with the row of a device that the first inventory contained', async () => {
    const agent = await enrolAgent(t, { devices: [storageStick({ portPath: '1-2', serial: '4C530001230615112403' })] })
    const from = t.clock.now()
    const to = later()
    await agent.unplug('1-2')
    expect((await read(agent, idOf('4C530001230615112403'))).stays).toMatchObject([
      { from: iso(from), to: iso(to), isApproximate: true },
    ])
  })

  it('is not hidden by thousands of other devices with its serial number', async () => {
    const serial = '4C530001230615112404'
    const rogue = await enrolAgent(t)
    later()
    const victim = await enrolAgent(t)
    await victim.plug(storageStick({ portPath: '1-2', serial }))
    await rogue.plug(plainKeyboard({ portPath: '1-2', serial }))
    await t.db.execute(sql`
      insert into peripherals select (jsonb_populate_record(p, jsonb_build_object('device_id', p.device_id || n))).*
      from peripherals p, generate_series(1, 5000) n where p.agent_id = ${rogue.agentId}::uuid`)
    expect((await read(victim, idOf(serial))).hosts).toMatchObject([{ hostIdentifier: victim.facts.hostname }])
  })

  it('is refused for an unknown host or device', async () => {
    const agent = await enrolAgent(t)
    const admin = await t.admin()
    for (const path of [`${agent.agentId}/passport?deviceID=x`, 'nobody/passport?deviceID=x'])
      expect((await admin.get(`/prime/webui/peripherals/${path}`)).statusCode).toBe(404)
    expect((await admin.get(`/prime/webui/peripherals/${agent.agentId}/passport`)).statusCode).toBe(400)
  })
})
