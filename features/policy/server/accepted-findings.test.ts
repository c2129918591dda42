import { flipperBadUsb, rubberDucky } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest } from '@portcullis/server/test/approvals.ts'
import { agentPost, enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { AcceptedFinding, ChangeRequest, DeviceReport, PolicyPayload, SignedText } from '#features/contract.ts'

const base = '/prime/webui'
const findings = `${base}/policy/acceptedFindings`
const armed = { enforcement: { mode: 'Armed' as const, policyVersion: 1, reason: '' } }
let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())
// A new session is fresh.
beforeEach(() => t.clock.advance(16 * 60_000))

const admin = async () => t.as(await t.signIn())
const tool = (portPath = '1-5', more: object = {}) => rubberDucky({ portPath, ...more })
const armedHost = async (...devices: DeviceReport[]) => {
  const agent = await enrolAgent(t, { devices })
  await agent.checkIn(armed)
  return agent
}
const only = async (agent: TestAgent) => {
  const [device] = await agent.peripherals()
  if (device === undefined) throw new Error('the host has no device')
  return device
}
const accept = async (agent: TestAgent, more: object = {}, api?: Awaited<ReturnType<typeof admin>>) =>
  (api ?? (await admin())).post(findings, {
    uuid: agent.agentId,
    deviceID: (await only(agent)).deviceID,
    reason: 'our own macro pad',
    ...more,
  })
const allow = async (agent: TestAgent): Promise<void> => {
  const { vid, pid } = await only(agent)
  const rule = { effect: 'allow', vid, pid, host: agent.agentId, reason: 'needed' }
  expect((await (await admin()).post(`${base}/policy/rules`, rule)).statusCode).toBe(200)
}
const revokeAll = async (): Promise<void> => {
  const api = await admin()
  for (const { id } of (await api.get(findings)).json().data as AcceptedFinding[])
    expect((await api.delete(`${findings}/${id}?reason=over`)).statusCode).toBe(200)
}
const policyOf = async (agent: TestAgent, understands?: string[]): Promise<PolicyPayload> => {
  const request = { nonce: 'n'.repeat(24), ...(understands === undefined ? {} : { understands }) }
  const answer = await agentPost(t, '/agent/v1/policy', request, agent.state.session)
  return JSON.parse((JSON.parse(answer.text) as SignedText).payload)
}
const openAlerts = async (model: string) =>
  (await (await admin()).get(`${base}/systemNotification/riskNotifications?kind=attackTool&entityId=${model}`)).json()

describe('an accepted finding', () => {
  it('lifts the block as an attack tool on every host, and revoking it brings the block back', async () => {
    const [first, second] = [await armedHost(tool()), await armedHost(tool('1-2'))]
    await allow(first)
    expect(await only(first)).toMatchObject({ decision: 'block', rule: 'attack-tool', attackTool: 'suspected' })
    await t.server.alerts.run()
    const { vid, pid } = await only(first)
    expect(await openAlerts(`${vid}:${pid}`)).toHaveLength(1)

    const preview = await accept(first, { dryRun: true, reason: '' })
    expect(preview.json()).toMatchObject({ acceptance: null, hosts: 2, version: null })
    expect(await only(first)).toMatchObject({ decision: 'block' })

    const made = await accept(first)
    expect(made.statusCode, made.body).toBe(200)
    expect(made.json()).toMatchObject({
      hosts: 2,
      acceptance: { acceptedBy: 'admin', reason: 'our own macro pad', hosts: 2 },
    })
    // Rules decide: one host has an allow, the other has none.
    expect(await only(first)).toMatchObject({
      decision: 'allow',
      rule: expect.not.stringContaining('attack-tool'),
      ...{ attackTool: '', isKnownAttackTool: false, severity: 10 },
      acceptance: { acceptedBy: 'admin', reason: 'our own macro pad' },
    })
    expect(await only(second)).toMatchObject({ decision: 'block', rule: 'default' })
    expect(await first.detail()).toMatchObject({ hasKnownAttackTools: false, riskScore: 0 })
    expect((await only(first)).evidence[0]).toBe('Accepted by admin: our own macro pad')

    // Armed hosts get the fingerprint, but agents that do not know the member get no policy with it.
    expect(await second.checkIn()).toMatchObject({ needPolicy: true })
    expect((await policyOf(second, ['options', 'accepted'])).accepted).toEqual([made.json().acceptance.fingerprint])
    expect(await policyOf(second, ['options'])).not.toHaveProperty('accepted')

    // The alert is closed, and the trail has the reason.
    expect(await openAlerts(`${vid}:${pid}`)).toEqual([])
    const trail = (await (await admin()).get(`${base}/events/GetAuditsIntegration?PageSize=5`)).json()
    const entry = trail.data.find(({ action }: { action: string }) => action === 'finding.accepted')
    expect(entry.details).toContain('our own macro pad')

    // A host that reports the device later, at a port of another speed, has no finding either, and raises no alert.
    const third = await armedHost(tool('1-7', { speedMbps: 480, bcdUsb: 0x0210, maxPacketSize0: 64 }))
    expect(await only(third)).toMatchObject({ attackTool: '', rule: 'default' })
    await t.server.alerts.run()
    expect(await openAlerts(`${vid}:${pid}`)).toEqual([])

    await revokeAll()
    expect(await only(first)).toMatchObject({
      decision: 'block',
      rule: 'attack-tool',
      attackTool: 'suspected',
      acceptance: null,
    })
    expect((await policyOf(first, ['accepted'])).accepted).toBeUndefined()
    await t.server.alerts.run()
    expect(await openAlerts(`${vid}:${pid}`)).toHaveLength(1)
  })

  it('does not cover another fingerprint of the model or another finding', async () => {
    const host = await armedHost(tool())
    expect((await accept(host)).statusCode).toBe(200)
    const other = await armedHost(tool('1-5', { manufacturer: 'Somebody else' }))
    expect(await only(other)).toMatchObject({ attackTool: 'suspected', rule: 'attack-tool' })
    // Other knowledge finds something else.
    await t.db.execute(sql`update accepted_findings set finding = 'something else'`)
    await t.db.execute(sql`update designs set knowledge_version = 'an older one'`)
    const again = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock, listen: true })
    try {
      await expect
        .poll(() => only(host), { timeout: 10_000 })
        .toMatchObject({ attackTool: 'suspected', acceptance: null })
    } finally {
      await again.close()
    }
    await revokeAll()
  })

  it('counts only if this server wrote it', async () => {
    const host = await armedHost(tool())
    expect((await accept(host)).statusCode).toBe(200)
    await t.db.execute(sql`update accepted_findings set reason = 'changed in the database'`)
    expect((await policyOf(host, ['accepted'])).accepted).toBeUndefined()
    await revokeAll()
  })
})

describe('the acceptance', () => {
  it('of a confirmed finding is refused and names the way', async () => {
    const host = await armedHost(flipperBadUsb())
    expect(await only(host)).toMatchObject({ attackTool: 'confirmed' })
    const answer = await accept(host)
    expect(answer.statusCode).toBe(409)
    expect(answer.json()).toMatchObject({
      code: 'finding_confirmed',
      detail: expect.stringContaining('second approver'),
    })
  })

  it('needs a reason, a Manager, a device with a finding, and a session', async () => {
    const host = await armedHost(tool())
    expect((await accept(host, { reason: ' ' })).statusCode).toBe(400)
    expect((await accept(host, { deviceID: 'USB\\VID_0000&PID_0000\\1' })).statusCode).toBe(404)
    const user = await person(t, { profile: 30 })
    expect((await accept(host, {}, user.api)).statusCode).toBe(403)
    const manager = await person(t, { profile: 20 })
    expect((await accept(host, {}, manager.api)).statusCode).toBe(200)
    expect((await accept(host, {}, manager.api)).json()).toMatchObject({ code: 'conflict' })
    t.clock.advance(6 * 60_000)
    await revokeAll()
    expect((await accept(host, {}, manager.api)).json()).toMatchObject({ code: 'reauthentication_required' })
    expect((await manager.api.delete(`${findings}/00000000-0000-7000-8000-000000000000`)).statusCode).toBe(404)
  })

  it('on more hosts than the limit needs a second approver', async () => {
    const hosts = [
      await armedHost(tool('1-1', { product: 'Pad 9' })),
      await armedHost(tool('1-1', { product: 'Pad 9' })),
    ]
    const api = await admin()
    const { settings } = (await api.get(`${base}/policy`)).json()
    await api.put(`${base}/policy/settings`, { ...settings, twoPersonHosts: 1 })
    const second = await person(t, { profile: 10 })
    t.clock.advance(16 * 60_000)
    const [host] = hosts as [TestAgent]
    const answer = await accept(host)
    expect(answer.json()).toMatchObject({ code: 'second_person_required' })
    expect(await only(host)).toMatchObject({ attackTool: 'suspected' })
    const requests = (await (await admin()).get(`${base}/policy/changerequests`)).json().data as ChangeRequest[]
    expect(requests[0]).toMatchObject({
      state: 'Waiting',
      hosts: 2,
      title: expect.stringContaining('Accept the suspected finding'),
    })
    await t.db.execute(sql`delete from account_influences`)
    const approver = t.as(await t.signIn(second.userName, second.password))
    const approved = await approveRequest(approver, requests[0]?.id)
    expect(approved.statusCode, approved.body).toBe(200)
    for (const one of hosts) expect(await only(one)).toMatchObject({ attackTool: '', rule: 'default' })
    await revokeAll()
  })
})
