import { rubberDucky, storageStick, unifyingReceiver1207 } from '@portcullis/domain/testing'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { RiskNotification } from '#features/contract.ts'

const base = '/prime/webui'
let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

/** Lets all watchers see the state twice, as far apart as a finding must last, and returns the alerts. */
const alerts = async (): Promise<RiskNotification[]> => {
  await t.alerts.watch.violations()
  t.clock.advance(91_000)
  await t.alerts.watch.violations()
  await t.alerts.run()
  return (await (await t.admin()).get(`${base}/systemNotification/riskNotifications`)).json()
}
const armed = { enforcement: { mode: 'Armed' as const, policyVersion: 7, reason: '' } }
const stick = () => storageStick({ portPath: '1-1', serial: 'S1' })
const blocked = {
  authorized: false,
  enforced: { effect: 'block' as const, source: 'default' as const, ruleId: null, policyVersion: 7 },
}

describe('a host in monitoring mode', () => {
  it('raises no alert about its policy, but about attack tools and vulnerable devices', async () => {
    const admin = await t.admin()
    // A rule for another device makes an allowlist apply to every host.
    const rule = await admin.post(`${base}/policy/rules`, { effect: 'allow', vid: '1D6B', pid: '0104', reason: 'test' })
    expect(rule.statusCode, rule.body).toBe(200)
    const agent = await enrolAgent(t, { facts: { hostname: 'kiosk-1' } })
    await agent.plug(stick())
    expect((await agent.peripherals()).map((one) => one.isUnapprovedPeripherals)).toEqual([true])
    expect(await alerts()).toEqual([])
    // Another program on the host switched the device off: that is no decision of the policy.
    await agent.change({ ...stick(), authorized: false })
    expect(await alerts()).toEqual([])
    await agent.change(stick())

    await agent.plug(rubberDucky({ portPath: '1-2' }))
    await agent.plug(unifyingReceiver1207({ portPath: '1-3' }))
    expect((await alerts()).map(({ kind }) => kind)).toEqual(['attackTool', 'vulnerable'])
    await agent.unplug('1-2')
    await agent.unplug('1-3')

    // Armed, it still lets the attached device work: the host has a device that is not on the allowlist.
    await agent.checkIn(armed)
    const usable = (await alerts()).filter(({ kind }) => kind === 'whitelistViolation')
    expect(usable).toMatchObject([
      { title: expect.stringMatching(/\(not on the allowlist\) on kiosk-1$/), hosts: [{ uuid: agent.agentId }] },
    ])
    await agent.unplug('1-1')
    await agent.plug({ ...stick(), ...blocked })
    const block = (await alerts()).filter(({ kind }) => kind === 'blocked')
    expect(block).toMatchObject([
      { title: expect.stringMatching(/\(blocked by policy\) on kiosk-1$/), severityString: 'Warning', hostsCount: 1 },
    ])
    const story = (await admin.get(`${base}/systemNotification/notices/${block[0]?.id}`)).json()
    expect(story.hosts).toMatchObject([{ hostIdentifier: 'kiosk-1', devices: [{ waits: true }] }])
  })

  it('does not report a device that the host blocks right after it is armed', async () => {
    const agent = await enrolAgent(t, { facts: { hostname: 'kiosk-2' } })
    const other = () => storageStick({ portPath: '1-1', serial: 'S2', product: 'Other stick' })
    await agent.plug(other())
    await agent.checkIn(armed)
    await t.alerts.watch.violations()
    t.clock.advance(30_000)
    await agent.change({ ...other(), ...blocked })
    const kinds = (await alerts()).filter(({ hosts }) => hosts.some(({ uuid }) => uuid === agent.agentId))
    expect(kinds.map(({ kind }) => kind)).toEqual(['blocked'])
  })
})
